//! Recorder: counts and times of finished requests, inside the measured window and before it.
//!
//! All times are ns since the run began. The thread's CPU clock is read when the recorder first sees a time past the
//! window's start, so a window's CPU time is right to one batch of events.

use std::time::Duration;

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};

use crate::outcome::{Errors, Interval, Outcome};

const INTERVAL_NS: u64 = 100_000_000;

/// How a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    Status,
    Body,
    Timeout,
    Refused,
    Connect,
    Reset,
    Closed,
    Malformed,
}

/// Counts finished requests by the time they finished.
pub(crate) struct Recorder<'a> {
    on_interval: &'a mut dyn FnMut(&Interval),
    opens: u64,
    cpu_at_open: Option<Duration>,
    /// When the interval that is being filled ends.
    interval_ends: u64,
    interval: Histogram<u64>,
    interval_sum: u64,
    interval_errors: u64,
    outcome: Outcome,
}

impl<'a> Recorder<'a> {
    /// A recorder whose window opens at `opens`.
    pub fn new(opens: u64, on_interval: &'a mut dyn FnMut(&Interval)) -> Recorder<'a> {
        let histogram = || Histogram::new(3).expect("3 is a precision that hdrhistogram has");
        Recorder {
            on_interval,
            opens,
            cpu_at_open: None,
            interval_ends: opens + INTERVAL_NS,
            interval: histogram(),
            interval_sum: 0,
            interval_errors: 0,
            outcome: Outcome {
                requests: 0,
                ok: 0,
                errors: Errors::default(),
                reconnects: 0,
                elapsed: Duration::ZERO,
                response: histogram(),
                intervals: Vec::new(),
                cpu: Duration::ZERO,
                first_wrong: None,
                stopped: false,
                warm_up_requests: 0,
                warm_up_errors: Errors::default(),
            },
        }
    }

    /// Moves on to `now`: opens the window, ends intervals.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        if self.cpu_at_open.is_none() && now >= self.opens {
            self.cpu_at_open = Some(thread_cpu());
        }
        while now >= self.interval_ends {
            self.end_interval();
            self.interval_ends += INTERVAL_NS;
        }
    }

    /// Counts a right answer to what was sent at `sent`.
    #[inline]
    pub fn ok(&mut self, sent: u64, now: u64) {
        self.advance(now);
        if now < self.opens {
            self.outcome.warm_up_requests += 1;
            return;
        }
        let response = now.saturating_sub(sent);
        self.outcome.ok += 1;
        self.interval.record(response).expect("a histogram that grows takes any value");
        self.interval_sum += response;
    }

    /// Counts a request that failed.
    pub fn failed(&mut self, failure: Failure, now: u64) {
        self.advance(now);
        let errors = if now < self.opens {
            self.outcome.warm_up_requests += 1;
            &mut self.outcome.warm_up_errors
        } else {
            self.interval_errors += 1;
            &mut self.outcome.errors
        };
        *match failure {
            Failure::Status => &mut errors.status,
            Failure::Body => &mut errors.body,
            Failure::Timeout => &mut errors.timeout,
            Failure::Refused => &mut errors.refused,
            Failure::Connect => &mut errors.connect,
            Failure::Reset => &mut errors.reset,
            Failure::Closed => &mut errors.closed,
            Failure::Malformed => &mut errors.malformed,
        } += 1;
    }

    /// Keeps the first wrong answer in words, so that whoever reads the counts need not guess.
    pub fn wrong(&mut self, describe: impl FnOnce() -> String) {
        self.outcome.first_wrong.get_or_insert_with(describe);
    }

    /// Counts a connection established in place of one that had ended.
    pub fn reconnected(&mut self, now: u64) {
        if now >= self.opens {
            self.outcome.reconnects += 1;
        }
    }

    /// When something is due that no event will announce: the window's opening, an interval's end.
    pub fn due(&self) -> u64 {
        if self.cpu_at_open.is_none() { self.opens } else { self.interval_ends }
    }

    /// Closes the window at `end`.
    pub fn close(mut self, end: u64, stopped: bool) -> Outcome {
        let cpu = self.cpu_at_open.map_or(Duration::ZERO, |at_open| thread_cpu().saturating_sub(at_open));
        self.advance(end);
        if end > self.interval_ends - INTERVAL_NS {
            self.end_interval();
        }
        let mut outcome = self.outcome;
        outcome.requests = outcome.ok + outcome.errors.total();
        outcome.elapsed = Duration::from_nanos(end.saturating_sub(self.opens));
        outcome.cpu = cpu;
        outcome.stopped = stopped;
        outcome
    }

    fn end_interval(&mut self) {
        let ok = self.interval.len();
        let us = |ns: u64| if ok == 0 { 0.0 } else { ns as f64 / 1e3 };
        let interval = Interval {
            start_ms: (self.interval_ends - INTERVAL_NS - self.opens) / 1_000_000,
            ok,
            errors: self.interval_errors,
            mean_us: if ok == 0 { 0.0 } else { self.interval_sum as f64 / ok as f64 / 1e3 },
            p50_us: us(self.interval.value_at_quantile(0.5)),
            p99_us: us(self.interval.value_at_quantile(0.99)),
            max_us: us(self.interval.max()),
        };
        self.outcome.response.add(&self.interval).expect("a histogram that grows takes any other");
        self.interval.reset();
        self.interval_sum = 0;
        self.interval_errors = 0;
        self.outcome.intervals.push(interval);
        (self.on_interval)(&interval);
    }
}

