//! Whether throughput was steady, and which part of the window its figures are of.

use kumite_load as load;
use kumite_record::{Steadiness, SteadyClass};
use kumite_stats::{Better, Class, steady};

use super::sample::INTERVAL_MS;

/// The part of the window that figures are of.
pub(crate) struct Part {
    /// None if there is too little to tell.
    pub steadiness: Option<Steadiness>,
    /// From the start of the load to where it was steady.
    pub warm_up_ms: Option<f64>,
    /// Its length.
    pub seconds: f64,
    /// The response times of its right answers, in ns.
    pub times: load::Histogram<u64>,
}

/// The later of the window's opening and the beginning of what is steady, to the window's end. All of the window, if
/// nothing is.
pub(crate) fn part(outcome: &load::Outcome) -> Part {
    let window_ms = outcome.elapsed.as_millis() as i64;
    let whole = |interval: &&load::Interval| interval.start_ms + INTERVAL_MS as i64 <= window_ms;
    let intervals: Vec<&load::Interval> = outcome.intervals.iter().filter(whole).collect();
    let answers: Vec<f64> = intervals.iter().map(|interval| interval.ok as f64).collect();
    let found = steady(&answers, Better::Larger);
    let at = |position: usize| intervals[position].start_ms;
    let since_ms = found.as_ref().and_then(|found| found.since).map(at);
    let (used_from_ms, times) = outcome.times.from(since_ms.unwrap_or(0).max(0).unsigned_abs());
    Part {
        warm_up_ms: since_ms.map(|since_ms| (since_ms - at(0)) as f64),
        seconds: outcome.elapsed.as_secs_f64() - used_from_ms as f64 / 1e3,
        times,
        steadiness: found.map(|found| Steadiness {
            class: match found.class {
                Class::Flat => SteadyClass::Flat,
                Class::WarmUp => SteadyClass::WarmUp,
                Class::Slowdown => SteadyClass::Slowdown,
                Class::NoSteadyState => SteadyClass::NoSteadyState,
            },
            since_ms,
            changes_ms: found.changes.into_iter().map(at).collect(),
            used_from_ms,
        }),
    }
}
