//! The verdict on a server that has to meet an objective at a rate, as `kumite load --slo` shows it.
//!
//! The verdict comes first, with the claim that it is about.

use std::collections::BTreeMap;

use comfy_table::CellAlignment::{Left, Right};
use kumite_record::{RateTrial, RateVerdict, SloEnd, SloResult, SloVerdict};

use crate::leaf::{Leaf, Table, leaf};
use crate::markdown::{escaped, table as markdown_table};
use crate::rate_trial::{asked, broke, doubts, figures, heads, known_figures, limited_by_connections};
use crate::style::Style;
use crate::tables::grid::grid;
use crate::words::gate::{painted, passing};
use crate::words::number::plural;
use crate::words::quantity::length;
use crate::words::text::one_line;

/// The text that `kumite load --slo` prints at its end: the verdict, the loads, the conditions that broke, doubts, and
/// the gate's line if there is a gate.
pub fn slo_terminal(result: &SloResult, style: &Style) -> String {
    let style = *style;
    let mut out = style.bold(&style.wrap(&answer(result), 0));
    out += &style.wrap(&summary(result), 0);
    if !result.loads.is_empty() {
        let (heads, rows) = table(result);
        let columns: Vec<_> =
            heads.iter().map(|(head, figures)| (&**head, if *figures { Right } else { Left })).collect();
        out += &format!("\n{}\n", grid(&columns, &rows, style));
    }
    let below = [limits(result), doubts(&result.loads, "load")].concat();
    for line in &below {
        out += &style.wrap(line, 0);
    }
    let Some((gate, line)) = result.gate.zip(slo_gate(result)) else { return out };
    let apart = if below.is_empty() { "" } else { "\n" };
    out + apart + &painted(&line, gate.state, style)
}

/// The verdict in GitHub's Markdown: doubts, the verdict, the loads and notes.
pub fn slo_markdown(result: &SloResult) -> String {
    let mut out = String::new();
    for doubt in doubts(&result.loads, "load") {
        out += &format!("> ⚠ {}\n\n", escaped(&doubt));
    }
    out += &format!("**{}**\n\n", escaped(&answer(result)));
    if !result.loads.is_empty() {
        out += &format!("{}\n", markdown_table(table(result)));
    }
    for note in notes(result).into_iter().chain(slo_gate(result)) {
        out += &format!("- {}\n", escaped(&note));
    }
    out
}

/// The verdict as a self-contained page: doubts, the verdict, the gate's line if there is a gate, the loads and notes.
pub fn slo_html(result: &SloResult) -> String {
    let tables = (!result.loads.is_empty()).then(|| Table::from_rows(table(result)));
    leaf(&Leaf {
        title: "kumite load --slo".to_owned(),
        alarms: doubts(&result.loads, "load"),
        sentences: [answer(result)].into_iter().chain(slo_gate(result)).collect(),
        tables: tables.into_iter().collect(),
        notes: notes(result),
        command: result.command.clone(),
        ..Leaf::default()
    })
}

/// The line that answers `--gate`: `gate: shut: 0 of 5 loads met p99 < 20ms and errors = 0`. None if there is no gate.
pub fn slo_gate(result: &SloResult) -> Option<String> {
    let gate = result.gate?;
    let mut parts = vec![format!("{} met {}", of_loads(result), one_line(&result.slo))];
    if result.verdict == SloVerdict::Undecided {
        parts.push(passing(gate.passes).to_owned());
    }
    Some(format!("gate: {}: {}", gate.state.as_str(), parts.join("; ")))
}

fn of_loads(result: &SloResult) -> String {
    format!("{} of {}", result.met, plural(result.loads.len(), "load"))
}

/// The first line: the verdict, and what it is about.
fn answer(result: &SloResult) -> String {
    let at = asked(result.rate_rps, result.of_sessions);
    let (slo, met) = (one_line(&result.slo), of_loads(result));
    match result.verdict {
        SloVerdict::Holds => format!("holds: more than half of such loads at {at} meet {slo}; {met} did"),
        SloVerdict::Fails => format!("fails: at most half of such loads at {at} meet {slo}; {met} did"),
        SloVerdict::Undecided => {
            let left = result.repeat.saturating_sub(result.loads.len() as u64) as usize;
            let why = match (result.ended, left) {
                (SloEnd::Interrupted, _) => "; interrupted".to_owned(),
                (_, 0) => "; more loads (--repeat) may decide it".to_owned(),
                (_, left) => format!(
                    "; {left} more, which --repeat {} leaves, could not decide it: allow more",
                    result.repeat
                ),
            };
            format!("undecided: {met} at {at} met {slo}{why}")
        }
    }
}

fn summary(result: &SloResult) -> String {
    format!(
        "{}, loads of {} over {}: each is judged as a whole; {} of at most {} in {}; such a verdict is false in at most {} %",
        one_line(&result.url),
        length(result.load_s),
        plural(result.connections as usize, "connection"),
        plural(result.loads.len(), "load"),
        result.repeat,
        length(result.seconds),
        (result.alpha * 100.0).round()
    )
}

/// The table of loads in their order: its heads, each with true if its column holds figures; then its rows.
fn table(result: &SloResult) -> (Vec<(String, bool)>, Vec<Vec<String>>) {
    let known = known_figures(result.loads.iter());
    let row = |(nth, load): (usize, &RateTrial)| {
        let verdict = match load.verdict {
            RateVerdict::Met => "met",
            RateVerdict::Unmet => "not met",
            RateVerdict::Void => "void",
        };
        let first = [(nth + 1).to_string(), verdict.to_owned()];
        let broke = one_line(&load.broke.join(", "));
        first.into_iter().chain(figures(&[load], &known)).chain([broke]).collect()
    };
    let rows = result.loads.iter().enumerate().map(row).collect();
    (heads([("load", true), ("", false)], &known), rows)
}

fn notes(result: &SloResult) -> Vec<String> {
    [vec![summary(result)], limits(result)].concat()
}

/// What broke, the first failure of loads in which requests failed, and whether it was for want of connections.
fn limits(result: &SloResult) -> Vec<String> {
    let unmet: Vec<&RateTrial> =
        result.loads.iter().filter(|load| load.verdict == RateVerdict::Unmet).collect();
    let mut conditions = BTreeMap::<String, u64>::new();
    for condition in unmet.iter().flat_map(|load| &load.broke) {
        *conditions.entry(condition.clone()).or_default() += 1;
    }
    let all = plural(unmet.len(), "failed load");
    let waited = unmet.iter().filter(|load| load.waited).count();
    let broke = (!unmet.is_empty()).then(|| format!("what broke: of {all}, {}", broke(&conditions)));
    let connections = (waited * 2 > unmet.len()).then(|| limited_by_connections(waited as u64));
    let failing = unmet.iter().filter(|load| !load.errors.is_empty());
    let first = failing.filter_map(|load| load.first_wrong.as_deref()).next();
    let first = first.map(|wrong| format!("first failure: {}", one_line(wrong)));
    broke.into_iter().chain(first).chain(connections).collect()
}

#[cfg(test)]
mod tests;
