//! The Org mode format of a comparison.

use kumite_record::Comparison;

use super::Shown;
use super::figures::{Rows, tables};
use crate::words::text::one_line;

/// The tables of a comparison for Emacs' Org mode.
pub fn compare_orgmode(comparison: &Comparison, shown: Shown) -> String {
    tables(comparison, shown, table)
}

fn table((heads, rows): Rows) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let cell = |text: &str| one_line(text).replace('|', "\\vert{}");
    let names = row(heads.iter().map(|(head, _)| cell(head)).collect());
    let rule = format!("|{}|\n", vec!["---"; heads.len()].join("+"));
    names
        + &rule
        + &rows.iter().map(|cells| row(cells.iter().map(|text| cell(text)).collect())).collect::<String>()
}
