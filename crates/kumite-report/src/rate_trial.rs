//! The trials of a server at a rate, as a search for the highest rate and the judgement of an objective show them.

use std::collections::BTreeMap;

use kumite_record::{Metric, RateTrial, RateVerdict, Unit, VoidReason};

use crate::metric::Named;
use crate::words::number::{count, plural, significant};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The metric of failed requests, which has a column of its own.
const FAILED: &str = "error_share";

/// A column of figures: a metric of all requests or, with its name, of one request or session.
#[derive(Clone, PartialEq)]
pub(crate) struct Figure {
    part: Option<String>,
    metric: Metric,
}

impl Figure {
    /// `response p95`, or `response p95 of token`.
    fn label(&self) -> String {
        let of = self.part.as_ref().map(|part| format!(" of {}", one_line(part)));
        self.metric.label() + &of.unwrap_or_default()
    }

    fn value(&self, trial: &RateTrial) -> Option<f64> {
        let figures = match &self.part {
            None => Some(&trial.figures),
            Some(part) => trial.parts.get(part),
        };
        figures?.get(&self.metric.name).copied()
    }
}

/// A trial at a rate on one line, without a line feed, to be printed while further trials are made. `of_sessions` is
/// true if the rate counts sessions, false if it counts requests.
pub fn rate_trial_line(trial: &RateTrial, of_sessions: bool) -> String {
    let figures = known_figures([trial].into_iter()).into_iter().filter_map(|figure| {
        let value = figure.value(trial)?;
        Some(format!("{} {}", figure.label(), figure.metric.text(value)))
    });
    let failed: u64 = trial.errors.values().sum();
    let failed = (failed > 0).then(|| format!("{} failed", count(failed as f64)));
    let said: Vec<String> = figures.chain(failed).chain([verdict(trial)]).collect();
    format!("{}: {}", asked(trial.rate_rps, of_sessions), said.join(", "))
}

/// `met`, `not met: p99 < 20ms`, or `void` with the reason.
fn verdict(trial: &RateTrial) -> String {
    match trial.verdict {
        RateVerdict::Met => "met".to_owned(),
        RateVerdict::Unmet => format!("not met: {}", one_line(&trial.broke.join(", "))),
        RateVerdict::Void => format!("void: {}", trial.void.map_or("", why_void)),
    }
}

/// A rate that was asked for, with its unit. A whole number is written in full, any other with four digits.
pub(crate) fn asked(value: f64, of_sessions: bool) -> String {
    match value.fract() == 0.0 {
        true => format!("{} {}", count(value), unit(of_sessions)),
        false => rate(value, 4, of_sessions),
    }
}

/// A rate with its unit.
pub(crate) fn rate(value: f64, digits: usize, of_sessions: bool) -> String {
    format!("{} {}", significant(value, digits), unit(of_sessions))
}

/// The unit of rates.
pub(crate) fn unit(of_sessions: bool) -> &'static str {
    if of_sessions { "sessions/s" } else { "req/s" }
}

pub(crate) fn why_void(reason: VoidReason) -> &'static str {
    match reason {
        VoidReason::NoHeadroom => "the load engine had no CPU left",
        VoidReason::SentLate => {
            "the load engine sent late though it had headroom: something else used its CPU"
        }
        VoidReason::NotOffered => "not all requests were offered",
        VoidReason::TooFew => "there were too few answers for a figure of the objective",
    }
}

/// The figures that the trials have, in the order of their columns, without the share of failures among all requests.
pub(crate) fn known_figures<'a>(trials: impl Iterator<Item = &'a RateTrial>) -> Vec<Figure> {
    let mut known: Vec<Figure> = Vec::new();
    for trial in trials {
        let of_all = trial.figures.keys().filter(|name| *name != FAILED).map(|name| (None, name));
        let of_parts =
            trial.parts.iter().flat_map(|(part, figures)| figures.keys().map(move |name| (Some(part), name)));
        for (part, name) in of_all.chain(of_parts) {
            let figure = Figure { part: part.cloned(), metric: Metric::named(name) };
            if !known.contains(&figure) {
                known.push(figure);
            }
        }
    }
    // Without their units, so that p99 comes before p99.9.
    known.sort_by(|a, b| {
        let key = |figure: &'_ Figure| (figure.part.clone(), Unit::without(&figure.metric.name).to_owned());
        key(a).cmp(&key(b))
    });
    known
}

