//! The highest rate of a server, as `kumite load --find-rate` shows it, and the line of each trial of the search.
//!
//! The answer comes first. Without one, the first line says why there is none and what is known.

use comfy_table::CellAlignment::{Left, Right};
use kumite_record::{FoundRate, Metric, RateTrial, RateVerdict, SearchEnd, Unit, VoidReason};

use crate::metric::Named;
use crate::style::Style;
use crate::tables::grid::grid;
use crate::words::number::{count, digits_apart, plural, significant};
use crate::words::quantity::{Measured, length};
use crate::words::text::one_line;

/// The text that `kumite load --find-rate` prints at its end: the answer or the reason why there is none, the trials,
/// the conditions that broke, and doubts.
pub fn found_rate_terminal(found: &FoundRate, style: &Style) -> String {
    let style = *style;
    let mut out = style.bold(&style.wrap(&answer(found), 0));
    out += &style.wrap(&summary(found), 0);
    if !found.trials.is_empty() {
        out += &format!("\n{}\n", table(found, style));
    }
    for line in limits(found).into_iter().chain(doubts(found)) {
        out += &style.wrap(&line, 0);
    }
    out
}

/// The metric of failed requests, which has a column of its own.
const FAILED: &str = "error_share";

/// A trial of the search on one line, printed while the search runs.
pub fn rate_trial_line(trial: &RateTrial) -> String {
    let figures = trial.figures.iter().filter(|(name, _)| *name != FAILED).map(|(name, value)| {
        let metric = Metric::named(name);
        format!("{} {}", metric.label(), metric.text(*value))
    });
    let failed: u64 = trial.errors.values().sum();
    let failed = (failed > 0).then(|| format!("{} failed", count(failed as f64)));
    let verdict = match trial.verdict {
        RateVerdict::Met => "met".to_owned(),
        RateVerdict::Unmet => format!("not met: {}", one_line(&trial.broke.join(", "))),
        RateVerdict::Void => format!("void: {}", trial.void.map_or("", why_void)),
    };
    let said: Vec<String> = figures.chain(failed).chain([verdict]).collect();
    format!("{} req/s: {}", significant(trial.rate_rps, 4), said.join(", "))
}

fn why_void(reason: VoidReason) -> &'static str {
    match reason {
        VoidReason::NoHeadroom => "the load engine had no CPU left",
        VoidReason::SentLate => {
            "the load engine sent late though it had headroom: something else used its CPU"
        }
        VoidReason::NotOffered => "not all requests were offered",
    }
}

