use kumite_record::Comparison;

use super::names::Names;
use super::{Shown, figures};
use crate::text::one_line;

/// The tables as Emacs' Org mode has them.
pub fn compare_orgmode(comparison: &Comparison, shown: Shown) -> String {
    let names = Names::of_all(comparison);
    let mut out = table(figures::subjects(comparison, &names, shown));
    if !comparison.pairs.is_empty() {
        out += &format!("\n{}", table(figures::ratios(comparison, &names)));
    }
    out
}

fn table((heads, rows): figures::Rows) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let cell = |text: &str| one_line(text).replace('|', "\\vert{}");
    let names = row(heads.iter().map(|(head, _)| cell(head)).collect());
    let rule = format!("|{}|\n", vec!["---"; heads.len()].join("+"));
    names
        + &rule
        + &rows.iter().map(|cells| row(cells.iter().map(|text| cell(text)).collect())).collect::<String>()
}
