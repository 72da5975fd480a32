//! The Markdown format of a comparison.

use kumite_record::Comparison;

use super::names::Names;
use super::{Shown, answer, answers, cut_short, doubts, figures, gate};
use crate::markdown::{escaped, table};
use crate::words::control::ControlText;

/// A comparison in GitHub's Markdown.
pub fn compare_markdown(comparison: &Comparison, shown: Shown) -> String {
    let (mut out, names) = (String::new(), Names::of_all(comparison));
    if let Some(why) = cut_short(comparison.ended) {
        out += &format!("> ⚠ **Cut short:** {why}\n\n");
    }
    if let Some(ControlText { is_off, said }) = ControlText::of_comparison(comparison) {
        let said = escaped(&said);
        out += &if is_off { format!("> ⚠ **{said}**\n\n") } else { format!("{said}\n\n") };
    }
    for answer in answers::answers(comparison, &names) {
        out += &format!("**{}**\n\n", escaped(&answer.text));
    }
    for doubt in doubts::doubts(comparison, &names) {
        out += &format!("> ⚠ {}\n\n", escaped(&doubt));
    }
    if let Some(sentence) = answer::alone_sentence(comparison, &names) {
        out += &format!("**{}**\n\n", escaped(&sentence));
    }
    if let Some(line) = gate::line(comparison, &names) {
        out += &format!("**{}**\n\n", escaped(&line));
    }
    for (letter, name) in &names.legend {
        out += &format!("- {letter}: {}\n", escaped(name));
    }
    if !names.legend.is_empty() {
        out.push('\n');
    }
    out += &format!("{}\n", figures::tables(comparison, shown, table));
    for note in answer::notes(comparison, &names) {
        out += &format!("- {}\n", escaped(&note));
    }
    for warning in &comparison.warnings {
        out += &format!("- ⚠ **{}**: {}\n", escaped(&warning.place), escaped(&warning.what));
    }
    out
}
