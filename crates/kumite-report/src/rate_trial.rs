//! The trials of a server at a rate, as a search for the highest rate and the judgement of an objective show them.

use std::collections::BTreeMap;

use kumite_record::{Metric, RateTrial, RateVerdict, Unit, VoidReason};

use crate::metric::Named;
use crate::words::number::{count, plural, significant};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The metric of failed requests, which has a column of its own.
const FAILED: &str = "error_share";

/// A trial at a rate on one line, without a line feed, to be printed while further trials are made. `of_sessions` is
/// true if the rate counts sessions, false if it counts requests.
pub fn rate_trial_line(trial: &RateTrial, of_sessions: bool) -> String {
    let figures = trial.figures.iter().filter(|(name, _)| *name != FAILED).map(|(name, value)| {
        let metric = Metric::named(name);
        format!("{} {}", metric.label(), metric.text(*value))
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

/// The metrics in which the trials have figures, without the share of failures, in the order of their columns.
pub(crate) fn metrics(trials: &[RateTrial]) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    for name in trials.iter().flat_map(|trial| trial.figures.keys()).filter(|name| *name != FAILED) {
        if !metrics.iter().any(|metric| metric.name == *name) {
            metrics.push(Metric::named(name));
        }
    }
    // Without their units, so that p99 comes before p99.9.
    metrics.sort_by(|a, b| Unit::without(&a.name).cmp(Unit::without(&b.name)));
    metrics
}

/// The heads of a table: the columns of `first`, those of the metrics, and those of failures and of the engine; each
/// with true if it holds figures.
pub(crate) fn heads(first: [(&str, bool); 2], metrics: &[Metric]) -> Vec<(String, bool)> {
    let first = first.into_iter().map(|(head, figures)| (head.to_owned(), figures));
    let metrics = metrics.iter().map(|metric| (metric.label(), true));
    let last = [("failed", true), ("engine busy", true), ("", false)];
    first.chain(metrics).chain(last.map(|(head, figures)| (head.to_owned(), figures))).collect()
}

/// The cells for trials that share a row: the middle figure in each metric, the share of failed requests among all of
/// theirs, and the middle use of the engine.
pub(crate) fn figures(trials: &[&RateTrial], metrics: &[Metric]) -> Vec<String> {
    let figures = metrics.iter().map(|metric| {
        let values = trials.iter().filter_map(|trial| trial.figures.get(&metric.name)).copied().collect();
        middle(values).map_or_else(|| "–".to_owned(), |value| metric.text(value))
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

/// The doubts about these trials, which the text calls by `word`, such as `load`. Empty if there are none.
pub(crate) fn doubts(trials: &[RateTrial], word: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for reason in [VoidReason::NoHeadroom, VoidReason::SentLate, VoidReason::NotOffered, VoidReason::TooFew] {
        let void = trials.iter().filter(|trial| trial.void == Some(reason)).count();
        if void > 0 {
            lines.push(format!("void: {}, in which {}", plural(void, word), why_void(reason)));
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
