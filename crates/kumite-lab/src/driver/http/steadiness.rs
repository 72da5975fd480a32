//! The steady part of a window, which its figures are taken from.

use kumite_load as load;
use kumite_record::Steadiness;
use kumite_stats::{Better, steady};

use super::INTERVAL_MS;
use crate::driver::steady_class::steady_class;

/// The part of the window that figures are taken from, with these figures.
#[derive(Debug)]
pub(crate) struct WindowPart {
    /// The steadiness of the load. None for an open loop, and if there is too little to tell.
    pub steadiness: Option<Steadiness>,
    /// The time from the start of the load to where it was steady, in ms. None if it never was, if there is too little
    /// to tell, and for an open loop.
    pub warm_up_ms: Option<f64>,
    /// Right answers a second in the part.
    pub throughput_rps: f64,
    /// The response times of the right answers in the part, in ns.
    pub response: load::Histogram<u64>,
    /// The times to the first byte of the right answers in the part, in ns.
    pub first_byte: load::Histogram<u64>,
    /// The service times of the right answers in the part, in ns.
    pub service: load::Histogram<u64>,
}

/// The part from the window's opening or the beginning of the steady part, whichever is later, to the window's end.
/// It is the whole window if nothing is steady. It is also the whole window of an open loop: its rate says nothing
/// about the server, and slow stretches are what it is to show.
pub(crate) fn part(outcome: &load::Outcome) -> WindowPart {
    let window_ms = outcome.elapsed.as_millis() as i64;
    let window = outcome.elapsed.as_secs_f64();
    if outcome.open_loop {
        let ends = |interval: &load::Interval| interval.start_ms + INTERVAL_MS as i64;
        let within = |interval: &&load::Interval| interval.start_ms >= 0 && ends(interval) <= window_ms;
        let ok: Vec<u64> = outcome.intervals.iter().filter(within).map(|interval| interval.ok).collect();
        let throughput_rps = match ok.len() {
            0 => outcome.ok as f64 / window,
            intervals => ok.iter().sum::<u64>() as f64 * 1e3 / (intervals as u64 * INTERVAL_MS) as f64,
        };
        return WindowPart {
            steadiness: None,
            warm_up_ms: None,
            throughput_rps,
            response: outcome.response.clone(),
            first_byte: outcome.first_byte.clone(),
            service: outcome.service.clone(),
        };
    }
    let whole = |interval: &&load::Interval| interval.start_ms + INTERVAL_MS as i64 <= window_ms;
    let intervals: Vec<&load::Interval> = outcome.intervals.iter().filter(whole).collect();
    let answers: Vec<f64> = intervals.iter().map(|interval| interval.ok as f64).collect();
    let found = steady(&answers, Better::Larger);
    let at = |position: usize| intervals[position].start_ms;
    let since_ms = found.as_ref().and_then(|found| found.since).map(at);
    let (used_from_ms, response) =
        outcome.response_over_time.from_ms(since_ms.unwrap_or(0).max(0).unsigned_abs());
    WindowPart {
        warm_up_ms: since_ms.map(|since_ms| (since_ms - at(0)) as f64),
        throughput_rps: response.len() as f64 / (window - used_from_ms as f64 / 1e3),
        first_byte: outcome.first_byte_over_time.from_ms(used_from_ms).1,
        service: response.clone(),
        response,
        steadiness: found.map(|found| Steadiness {
            class: steady_class(found.class),
            since_ms,
            changes_ms: found.changes.into_iter().map(at).collect(),
            used_from_ms,
        }),
    }
}