fn thread_cpu() -> Duration {
    let cpu = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(cpu.tv_sec.unsigned_abs(), cpu.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn counts_by_the_time_of_finishing() {
        let mut seen = Vec::new();
        let mut on_interval = |interval: &Interval| seen.push(*interval);
        let mut recorder = Recorder::new(50 * MS, &mut on_interval);
        recorder.ok(0, 49 * MS);
        recorder.failed(Failure::Status, 49 * MS);
        recorder.reconnected(49 * MS);
        recorder.ok(45 * MS, 50 * MS);
        recorder.ok(49 * MS, 149 * MS);
        recorder.failed(Failure::Reset, 150 * MS);
        recorder.reconnected(150 * MS);
        recorder.ok(400 * MS, 410 * MS);
        let outcome = recorder.close(420 * MS, false);

        assert_eq!((outcome.warm_up_requests, outcome.warm_up_errors.status), (2, 1));
        assert_eq!((outcome.requests, outcome.ok, outcome.errors.total()), (4, 3, 1));
        assert_eq!((outcome.errors.reset, outcome.reconnects), (1, 1));
        assert_eq!(outcome.elapsed, Duration::from_millis(370));
        assert_eq!(outcome.response.len(), 3);
        assert!(outcome.response.equivalent(outcome.response.max(), 100 * MS));
        assert!(outcome.response.equivalent(outcome.response.value_at_quantile(0.5), 10 * MS));
        assert_eq!(outcome.intervals, seen);
        let counts: Vec<_> = seen.iter().map(|i| (i.start_ms, i.ok, i.errors)).collect();
        assert_eq!(counts, [(0, 2, 0), (100, 0, 1), (200, 0, 0), (300, 1, 0)]);
        assert_eq!(seen[0].mean_us, 52_500.0);
        assert!((seen[0].max_us / 100_000.0 - 1.0).abs() < 1e-3);
        assert_eq!((seen[1].mean_us, seen[1].p50_us, seen[1].max_us), (0.0, 0.0, 0.0));
    }

    #[test]
    fn a_window_of_whole_intervals_has_no_empty_one_at_its_end() {
        let mut on_interval = |_: &Interval| {};
        let mut recorder = Recorder::new(0, &mut on_interval);
        recorder.ok(0, 200 * MS - 1);
        assert_eq!(recorder.close(200 * MS, false).intervals.len(), 2);
    }

    #[test]
    fn a_window_that_never_opened_is_empty() {
        let mut on_interval = |_: &Interval| panic!("an interval of nothing");
        let mut recorder = Recorder::new(100 * MS, &mut on_interval);
        recorder.ok(0, MS);
        let outcome = recorder.close(2 * MS, true);
        assert_eq!((outcome.requests, outcome.warm_up_requests, outcome.elapsed), (0, 1, Duration::ZERO));
        assert!(outcome.stopped);
    }
}