/// The first line: the highest rate with its interval, or the reason why there is none and what is known.
fn answer(found: &FoundRate) -> String {
    let slo = one_line(&found.slo);
    if let Some(rate) = &found.rate_rps {
        let digits = digits_apart(&[rate.low, rate.high]);
        let show = |value| significant(value, digits);
        let early = if found.ended == SearchEnd::Interrupted { "interrupted; " } else { "" };
        return format!(
            "{early}highest rate: {} req/s, 95 % interval {}–{}, for {slo}",
            show(rate.estimate),
            show(rate.low),
            show(rate.high)
        );
    }
    let rps = |rate: f64| format!("{} req/s", significant(rate, 3));
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

fn table(found: &FoundRate, style: Style) -> String {
    let mut trials: Vec<&RateTrial> = found.trials.iter().collect();
    trials.sort_by(|a, b| a.rate_rps.total_cmp(&b.rate_rps));
    let rows: Vec<&[&RateTrial]> = rows(&trials);
    let mut metrics: Vec<Metric> = Vec::new();
    for name in trials.iter().flat_map(|trial| trial.figures.keys()).filter(|name| *name != FAILED) {
        if !metrics.iter().any(|metric| metric.name == *name) {
            metrics.push(Metric::named(name));
        }
    }
    // Without their units, so that p99 comes before p99.9.
    metrics.sort_by(|a, b| Unit::without(&a.name).cmp(Unit::without(&b.name)));
    let labels: Vec<String> = metrics.iter().map(Metric::label).collect();
    let heads = [("req/s", Right), ("met", Right)]
        .into_iter()
        .chain(labels.iter().map(|label| (label.as_str(), Right)))
        .chain([("failed", Right), ("engine busy", Right), ("", Left)]);
    let columns: Vec<_> = heads.collect();
    let cells: Vec<Vec<String>> = rows.iter().map(|row| cells(row, &metrics)).collect();
    grid(&columns, &cells, style)
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

fn cells(row: &[&RateTrial], metrics: &[Metric]) -> Vec<String> {
    let (first, last) = (row[0].rate_rps, row[row.len() - 1].rate_rps);
    let digits = digits_apart(&[first, last]).min(4);
    let (from, to) = (significant(first, digits), significant(last, digits));
    let rate = if from == to { from } else { format!("{from}–{to}") };
    let is = |verdict| row.iter().filter(|trial| trial.verdict == verdict).count();
    let (met, void) = (is(RateVerdict::Met), is(RateVerdict::Void));
    let judged = row.len() - void;
    let met = if judged > 0 { format!("{met} of {judged}") } else { "–".to_owned() };
    let figures = metrics.iter().map(|metric| {
        let values: Vec<f64> =
            row.iter().filter_map(|trial| trial.figures.get(&metric.name)).copied().collect();
        middle(values).map_or_else(|| "–".to_owned(), |value| metric.text(value))
    });
    let failed: u64 = row.iter().flat_map(|trial| trial.errors.values()).sum();
    let requests: u64 = row.iter().map(|trial| trial.requests).sum();
    let failed = match failed {
        0 => "0".to_owned(),
        some => format!("{} %", significant(some as f64 / requests.max(1) as f64 * 100.0, 2)),
    };
    let busy = middle(row.iter().map(|trial| trial.engine_busy).collect());
    let busy = busy.map_or_else(String::new, |busy| format!("{:.0} %", busy * 100.0));
    let void = if void > 0 { format!("{void} void") } else { String::new() };
    [rate, met].into_iter().chain(figures).chain([failed, busy, void]).collect()
}

/// The median, or the lower of the two values in the middle; none without values.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

fn limits(found: &FoundRate) -> Vec<String> {
    let mut lines = Vec::new();
    if found.failed_near > 0 {
        let mut broke: Vec<_> = found.broke.iter().collect();
        broke.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        let broke = broke.iter().map(|(what, n)| format!("{} in {}", one_line(what), count(**n as f64)));
        let (broke, all) =
            (broke.collect::<Vec<_>>().join(", "), plural(found.failed_near as usize, "failed trial"));
        lines.push(match found.rate_rps {
            Some(_) => format!("what broke: of {all} at up to 1.25 times that rate, {broke}"),
            None => format!("what broke: of {all}, {broke}"),
        });
    }
    if found.waited_near * 2 > found.failed_near {
        lines.push(format!(
            "limited by the connections: in {} of them requests waited for a free one, while the server answered in time; \
             more (-c) may bring more",
            count(found.waited_near as f64)
        ));
    }
    lines
}

fn doubts(found: &FoundRate) -> Vec<String> {
    let mut lines = Vec::new();
    for reason in [VoidReason::NoHeadroom, VoidReason::SentLate, VoidReason::NotOffered] {
        let void = found.trials.iter().filter(|trial| trial.void == Some(reason)).count();
        if void > 0 {
            lines.push(format!("void: {}, in which {}", plural(void, "trial"), why_void(reason)));
        }
    }
    match found.trials.iter().filter(|trial| !trial.settled).count() {
        0 => {}
        unsettled => lines.push(format!(
            "before {} the server had not come to rest 5 s after the one before: what that left may have failed it",
            plural(unsettled, "trial")
        )),
    }
    lines
}

#[cfg(test)]
mod tests;
