//! Recorder: counts and times of finished requests, in the measured window, before it and after it.
//!
//! All times are ns since the run began. The thread's CPU clock is read when the recorder first sees a time past the
//! window's start, so a window's CPU time is right to one batch of events.

use std::time::Duration;

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};

use crate::Event;
use crate::outcome::{Burst, Disturbed, Errors, Interval, Outcome};
use crate::recovery::{self, Episodes};
use crate::times::Times;

const INTERVAL_NS: u64 = 100_000_000;
pub(crate) const INTERVAL_MS: u64 = 100;
const FIRST_SECOND_NS: u64 = 1_000_000_000;

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
    on_event: &'a mut dyn FnMut(Event),
    phase: Phase,
    opens: u64,
    /// When the window closes, if the load goes on after it; otherwise never.
    closes: u64,
    /// Before this nothing ends and nothing begins, so that an answer has only one time to be compared with.
    due: u64,
    /// Of the present phase.
    counts: Counts,
    episodes: Episodes,
    steady: u64,
    /// When the injection was over.
    ended: Option<u64>,
    burst: Burst,
    cpu_at_open: Duration,
    /// When the interval that is being filled ends.
    interval_ends: u64,
    interval_start_ms: i64,
    interval: Histogram<u64>,
    interval_sum: u64,
    interval_errors: u64,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Window,
    After,
}

#[derive(Default)]
struct Counts {
    ok: u64,
    errors: Errors,
    reconnects: u64,
}

