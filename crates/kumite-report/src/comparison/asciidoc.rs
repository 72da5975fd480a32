use kumite_record::Comparison;

use super::names::Names;
use super::{Shown, figures};
use crate::text::one_line;

/// The tables as AsciiDoc.
pub fn compare_asciidoc(comparison: &Comparison, shown: Shown) -> String {
    let names = Names::of_all(comparison);
    let mut out = table(figures::subjects(comparison, &names, shown));
    if !comparison.pairs.is_empty() {
        out += &format!("\n{}", table(figures::ratios(comparison, &names)));
    }
    out
}

fn table((heads, rows): figures::Rows) -> String {
    let columns: Vec<&str> = heads.iter().map(|(_, figures)| if *figures { ">" } else { "<" }).collect();
    let cell = |text: &str| format!("| {}\n", one_line(text).replace('|', "\\|"));
    let heads: String = heads.iter().map(|(head, _)| cell(head)).collect();
    let rows = rows.iter().map(|row| format!("\n{}", row.iter().map(|text| cell(text)).collect::<String>()));
    format!(
        "[cols=\"{}\",options=\"header\"]\n|===\n{heads}{}|===\n",
        columns.join(","),
        rows.collect::<String>()
    )
}
