//! The opening of a load's window: after a fixed time, or once the load has become steady.
//!
//! With a limit, the series is examined again as it grows, between `warm_up_s` and `warm_up_limit_s`. It is the
//! throughput of a closed loop and the median response time of an open one. The engine is only told to open; a load
//! that never settles is measured all the same, and may be marked.

use std::time::Duration;

use kumite_load::{Interval, Opener};
use kumite_stats::Better;

use super::INTERVAL_MS;
use super::workload::HttpWorkload;
use crate::driver::warm_up::Evidence;

/// A watch on the warm-up of a load, which opens the window.
pub(super) struct Settling {
    /// Opens the window when the load is steady. None if the warm-up has a fixed length.
    pub opener: Option<Opener>,
    /// The least number of intervals that the warm-up lasts.
    least: u128,
    seen: u128,
    open_loop: bool,
    series: Vec<f64>,
    evidence: Evidence,
    settled: bool,
}

impl Settling {
    pub fn new(workload: &HttpWorkload) -> Settling {
        let open_loop = workload.arrivals.is_some();
        Settling {
            opener: workload.warm_up.by_evidence().then(Opener::default),
            least: workload.warm_up.least.as_millis().div_ceil(u128::from(INTERVAL_MS)),
            seen: 0,
            open_loop,
            series: Vec::new(),
            evidence: Evidence::new(if open_loop { Better::Smaller } else { Better::Larger }),
            settled: false,
        }
    }

    /// Takes an interval that has ended. Returns the time, since the load began, at which the window opens, if this
    /// interval shows a steady state; else `None`.
    ///
    /// A closed loop is judged by throughput, as the whole trial is later. The throughput of an open loop is that of
    /// its schedule from the first moment on, so an open loop is judged by the median response time.
    pub fn take(&mut self, interval: &Interval) -> Option<Duration> {
        let opener = self.opener.as_ref().filter(|_| !self.settled && interval.start_ms < 0)?;
        self.seen += 1;
        // Before the first answer nothing is steady.
        if !self.open_loop && (interval.ok > 0 || !self.series.is_empty()) {
            self.series.push(interval.ok as f64);
        } else if self.open_loop && interval.ok > 0 {
            self.series.push(interval.p50_us);
        }
        self.settled = self.evidence.is_steady(&self.series) && self.seen >= self.least;
        self.settled.then(|| opener.open())
    }

    /// True if evidence of a steady state was asked for, and was not found.
    pub fn is_unsettled(&self) -> bool {
        self.opener.is_some() && !self.settled
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::AxisValue;

    use super::*;
    use crate::driver::Answer;

    /// The number of intervals after which a warm-up is settled. None if it is not within the limit of a minute. Each
    /// interval has this many answers, and a median response time in µs.
    fn settles(given: &[(&str, f64)], of: impl Fn(u32) -> (u64, f64)) -> Option<u32> {
        let limit = ("warm_up_limit_s", 60.0);
        let given = given.iter().copied().chain([limit]);
        let given = given.map(|(name, value)| (name.to_owned(), AxisValue::Float(value))).collect();
        let mut settling = Settling::new(&HttpWorkload::new(&given, &Answer::default()).unwrap());
        let found = (0..600).find(|nth| {
            let (ok, p50_us) = of(*nth);
            let start_ms = i64::from(*nth) * 100 - 60_000;
            settling.take(&Interval { start_ms, ok, p50_us, ..Interval::default() }).is_some()
        });
        assert_eq!(settling.is_unsettled(), found.is_none());
        found.map(|nth| nth + 1)
    }

    #[test]
    fn a_server_that_gets_faster_for_three_seconds_settles_after_them() {
        let faster = |nth: u32| (100 + 30 * u64::from(nth.min(30)), 0.0);
        let found = settles(&[], faster).unwrap();
        assert!((60..=80).contains(&found), "{found}");
    }

    #[test]
    fn a_server_that_never_settles_is_unsettled_at_the_limit() {
        assert_eq!(settles(&[], |nth| ((100.0 * 1.02_f64.powi(nth as i32)) as u64, 0.0)), None);
    }

    #[test]
    fn a_steady_server_settles_when_the_least_warm_up_is_over() {
        for (least_s, expected) in [(0.0, 38), (2.0, 38), (5.0, 50), (5.05, 51)] {
            assert_eq!(settles(&[("warm_up_s", least_s)], |_| (500, 0.0)), Some(expected), "{least_s}");
        }
    }

    #[test]
    fn an_open_loop_settles_by_its_response_times() {
        let faster = |nth: u32| (50, 9000.0 - 200.0 * f64::from(nth.min(40)));
        let found = settles(&[("rate_rps", 500.0)], faster).unwrap();
        assert!((80..=120).contains(&found), "{found}");
        // An interval without an answer says nothing.
        let rare =
            |nth: u32| (u64::from(nth.is_multiple_of(4)), if nth.is_multiple_of(4) { 700.0 } else { 0.0 });
        assert_eq!(settles(&[("rate_rps", 2.5)], rare), Some(149));
        let overloaded = |nth: u32| (50, 1000.0 * f64::from(nth + 1));
        assert_eq!(settles(&[("rate_rps", 500.0)], overloaded), None);
    }
}