impl<'a> Recorder<'a> {
    /// A recorder whose window opens at `opens`. It closes with the load, or at `closes`.
    pub fn new(
        opens: u64,
        closes: Option<u64>,
        timeout: u64,
        on_event: &'a mut dyn FnMut(Event),
    ) -> Recorder<'a> {
        let histogram = || Histogram::new(3).expect("3 is a precision that hdrhistogram has");
        let steady = recovery::steady(timeout);
        Recorder {
            on_event,
            phase: Phase::WarmUp,
            opens,
            closes: closes.unwrap_or(u64::MAX),
            due: 0,
            counts: Counts::default(),
            episodes: Episodes::new(steady),
            steady,
            ended: None,
            burst: Burst::default(),
            cpu_at_open: Duration::ZERO,
            interval_ends: match opens % INTERVAL_NS {
                0 => INTERVAL_NS,
                rest => rest,
            },
            interval_start_ms: -((opens.div_ceil(INTERVAL_NS) * INTERVAL_MS) as i64),
            interval: histogram(),
            interval_sum: 0,
            interval_errors: 0,
            outcome: Outcome {
                requests: 0,
                ok: 0,
                errors: Errors::default(),
                reconnects: 0,
                elapsed: Duration::ZERO,
                times: Times::default(),
                response: histogram(),
                intervals: Vec::new(),
                cpu: Duration::ZERO,
                first_wrong: None,
                stopped: false,
                warm_up_requests: 0,
                warm_up_errors: Errors::default(),
                first_second: None,
                recovery: None,
                disturbed: None,
            },
        }
    }

    /// Moves on to `now`: opens and closes the window, ends intervals.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        while now >= self.due {
            self.pass(self.due);
        }
    }

    /// Counts a right answer to what was sent at `sent`.
    #[inline]
    pub fn ok(&mut self, sent: u64, now: u64) {
        self.advance(now);
        let response = now.saturating_sub(sent);
        self.counts.ok += 1;
        self.interval.record(response).expect("a histogram that grows takes any value");
        self.interval_sum += response;
        self.episodes.right(now);
    }

    /// Counts a request that failed.
    pub fn failed(&mut self, failure: Failure, now: u64) {
        self.advance(now);
        self.interval_errors += 1;
        self.episodes.failed(now);
        let errors = &mut self.counts.errors;
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

    /// Counts a request, which is also counted as any other, as one of a burst.
    pub fn of_burst(&mut self, right: bool) {
        *if right { &mut self.burst.ok } else { &mut self.burst.errors } += 1;
    }

    /// Keeps the first wrong answer in words, so that whoever reads the counts need not guess.
    pub fn wrong(&mut self, describe: impl FnOnce() -> String) {
        self.outcome.first_wrong.get_or_insert_with(describe);
    }

    /// Counts a connection established in place of one that had ended.
    pub fn reconnected(&mut self, now: u64) {
        self.advance(now);
        self.counts.reconnects += 1;
    }

    /// The injection is over: from now on the server can be expected to answer.
    pub fn ended(&mut self, now: u64) {
        self.advance(now);
        self.ended = Some(now);
        self.episodes.injected(now);
    }

    /// Tells whoever watches.
    pub fn tell(&mut self, event: Event) {
        (self.on_event)(event);
    }

    /// When something is due that nothing else will announce.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// Ends it at `end`.
    pub fn close(mut self, end: u64, stopped: bool) -> Outcome {
        self.advance(end);
        match self.phase {
            Phase::WarmUp => self.end_warm_up(),
            Phase::Window => self.close_window(end),
            Phase::After => self.end_watch(end),
        }
        // The last answer may have come in the very moment of the end, after an interval.
        let interval_began = self.interval_ends.saturating_sub(INTERVAL_NS);
        if end > interval_began || !self.interval.is_empty() || self.interval_errors > 0 {
            self.end_interval();
        }
        self.outcome.stopped = stopped;
        self.outcome
    }

    fn pass(&mut self, at: u64) {
        if at == self.interval_ends {
            self.end_interval();
            self.interval_ends += INTERVAL_NS;
        }
        if at == FIRST_SECOND_NS {
            let before = self.outcome.warm_up_requests - self.outcome.warm_up_errors.total();
            self.outcome.first_second = Some(before + self.outcome.ok + self.counts.ok);
        }
        if at == self.opens {
            self.end_warm_up();
            self.cpu_at_open = thread_cpu();
            self.phase = Phase::Window;
        }
        if at == self.closes {
            self.close_window(at);
        }
        let instants = [self.interval_ends, FIRST_SECOND_NS, self.opens, self.closes];
        self.due = instants.into_iter().filter(|instant| *instant > at).min().unwrap_or(u64::MAX);
    }

    fn end_warm_up(&mut self) {
        let Counts { ok, errors, .. } = self.next_phase();
        self.outcome.warm_up_requests = ok + errors.total();
        self.outcome.warm_up_errors = errors;
    }

    fn close_window(&mut self, end: u64) {
        self.outcome.cpu = thread_cpu().saturating_sub(self.cpu_at_open);
        self.outcome.elapsed = Duration::from_nanos(end - self.opens);
        self.outcome.recovery = self.episodes.longest(end);
        if !self.interval.is_empty() {
            self.outcome.times.add(&self.interval);
        }
        self.outcome.response = self.outcome.times.from(0).1;
        let Counts { ok, errors, reconnects } = self.next_phase();
        self.outcome.requests = ok + errors.total();
        self.outcome.ok = ok;
        self.outcome.errors = errors;
        self.outcome.reconnects = reconnects;
        self.phase = Phase::After;
    }

    fn end_watch(&mut self, end: u64) {
        let since_opening = |at: u64| Duration::from_nanos(at - self.opens);
        self.outcome.disturbed = self.ended.map(|ended| Disturbed {
            began: since_opening(self.closes),
            ended: since_opening(ended),
            since: since_opening(self.episodes.since()),
            until: since_opening(end),
            requests: self.counts.ok + self.counts.errors.total(),
            ok: self.counts.ok,
            errors: self.counts.errors,
            burst: self.burst,
            first_right: self.episodes.first_right(),
            recovery: self.episodes.first(end),
        });
    }

    /// What was counted in the phase that is over.
    fn next_phase(&mut self) -> Counts {
        self.episodes = Episodes::new(self.steady);
        std::mem::take(&mut self.counts)
    }

    fn end_interval(&mut self) {
        let ok = self.interval.len();
        let us = |ns: u64| if ok == 0 { 0.0 } else { ns as f64 / 1e3 };
        let interval = Interval {
            start_ms: self.interval_start_ms,
            ok,
            errors: self.interval_errors,
            mean_us: if ok == 0 { 0.0 } else { self.interval_sum as f64 / ok as f64 / 1e3 },
            p50_us: us(self.interval.value_at_quantile(0.5)),
            p99_us: us(self.interval.value_at_quantile(0.99)),
            max_us: us(self.interval.max()),
        };
        if self.phase == Phase::Window {
            self.outcome.times.add(&self.interval);
        }
        self.interval.reset();
        self.interval_sum = 0;
        self.interval_errors = 0;
        self.interval_start_ms += INTERVAL_MS as i64;
        self.outcome.intervals.push(interval);
        (self.on_event)(Event::Interval(&interval));
    }
}

