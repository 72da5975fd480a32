//! A schedule against a server that stops for a while: the truth beside which the generators' reports are put.
//!
//! Request k is due at `first + k / rate`. The instants of the stop and of the continuation are the server's own stamps
//! around the longest gap: it reads nothing in between. While it drains what has piled up it takes one request after each
//! `drain`; that too is from its stamps, of the first half of what fell due in the gap. The server is then one queue:
//!
//! ```text
//! start(k)    = the latest of: due(k), start(k-1) + drain, and the continuation if that lies within the gap
//! response(k) = start(k) - due(k) + what a response takes when nothing disturbs it
//! ```
//!
//! so that a request due at t in the gap takes `continuation - t`, and its place in the queue times `drain`.

use crate::Percentiles;
use crate::grid::distances_ns;

/// A stop of the server as its stamps show it, in seconds from when the first request was due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// The last request was read.
    pub from_s: f64,
    /// The next one was read.
    pub to_s: f64,
    /// From one request to the next while what had piled up was taken; none if nothing had, because the generator held
    /// it back.
    pub drain_s: Option<f64>,
}

impl Stop {
    /// None if there is no gap of nine tenths of `about_s`.
    pub fn of(stamps_ns: &[u64], rate_per_s: u32, about_s: f64) -> Option<Stop> {
        let first = *stamps_ns.first()?;
        let at_s: Vec<f64> = stamps_ns.iter().map(|stamp| (stamp - first) as f64 / 1e9).collect();
        let gap = |next: &usize| at_s[*next] - at_s[*next - 1];
        let next = (1..at_s.len()).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
        if gap(&next) < 0.9 * about_s {
            return None;
        }
        // The first arrival lies where it should but for its distance from the grid, of which the others know.
        let before_ns: Vec<f64> = at_s[..next].iter().map(|at| at * 1e9).collect();
        let first_due_s = -distances_ns(&before_ns, rate_per_s).first()? / 1e9;
        let half = (gap(&next) * f64::from(rate_per_s) / 2.0) as usize;
        let drain_s = (half > 0 && next + half < at_s.len())
            .then(|| (at_s[next + half] - at_s[next]) / half as f64)
            .filter(|drain_s| *drain_s < 0.5 / f64::from(rate_per_s));
        Some(Stop { from_s: at_s[next - 1] - first_due_s, to_s: at_s[next] - first_due_s, drain_s })
    }

    /// Response times of requests at this rate for so long. `undisturbed_us` is what each takes without the stop.
    pub fn responses(&self, rate_per_s: u32, seconds: u64, drain_s: f64, undisturbed_us: f64) -> Percentiles {
        let mut free_s = 0.0_f64;
        // The last to be read before the stop may have come a little before it was due.
        let stopped_s = self.from_s + 0.5 / f64::from(rate_per_s);
        let response_us = |request: u64| {
            let due_s = request as f64 / f64::from(rate_per_s);
            let ready_s = due_s.max(free_s);
            let start_s = if ready_s > stopped_s { ready_s.max(self.to_s) } else { ready_s };
            free_s = start_s + drain_s;
            (start_s - due_s) * 1e6 + undisturbed_us
        };
        Percentiles::of((0..seconds * u64::from(rate_per_s)).map(response_us).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u32 = 2000;

    fn near(measured: Option<f64>, expected: f64) {
        let measured = measured.unwrap();
        assert!((measured - expected).abs() < 1e-6 * expected.max(1.0), "{measured} is not {expected}");
    }

    #[test]
    fn a_second_in_ten_without_a_queue_is_one_tenth_spread_evenly() {
        // Between the requests of 4.0 and of 5.0 s: 1,999 wait, from 999.5 ms down to 0.5.
        let stop = Stop { from_s: 4.0, to_s: 5.0, drain_s: None };
        let all = stop.responses(RATE, 10, 0.0, 100.0);
        near(all.p50, 100.0);
        // The 1,000th, 200th and 20th of those who waited longest are next.
        near(all.p95, 499_600.0);
        near(all.p99, 899_600.0);
        near(all.p99_9, 989_600.0);
        near(all.max, 999_600.0);
    }

    #[test]
    fn who_waits_in_the_queue_waits_for_those_before() {
        let stop = Stop { from_s: 4.0, to_s: 5.0, drain_s: None };
        let all = stop.responses(RATE, 10, 20e-6, 100.0);
        // The k-th to wait (from 0) is 0.5 ms less late, and k places in the queue.
        near(all.max, 999_600.0);
        near(all.p95, 499_600.0 + 1000.0 * 20.0);
        near(all.p99, 899_600.0 + 200.0 * 20.0);
    }

    #[test]
    fn the_stamps_tell_stop_and_drain() {
        // Due every 500 µs, read 30 µs later; the first of all comes 200 µs late, none between 2 and 3 s, then one every
        // 10 µs until the queue is empty.
        let mut free_ns = 0;
        let stamps: Vec<u64> = (0..10_000)
            .map(|request| {
                let due = request * 500_000 + 30_000 + if request == 0 { 200_000 } else { 0 };
                let due = if (2_000_100_000..3_000_000_000).contains(&due) { 3_000_000_000 } else { due };
                let at = due.max(free_ns);
                free_ns = at + 10_000;
                at + (1 << 60)
            })
            .collect();
        let stop = Stop::of(&stamps, RATE, 1.0).unwrap();
        near(Some(stop.from_s), 2.0);
        near(Some(stop.to_s), 2.999_97);
        near(stop.drain_s, 10e-6);
    }

    #[test]
    fn no_stop_and_nothing_piled_up() {
        let even = |count: u64, from: u64| (0..count).map(move |at| from + at * 500_000);
        let calm: Vec<u64> = even(10_000, 0).collect();
        assert_eq!(Stop::of(&calm, RATE, 1.0), None);
        assert_eq!(Stop::of(&[], RATE, 1.0), None);
        let held_back: Vec<u64> = even(4000, 0).chain(even(4000, 3_000_000_000)).collect();
        assert_eq!(Stop::of(&held_back, RATE, 1.0).unwrap().drain_s, None);
    }
}
