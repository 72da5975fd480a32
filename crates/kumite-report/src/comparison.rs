//! A comparison, as `kumite compare` shows it: the answer in a sentence, then the figures it rests on.

mod answer;
mod answers;
mod asciidoc;
mod baseline;
mod counts;
mod csv;
mod doubts;
mod estimate;
mod factor;
mod failures;
mod figures;
mod gate;
mod html;
mod level;
mod markdown;
mod metrics;
mod named_metrics;
mod names;
mod one_answer;
mod orgmode;
mod review;
mod uses;

use anstyle::AnsiColor;
use comfy_table::CellAlignment::{Left, Right};
use kumite_record::{Comparison, ComparisonEnd};

use crate::style::Style;
use crate::tables::grid::grid;
use crate::words::control::ControlText;
use crate::words::gate::painted;
use crate::words::text::one_line;
use names::Names;

pub use asciidoc::compare_asciidoc;
pub use csv::compare_csv;
pub use html::compare_html;
pub use markdown::compare_markdown;
pub use metrics::{MetricUnit, Units};
pub use named_metrics::{NamedMetrics, NamedMetricsError};
pub use orgmode::compare_orgmode;
pub use review::{compare_failure, compare_review};

/// The order and the units of the table of commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// True to sort commands by their median wall time, the shortest first; false to keep the order in which they
    /// were given.
    pub by_time: bool,
    /// The unit of all times; none to show each in the unit that suits its size.
    pub time_unit: Option<TimeUnit>,
    /// The units of single metrics. They take precedence over `time_unit`.
    pub units: Units,
}

/// The unit that times are shown in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeUnit {
    /// Millionths of a second.
    Microsecond,
    /// Thousandths of a second.
    Millisecond,
    /// Seconds.
    Second,
}

/// The text that `kumite compare` prints at its end: the answer, the tables and the notes.
pub fn compare_terminal(comparison: &Comparison, shown: Shown, style: &Style) -> String {
    let (style, names) = (*style, Names::of_all(comparison));
    let mut out = String::new();
    if let Some(why) = cut_short(comparison.ended) {
        let alarm = AnsiColor::Yellow.on_default().bold();
        out += &style.paint(alarm, &style.wrap(&format!("! cut short: {why}"), 0));
    }
    if let Some(ControlText { is_off, said }) = ControlText::of_comparison(comparison) {
        let alarm = AnsiColor::Yellow.on_default().bold();
        out += &match is_off {
            true => style.paint(alarm, &style.wrap(&format!("! {said}"), 0)),
            false => style.wrap(&said, 0),
        };
    }
    for answer in answers::answers(comparison, &names) {
        let color = if answer.is_decided { AnsiColor::Green } else { AnsiColor::Yellow };
        out += &style.paint(color.on_default().bold(), &style.wrap(&answer.text, 0));
    }
    for doubt in doubts::doubts(comparison, &names) {
        out += style.wrap(&format!("! {doubt}"), 2).trim_start();
    }
    if let Some(sentence) = answer::alone_sentence(comparison, &names) {
        out += &style.paint(AnsiColor::Green.on_default().bold(), &style.wrap(&sentence, 0));
    }
    for (letter, name) in &names.legend {
        out += style.wrap(&format!("{letter}: {name}"), 3).trim_start();
    }
    let table = |(heads, rows): figures::Rows| {
        let columns: Vec<_> = heads
            .iter()
            .map(|(head, figures)| (head.as_str(), if *figures { Right } else { Left }))
            .collect();
        grid(&columns, &rows, style)
    };
    out += &format!("\n{}", figures::tables(comparison, shown, table));
    let notes = answer::notes(comparison, &names);
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        out += style.wrap(&note, 2).trim_start();
    }
    for warning in &comparison.warnings {
        let text = format!("! {}: {}", one_line(&warning.place), one_line(&warning.what));
        out += style.wrap(&text, 2).trim_start();
    }
    if let Some((gate, line)) = comparison.gate.zip(gate::line(comparison, &names)) {
        out += &format!("\n{}", painted(&line, gate.state, style));
    }
    out
}

/// The line that answers `--gate`; none if the comparison had no gate.
pub fn compare_gate(comparison: &Comparison) -> Option<String> {
    gate::line(comparison, &Names::of_all(comparison))
}

/// The reason why a comparison was cut short; none if the comparison ended with its decision, at its largest number of
/// runs, or when its budget was spent.
pub fn cut_short(ended: ComparisonEnd) -> Option<&'static str> {
    match ended {
        ComparisonEnd::Interrupted => Some("it was interrupted"),
        ComparisonEnd::Failed => Some("a run failed"),
        ComparisonEnd::Decided | ComparisonEnd::MaxRuns | ComparisonEnd::Budget => None,
    }
}