/// The heads of a table: the columns of `first`, those of the figures, and those of failures and of the engine; each
/// with true if it holds figures.
pub(crate) fn heads(first: [(&str, bool); 2], known: &[Figure]) -> Vec<(String, bool)> {
    let first = first.into_iter().map(|(head, figures)| (head.to_owned(), figures));
    let figures = known.iter().map(|figure| (figure.label(), true));
    let last = [("failed", true), ("engine busy", true), ("", false)];
    first.chain(figures).chain(last.map(|(head, figures)| (head.to_owned(), figures))).collect()
}

/// The cells for trials that share a row: the middle value of each figure, the share of failed requests among all of
/// theirs, and the middle use of the engine.
pub(crate) fn figures(trials: &[&RateTrial], known: &[Figure]) -> Vec<String> {
    let figures = known.iter().map(|figure| {
        let values = trials.iter().filter_map(|trial| figure.value(trial)).collect();
        middle(values).map_or_else(|| "–".to_owned(), |value| figure.metric.text(value))
    });
    let failed: u64 = trials.iter().flat_map(|trial| trial.errors.values()).sum();
    let requests: u64 = trials.iter().map(|trial| trial.requests).sum();
    let failed = match failed {
        0 => "0".to_owned(),
        some => format!("{} %", significant(some as f64 / requests.max(1) as f64 * 100.0, 2)),
    };
    let busy = middle(trials.iter().map(|trial| trial.engine_busy).collect());
    let busy = busy.map_or_else(String::new, |busy| format!("{:.0} %", busy * 100.0));
    figures.chain([failed, busy]).collect()
}

/// The median, or the lower of the two values in the middle; none without values.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// `p99 < 20ms in 2, errors < 0.1% in 1`: the conditions that were broken, the most frequent first.
pub(crate) fn broke(conditions: &BTreeMap<String, u64>) -> String {
    let mut conditions: Vec<_> = conditions.iter().collect();
    conditions.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let said = conditions.iter().map(|(what, n)| format!("{} in {}", one_line(what), count(**n as f64)));
    said.collect::<Vec<_>>().join(", ")
}

/// The sentence on a server that is held back by the load's number of connections. `waited` is the number of trials in
/// which requests waited for a connection.
pub(crate) fn limited_by_connections(waited: u64) -> String {
    format!(
        "limited by the connections: in {} of them requests waited for a free one, while the server answered in time; \
         more (-c) may bring more",
        count(waited as f64)
    )
}

/// How late the void trials were sent, and which limit that is over.
fn how_late(trials: &[RateTrial]) -> String {
    let void = trials.iter().filter(|trial| trial.void == Some(VoidReason::SentLate));
    let late = void.map(|trial| trial.send_lag_p99_us).fold(0.0, f64::max);
    let late = Metric::named("send_lag_p99_us").text(late);
    format!(" (p99 of its lateness: up to {late}, and over a tenth of the shortest time in the objective)")
}

/// The doubts about these trials, which the text calls by `word`, such as `load`. Empty if there are none.
pub(crate) fn doubts(trials: &[RateTrial], word: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for reason in [VoidReason::NoHeadroom, VoidReason::SentLate, VoidReason::NotOffered, VoidReason::TooFew] {
        let void = trials.iter().filter(|trial| trial.void == Some(reason)).count();
        if void > 0 {
            let late = if reason == VoidReason::SentLate { how_late(trials) } else { String::new() };
            lines.push(format!("void: {}, in which {}{late}", plural(void, word), why_void(reason)));
        }
    }
    match trials.iter().filter(|trial| !trial.settled).count() {
        0 => {}
        unsettled => lines.push(format!(
            "before {} the server had not come to rest 5 s after the one before: what that left may have failed it",
            plural(unsettled, word)
        )),
    }
    lines
}
