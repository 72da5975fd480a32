use kumite_record::Comparison;

use super::{answer, cut_short, figures};
use crate::markdown::escaped;

/// The same in GitHub's Markdown.
pub fn compare_markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    if let Some(why) = cut_short(comparison.ended) {
        out += &format!("> ⚠ **Cut short:** {why}\n\n");
    }
    for pair in &comparison.pairs {
        out += &format!("**{}**\n\n", escaped(&answer::sentence(pair, comparison)));
    }
    out += &table(figures::subjects(comparison));
    out.push('\n');
    out += &table(figures::ratios(comparison));
    out.push('\n');
    for note in answer::notes(comparison) {
        out += &format!("- {}\n", escaped(&note));
    }
    for warning in &comparison.warnings {
        out += &format!("- ⚠ **{}**: {}\n", escaped(&warning.place), escaped(&warning.what));
    }
    out
}

fn table((heads, rows): figures::Rows) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let names = line(heads.iter().map(|(head, _)| escaped(head)).collect());
    let rules = heads.iter().map(|(_, figures)| if *figures { "---:" } else { ":---" }.to_owned());
    let rows = rows.iter().map(|row| line(row.iter().map(|cell| escaped(cell)).collect()));
    names + &line(rules.collect()) + &rows.collect::<String>()
}
