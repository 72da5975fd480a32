//! The AsciiDoc format of a comparison.

use kumite_record::Comparison;

use super::Shown;
use super::figures::{Rows, tables};
use crate::words::text::one_line;

/// The tables of a comparison as AsciiDoc.
pub fn compare_asciidoc(comparison: &Comparison, shown: Shown) -> String {
    tables(comparison, shown, table)
}

fn table((heads, rows): Rows) -> String {
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
