//! The highest rate of a server, as `kumite load --find-rate` shows it.
//!
//! The answer comes first. Without one, the first line says why there is none and what is known.

use comfy_table::CellAlignment::{Left, Right};
use kumite_record::{FoundRate, RateTrial, RateVerdict, SearchEnd, Unit};

use crate::charts::strip::{StripChart, Values, strip_chart};
use crate::leaf::{Leaf, Table, leaf};
use crate::markdown::{escaped, table as markdown_table};
use crate::rate_trial::{
    Figure, broke, doubts, figures, heads, known_figures, limited_by_connections, rate, unit, why_void,
};
use crate::style::Style;
use crate::tables::grid::grid;
use crate::words::number::{digits_apart, plural, significant};
use crate::words::quantity::length;
use crate::words::text::one_line;

/// The text that `kumite load --find-rate` prints at its end: the answer or the reason why there is none, the trials,
/// the conditions that broke, and doubts.
pub fn found_rate_terminal(found: &FoundRate, style: &Style) -> String {
    let style = *style;
    let mut out = style.bold(&style.wrap(&answer(found), 0));
    out += &style.wrap(&summary(found), 0);
    if !found.trials.is_empty() {
        let (heads, rows) = table(found);
        let columns: Vec<_> =
            heads.iter().map(|(head, figures)| (&**head, if *figures { Right } else { Left })).collect();
        out += &format!("\n{}\n", grid(&columns, &rows, style));
    }
    for line in limits(found).into_iter().chain(doubts(&found.trials, "trial")) {
        out += &style.wrap(&line, 0);
    }
    out
}

/// The highest rate in GitHub's Markdown: doubts, the answer, the trials and notes.
pub fn found_rate_markdown(found: &FoundRate) -> String {
    let mut out = String::new();
    for doubt in doubts(&found.trials, "trial") {
        out += &format!("> ⚠ {}\n\n", escaped(&doubt));
    }
    out += &format!("**{}**\n\n", escaped(&answer(found)));
    if !found.trials.is_empty() {
        out += &format!("{}\n", markdown_table(table(found)));
    }
    for note in notes(found) {
        out += &format!("- {}\n", escaped(&note));
    }
    out
}

/// The highest rate as a self-contained page: doubts, the answer, a dot for each repetition of the search, and the
/// trials by rate.
pub fn found_rate_html(found: &FoundRate) -> String {
    let tables = (!found.trials.is_empty()).then(|| Table::from_rows(table(found)));
    leaf(&Leaf {
        title: "kumite load --find-rate".to_owned(),
        alarms: doubts(&found.trials, "trial"),
        sentences: vec![answer(found)],
        strip: answers(found),
        tables: tables.into_iter().collect(),
        notes: notes(found),
        command: found.command.clone(),
        ..Leaf::default()
    })
}

/// The chart of the answers, with their median and its interval; none if there is no estimate.
fn answers(found: &FoundRate) -> Option<StripChart> {
    let rate = found.rate_rps?;
    let title = "a dot is an answer, of one repetition of the search; the line is their median, and its interval is shaded";
    let values = Values {
        name: unit(found.of_sessions),
        all: &found.answers_rps,
        median: rate.estimate,
        low: Some(rate.low),
        high: Some(rate.high),
    };
    strip_chart("answers", title, Unit::Number, &[values])
}

fn notes(found: &FoundRate) -> Vec<String> {
    [vec![summary(found)], limits(found)].concat()
}