fn thread_cpu() -> Duration {
    let cpu = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(cpu.tv_sec.unsigned_abs(), cpu.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recovery;

    const MS: u64 = 1_000_000;

    /// With a time-out of 100 ms.
    fn recorder(opens: u64, closes: Option<u64>, on_event: &mut dyn FnMut(Event)) -> Recorder<'_> {
        Recorder::new(opens, closes, 100 * MS, on_event)
    }

    fn counts(intervals: &[Interval]) -> Vec<(i64, u64, u64)> {
        intervals.iter().map(|i| (i.start_ms, i.ok, i.errors)).collect()
    }

    #[test]
    fn counts_by_the_time_of_finishing() {
        let mut seen = Vec::new();
        let mut on_event = |event: Event| {
            if let Event::Interval(interval) = event {
                seen.push(*interval);
            }
        };
        let mut recorder = recorder(50 * MS, None, &mut on_event);
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
        let from = |ms| (outcome.times.from(ms).0, outcome.times.from(ms).1.len());
        assert_eq!([from(0), from(1), from(999)], [(0, 3), (100, 1), (400, 0)]);
        assert!(outcome.response.equivalent(outcome.response.max(), 100 * MS));
        assert!(outcome.response.equivalent(outcome.response.value_at_quantile(0.5), 10 * MS));
        assert_eq!(outcome.first_second, None);
        let took = Duration::from_millis(260);
        assert_eq!(outcome.recovery, Some(Recovery { took, complete: false }), "since 150, not since 49");
        assert_eq!(outcome.disturbed, None);
        assert_eq!(outcome.intervals, seen);
        assert_eq!(counts(&seen), [(-100, 1, 1), (0, 2, 0), (100, 0, 1), (200, 0, 0), (300, 1, 0)]);
        assert_eq!(seen[1].mean_us, 52_500.0);
        assert!((seen[1].max_us / 100_000.0 - 1.0).abs() < 1e-3);
        assert_eq!((seen[2].mean_us, seen[2].p50_us, seen[2].max_us), (0.0, 0.0, 0.0));
    }

    #[test]
    fn what_comes_after_the_window_is_not_in_it() {
        let mut on_event = |_: Event| {};
        let mut recorder = recorder(100 * MS, Some(350 * MS), &mut on_event);
        recorder.ok(0, 99 * MS);
        recorder.failed(Failure::Closed, 340 * MS);
        recorder.ok(300 * MS, 349 * MS);
        recorder.ok(300 * MS, 350 * MS);
        recorder.reconnected(350 * MS);
        recorder.failed(Failure::Timeout, 360 * MS);
        recorder.ok(360 * MS, 361 * MS);
        recorder.of_burst(false);
        recorder.failed(Failure::Refused, 370 * MS);
        recorder.ended(380 * MS);
        recorder.ok(300 * MS, 383 * MS);
        recorder.ok(1100 * MS, 1110 * MS);
        let outcome = recorder.close(1120 * MS, false);

        assert_eq!((outcome.warm_up_requests, outcome.requests, outcome.ok), (1, 2, 1));
        assert_eq!((outcome.errors, outcome.reconnects), (Errors { closed: 1, ..Errors::default() }, 0));
        assert_eq!((outcome.elapsed, outcome.response.len()), (Duration::from_millis(250), 1));
        assert!(outcome.response.equivalent(outcome.response.max(), 49 * MS));
        let took = Duration::from_millis(9);
        assert_eq!(outcome.recovery, Some(Recovery { took, complete: false }));
        assert_eq!(outcome.first_second, Some(5));
        let expected = Disturbed {
            began: Duration::from_millis(250),
            ended: Duration::from_millis(280),
            since: Duration::from_millis(280),
            until: Duration::from_millis(1020),
            requests: 6,
            ok: 4,
            errors: Errors { timeout: 1, refused: 1, ..Errors::default() },
            burst: Burst { ok: 0, errors: 1 },
            first_right: Some(Duration::from_millis(3)),
            recovery: Recovery { took: Duration::from_millis(3), complete: true },
        };
        assert_eq!(outcome.disturbed, Some(expected));
        assert_eq!(counts(&outcome.intervals)[..4], [(-100, 1, 0), (0, 0, 0), (100, 0, 0), (200, 4, 3)]);
        assert_eq!(outcome.intervals.len(), 12);
    }

    #[test]
    fn a_disturbance_that_was_cut_short_says_nothing() {
        let mut on_event = |_: Event| {};
        let mut recorder = recorder(0, Some(100 * MS), &mut on_event);
        recorder.ok(0, 110 * MS);
        let outcome = recorder.close(120 * MS, true);
        assert_eq!((outcome.elapsed, outcome.disturbed), (Duration::from_millis(100), None));
    }

    #[test]
    fn the_first_second_is_that_of_the_load() {
        for opens in [0, 400 * MS, 1000 * MS, 1500 * MS] {
            let mut on_event = |_: Event| {};
            let mut recorder = recorder(opens, None, &mut on_event);
            recorder.ok(0, 399 * MS);
            recorder.failed(Failure::Status, 399 * MS);
            recorder.ok(0, 1000 * MS - 1);
            recorder.ok(0, 1000 * MS);
            assert_eq!(recorder.close(2000 * MS, false).first_second, Some(2), "{opens}");
        }
    }

    #[test]
    fn a_window_of_whole_intervals_has_no_empty_one_at_its_end() {
        let mut on_event = |_: Event| {};
        let mut without = recorder(0, None, &mut on_event);
        without.ok(0, 200 * MS - 1);
        assert_eq!(without.close(200 * MS, false).intervals.len(), 2);
        // A limit of requests ends with the last of them.
        let mut on_event = |_: Event| {};
        let mut with = recorder(0, None, &mut on_event);
        with.ok(0, 200 * MS);
        let outcome = with.close(200 * MS, false);
        assert_eq!((outcome.intervals.len(), outcome.response.len()), (3, 1));
        assert_eq!(outcome.times.from(200).1.len(), 1);
    }

    #[test]
    fn a_window_that_never_opened_is_empty() {
        let mut on_event = |_: Event| {};
        let mut recorder = recorder(150 * MS, None, &mut on_event);
        recorder.ok(0, MS);
        let outcome = recorder.close(2 * MS, true);
        assert_eq!((outcome.requests, outcome.warm_up_requests, outcome.elapsed), (0, 1, Duration::ZERO));
        assert_eq!(counts(&outcome.intervals), [(-200, 1, 0)]);
        assert!(outcome.stopped);
    }
}