/// The first line: the highest rate with its interval, or the reason why there is none and what is known.
fn answer(found: &FoundRate) -> String {
    let slo = one_line(&found.slo);
    if let Some(rate) = &found.rate_rps {
        let digits = digits_apart(&[rate.low, rate.high]);
        let show = |value| significant(value, digits);
        let early = if found.ended == SearchEnd::Interrupted { "interrupted; " } else { "" };
        return format!(
            "{early}highest rate: {} {}, 95 % interval {}–{}, for {slo}",
            show(rate.estimate),
            unit(found.of_sessions),
            show(rate.low),
            show(rate.high)
        );
    }
    let rps = |value: f64| rate(value, 3, found.of_sessions);
    match (found.ended, found.met_rps, found.unmet_rps) {
        (SearchEnd::EngineLimit, met, _) => {
            let last = found.trials.iter().rev().find(|trial| trial.verdict == RateVerdict::Void);
            let why = last.and_then(|trial| trial.void).map_or("", why_void);
            let met =
                met.map_or_else(|| "nothing is known".to_owned(), |met| format!("at least {}", rps(met)));
            let tried = last.map_or_else(String::new, |trial| format!("; at {} {why}", rps(trial.rate_rps)));
            format!("limited by the load engine: {met} for {slo}{tried}")
        }
        (SearchEnd::NeverMet, _, unmet) => {
            let lowest = unmet.map_or_else(String::new, |rate| format!(" at {}", rps(rate)));
            let lower = match unmet {
                Some(rate) if rate > 1.0 => "; lower ones take longer trials and so a longer --budget",
                _ => "",
            };
            format!(
                "no rate: the server does not meet {slo} even{lowest}, the lowest rate that was tried{lower}"
            )
        }
        (ended, met, unmet) => {
            let why = match ended {
                SearchEnd::Interrupted => "interrupted".to_owned(),
                _ => format!("out of time after {}", length(found.budget_s)),
            };
            let met = met.map(|rate| format!("the last trial that met it had {}", rps(rate)));
            let unmet = unmet.map(|rate| format!("the last that did not {}", rps(rate)));
            let known: Vec<String> = met.into_iter().chain(unmet).collect();
            let known = if known.is_empty() { "nothing is known".to_owned() } else { known.join(", ") };
            format!(
                "no answer yet for {slo}: {why}, with {}; {known}",
                plural(found.answers_rps.len(), "answer")
            )
        }
    }
}

fn summary(found: &FoundRate) -> String {
    let trials = format!(
        "trials of {} over {}",
        length(found.trial_s),
        plural(found.connections as usize, "connection")
    );
    let meaning = match found.rate_rps {
        Some(rate) => format!("half of them meet it at that rate; {}, ", plural(rate.n as usize, "answer")),
        None => String::new(),
    };
    let made = plural(found.trials.len(), "trial");
    format!("{}, {trials}: {meaning}{made} in {}", one_line(&found.url), length(found.seconds))
}

/// The ratio of rates within which trials share a row.
const ROW: f64 = 1.02;

/// The table of trials by rate: its heads, each with true if its column holds figures; then its rows.
fn table(found: &FoundRate) -> (Vec<(String, bool)>, Vec<Vec<String>>) {
    let mut trials: Vec<&RateTrial> = found.trials.iter().collect();
    trials.sort_by(|a, b| a.rate_rps.total_cmp(&b.rate_rps));
    let known = known_figures(found.trials.iter());
    let cells = rows(&trials).iter().map(|row| cells(row, &known)).collect();
    (heads([(unit(found.of_sessions), true), ("met", true)], &known), cells)
}

/// Groups trials that are sorted by rate: a group has rates within `ROW` times its lowest.
fn rows<'a, 'b>(trials: &'b [&'a RateTrial]) -> Vec<&'b [&'a RateTrial]> {
    let mut rows = Vec::new();
    let mut rest = trials;
    while let Some(first) = rest.first() {
        let end = rest.partition_point(|trial| trial.rate_rps <= first.rate_rps * ROW);
        let (row, after) = rest.split_at(end.max(1));
        rows.push(row);
        rest = after;
    }
    rows
}

fn cells(row: &[&RateTrial], known: &[Figure]) -> Vec<String> {
    let (first, last) = (row[0].rate_rps, row[row.len() - 1].rate_rps);
    let digits = digits_apart(&[first, last]).min(4);
    let (from, to) = (significant(first, digits), significant(last, digits));
    let rate = if from == to { from } else { format!("{from}–{to}") };
    let is = |verdict| row.iter().filter(|trial| trial.verdict == verdict).count();
    let (met, void) = (is(RateVerdict::Met), is(RateVerdict::Void));
    let judged = row.len() - void;
    let met = if judged > 0 { format!("{met} of {judged}") } else { "–".to_owned() };
    let void = if void > 0 { format!("{void} void") } else { String::new() };
    [rate, met].into_iter().chain(figures(row, known)).chain([void]).collect()
}

fn limits(found: &FoundRate) -> Vec<String> {
    let mut lines = Vec::new();
    if found.failed_near > 0 {
        let (broke, all) = (broke(&found.broke), plural(found.failed_near as usize, "failed trial"));
        lines.push(match found.rate_rps {
            Some(_) => format!("what broke: of {all} at up to 1.25 times that rate, {broke}"),
            None => format!("what broke: of {all}, {broke}"),
        });
    }
    if found.waited_near * 2 > found.failed_near {
        lines.push(limited_by_connections(found.waited_near));
    }
    lines
}

#[cfg(test)]
mod tests;
