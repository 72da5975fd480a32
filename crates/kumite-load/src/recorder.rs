//! Recorder: counts and times of finished requests, in the measured window, before it and after it.
//!
//! All times are ns since the run began. In a closed loop a request belongs to the stretch of time in which it finished, in
//! an open loop to that in which it was due: so none is lost that a slow server answered only after the window.
//!
//! The thread's CPU clock is read when the recorder first sees a time past the window's start, so a window's CPU time is
//! right to one batch of events.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::log::{Finished, Log, Said};
use crate::outcome::{Burst, Disturbed, Errors, Outcome};
use crate::recovery::{self, Episodes};
use crate::share::{Part, Told};

pub(crate) const INTERVAL_NS: u64 = 100_000_000;
pub(crate) const INTERVAL_MS: u64 = 100;
const FIRST_SECOND_NS: u64 = 1_000_000_000;

/// How a request failed: the kinds of [`Errors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// [`Errors::status`].
    Status,
    /// [`Errors::body`].
    Body,
    /// [`Errors::timeout`].
    Timeout,
    /// [`Errors::unsent`].
    Unsent,
    /// [`Errors::refused`].
    Refused,
    /// [`Errors::connect`].
    Connect,
    /// [`Errors::reset`].
    Reset,
    /// [`Errors::closed`].
    Closed,
    /// [`Errors::malformed`].
    Malformed,
}

impl Failure {
    /// Whether no request was sent.
    fn is_before_sending(self) -> bool {
        matches!(self, Failure::Unsent | Failure::Refused | Failure::Connect)
    }
}

/// When the parts of a run are.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// When the window opens.
    pub opens: u64,
    /// When it closes; `u64::MAX` for with the load.
    pub closes: u64,
    /// The time-out.
    pub timeout: u64,
    /// An open loop: requests belong to where they were due.
    pub by_due: bool,
}

/// Counts finished requests.
pub(crate) struct Recorder<'a> {
    tell: &'a mut dyn FnMut(Told),
    phase: Phase,
    span: Span,
    /// Before this nothing ends and nothing begins, so that an answer has only one time to be compared with.
    due: u64,
    counts: [Counts; 3],
    episodes: Episodes,
    steady: u64,
    /// When the injection was over.
    ended: Option<u64>,
    burst: Burst,
    cpu_at_open: Duration,
    spun_at_open: u64,
    /// Time in which the engine only waited, though awake.
    spun: u64,
    /// When the interval that is being filled ends.
    interval_ends: u64,
    /// Busy time of the thread at the interval's start.
    interval_busy: Duration,
    part: Part,
    log: Option<Log>,
    share: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// A recorder of these parts of a run; with a log, if that is wanted.
    pub fn new(span: Span, log: Option<Log>, tell: &'a mut dyn FnMut(Told)) -> Recorder<'a> {
        let steady = recovery::steady(span.timeout);
        let opens = span.opens;
        Recorder {
            tell,
            phase: Phase::WarmUp,
            span,
            due: 0,
            counts: Default::default(),
            episodes: Episodes::new(steady),
            steady,
            ended: None,
            burst: Burst::default(),
            cpu_at_open: Duration::ZERO,
            spun_at_open: 0,
            spun: 0,
            interval_ends: match opens % INTERVAL_NS {
                0 => INTERVAL_NS,
                rest => rest,
            },
            interval_busy: Duration::ZERO,
            part: Part::new(-((opens.div_ceil(INTERVAL_NS) * INTERVAL_MS) as i64), span.by_due),
            log,
            share: Outcome::default(),
        }
    }

    /// Moves on to `now`: opens and closes the window, ends intervals.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        while now >= self.due {
            self.pass(self.due);
        }
    }

    /// Counts a right answer to what was due and sent then.
    #[inline]
    pub fn ok(&mut self, due: u64, sent: u64, now: u64) {
        self.advance(now);
        self.episodes.right(now);
        let phase = self.phase_of(due);
        self.counts[phase as usize].ok += 1;
        self.part.ok += 1;
        if let Some(log) = &mut self.log {
            log.add(Finished { due, sent: Some(sent), finished: now, failure: None, said: None });
        }
        let response = now.saturating_sub(due);
        match phase {
            // It is not the window's, and the warm-up's intervals are over.
            Phase::WarmUp if self.phase != Phase::WarmUp => {}
            Phase::After if self.span.by_due => self.part.add_after(response),
            _ => self.part.add(response, now.saturating_sub(sent)),
        }
    }

    /// Counts a request that failed. It was sent then, unless the failure came before that; `said` is what the answer was
    /// instead, if there was one and it is wanted.
    pub fn failed(&mut self, failure: Failure, said: Option<Box<Said>>, due: u64, sent: u64, now: u64) {
        self.advance(now);
        self.episodes.failed(now);
        let phase = self.phase_of(due);
        self.part.errors += 1;
        let errors = &mut self.counts[phase as usize].errors;
        *match failure {
            Failure::Status => &mut errors.status,
            Failure::Body => &mut errors.body,
            Failure::Timeout => &mut errors.timeout,
            Failure::Unsent => &mut errors.unsent,
            Failure::Refused => &mut errors.refused,
            Failure::Connect => &mut errors.connect,
            Failure::Reset => &mut errors.reset,
            Failure::Closed => &mut errors.closed,
            Failure::Malformed => &mut errors.malformed,
        } += 1;
        if let Some(log) = &mut self.log {
            let sent = (!failure.is_before_sending()).then_some(sent);
            log.add(Finished { due, sent, finished: now, failure: Some(failure), said });
        }
    }

    #[inline]
    fn phase_of(&self, due: u64) -> Phase {
        if !self.span.by_due {
            self.phase
        } else if due < self.span.opens {
            Phase::WarmUp
        } else if due < self.span.closes {
            Phase::Window
        } else {
            Phase::After
        }
    }

    /// How late the engine came for a request of an open loop, though a connection was free or it came too late to send it.
    #[inline]
    pub fn sent_late(&mut self, due: u64, by: u64) {
        if self.phase_of(due) == Phase::Window {
            self.share.send_lag.record(by).expect("a histogram that grows takes any value");
        }
    }

    /// How long an answer may have waited until it was read, at most.
    #[inline]
    pub fn read_late(&mut self, by: u64) {
        if self.phase == Phase::Window {
            self.share.receive_lag.record(by).expect("a histogram that grows takes any value");
        }
    }

    /// The engine was awake for so long, and nothing happened.
    #[inline]
    pub fn spun(&mut self, time: u64) {
        self.spun += time;
    }

    /// How many requests are due and have no connection.
    pub fn backlog(&mut self, requests: usize) {
        self.part.backlog = self.part.backlog.max(requests as u64);
    }

    /// An answer that came after the end of a closed loop, to a request that is in no count.
    pub fn drained(&mut self) {
        self.share.drained += 1;
    }

    /// Counts a request, which is also counted as any other, as one of a burst.
    pub fn of_burst(&mut self, right: bool) {
        *if right { &mut self.burst.ok } else { &mut self.burst.errors } += 1;
    }

    /// Keeps the first wrong answer in words, so that whoever reads the counts need not guess.
    pub fn wrong(&mut self, description: String) {
        self.share.first_wrong.get_or_insert(description);
    }

    /// Whether no wrong answer has been described.
    pub fn wants_wrong(&self) -> bool {
        self.share.first_wrong.is_none()
    }

    /// Counts a connection established in place of one that had ended.
    pub fn reconnected(&mut self, now: u64) {
        self.advance(now);
        self.counts[self.phase as usize].reconnects += 1;
    }

    /// The injection is over: from now on the server can be expected to answer.
    pub fn ended(&mut self, now: u64) {
        self.advance(now);
        self.ended = Some(now);
        self.episodes.injected(now);
    }

    /// Tells whoever watches.
    pub fn tell(&mut self, what: Told) {
        (self.tell)(what);
    }

    /// When something is due that nothing else will announce.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// Ends it: the load was over at `end`, and `now` is when the last of its requests was finished.
    pub fn close(mut self, end: u64, now: u64, stopped: bool) -> Outcome {
        self.advance(if self.span.by_due { now.max(end) } else { end });
        match self.phase {
            Phase::WarmUp => self.end_warm_up(),
            Phase::Window => self.close_window(end),
            Phase::After => self.end_watch(end),
        }
        // The last answer may have come in the very moment of the end, after an interval.
        let interval_began = self.interval_ends.saturating_sub(INTERVAL_NS);
        if end > interval_began || !self.part.is_empty() {
            self.end_interval();
        }
        let [warm_up, window, _] = self.counts;
        self.share.warm_up_requests = warm_up.ok + warm_up.errors.total();
        self.share.warm_up_errors = warm_up.errors;
        self.share.ok = window.ok;
        self.share.errors = window.errors;
        self.share.reconnects = window.reconnects;
        self.share.stopped = stopped;
        if let Some(log) = self.log {
            (self.share.log, self.share.unlogged) = (log.finished, log.unlogged);
        }
        self.share
    }

    fn pass(&mut self, at: u64) {
        if at == self.interval_ends {
            self.end_interval();
            self.interval_ends += INTERVAL_NS;
        }
        if at == 0 {
            // What was done before the load began, to open connections, is not of its first interval.
            self.interval_busy = thread_cpu();
        }
        if at == FIRST_SECOND_NS {
            self.share.first_second = Some(self.counts.iter().map(|counts| counts.ok).sum());
        }
        if at == self.span.opens {
            self.end_warm_up();
            self.cpu_at_open = thread_cpu();
            self.spun_at_open = self.spun;
            self.phase = Phase::Window;
        }
        if at == self.span.closes {
            self.close_window(at);
        }
        let instants = [self.interval_ends, FIRST_SECOND_NS, self.span.opens, self.span.closes];
        self.due = instants.into_iter().filter(|instant| *instant > at).min().unwrap_or(u64::MAX);
    }

    fn end_warm_up(&mut self) {
        self.episodes = Episodes::new(self.steady);
    }

    fn close_window(&mut self, end: u64) {
        self.share.cpu = thread_cpu().saturating_sub(self.cpu_at_open);
        self.share.elapsed = Duration::from_nanos(end - self.span.opens);
        let busy = self.share.cpu.saturating_sub(Duration::from_nanos(self.spun - self.spun_at_open));
        self.share.busiest = busy.as_secs_f64() / self.share.elapsed.as_secs_f64().max(1e-9);
        self.share.recovery = self.episodes.longest(end);
        if !self.span.by_due {
            self.part.close_window();
        }
        self.episodes = Episodes::new(self.steady);
        self.phase = Phase::After;
    }

    fn end_watch(&mut self, end: u64) {
        let since_opening = |at: u64| Duration::from_nanos(at - self.span.opens);
        let Counts { ok, errors, .. } = &self.counts[Phase::After as usize];
        self.share.disturbed = self.ended.map(|ended| Disturbed {
            began: since_opening(self.span.closes),
            ended: since_opening(ended),
            since: since_opening(self.episodes.since()),
            until: since_opening(end),
            requests: ok + errors.total(),
            ok: *ok,
            errors: *errors,
            burst: self.burst,
            first_right: self.episodes.first_right(),
            recovery: self.episodes.first(end),
        });
    }

    fn end_interval(&mut self) {
        let busy = thread_cpu().saturating_sub(Duration::from_nanos(self.spun));
        self.part.busy = busy.saturating_sub(self.interval_busy);
        self.interval_busy = busy;
        self.part.measured |= match self.phase {
            Phase::WarmUp => false,
            Phase::Window => true,
            Phase::After => self.span.by_due,
        };
        (self.tell)(Told::Part(&self.part));
        self.part.next();
    }
}

fn thread_cpu() -> Duration {
    let cpu = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(cpu.tv_sec.unsigned_abs(), cpu.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::Collector;
    use crate::{Event, Interval, Recovery};

    const MS: u64 = 1_000_000;

    /// What is made of this, with a time-out of 100 ms: `end` is when the load was over.
    fn recorded(
        (opens, closes): (u64, Option<u64>),
        by_due: bool,
        end: u64,
        stopped: bool,
        feed: impl FnOnce(&mut Recorder),
    ) -> (Outcome, Vec<Interval>) {
        let mut seen = Vec::new();
        let mut on_event = |event: Event| {
            if let Event::Interval(interval) = event {
                seen.push(Interval { engine_cpu_s: 0.0, ..*interval });
            }
        };
        let mut collector = Collector::new(1, by_due, &mut on_event);
        let span = Span { opens, closes: closes.unwrap_or(u64::MAX), timeout: 100 * MS, by_due };
        let mut tell = |told: Told| collector.take(told);
        let mut recorder = Recorder::new(span, Some(Log::of_thread(1)), &mut tell);
        feed(&mut recorder);
        let share = recorder.close(end, end, stopped);
        (collector.finish(vec![share], crate::Pace::default()), seen)
    }

    fn counts(intervals: &[Interval]) -> Vec<(i64, u64, u64)> {
        intervals.iter().map(|i| (i.start_ms, i.ok, i.errors)).collect()
    }

    #[test]
    fn counts_by_the_time_of_finishing() {
        let (outcome, seen) = recorded((50 * MS, None), false, 420 * MS, false, |recorder| {
            recorder.ok(0, 0, 49 * MS);
            recorder.failed(Failure::Status, None, 0, 0, 49 * MS);
            recorder.reconnected(49 * MS);
            recorder.ok(45 * MS, 45 * MS, 50 * MS);
            recorder.ok(49 * MS, 49 * MS, 149 * MS);
            recorder.failed(Failure::Reset, None, 0, 0, 150 * MS);
            recorder.reconnected(150 * MS);
            recorder.ok(400 * MS, 400 * MS, 410 * MS);
        });

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
        assert_eq!(counts(&outcome.intervals), counts(&seen));
        assert_eq!(counts(&seen), [(-100, 1, 1), (0, 2, 0), (100, 0, 1), (200, 0, 0), (300, 1, 0)]);
        assert_eq!(seen[1].mean_us, 52_500.0);
        assert!((seen[1].max_us / 100_000.0 - 1.0).abs() < 1e-3);
        assert_eq!((seen[2].mean_us, seen[2].p50_us, seen[2].max_us), (0.0, 0.0, 0.0));
    }

    #[test]
    fn what_comes_after_the_window_is_not_in_it() {
        let (outcome, _) = recorded((100 * MS, Some(350 * MS)), false, 1120 * MS, false, |recorder| {
            let sent = 300 * MS;
            recorder.ok(0, 0, 99 * MS);
            recorder.failed(Failure::Closed, None, sent, sent, 340 * MS);
            recorder.ok(sent, sent, 349 * MS);
            recorder.ok(sent, sent, 350 * MS);
            recorder.reconnected(350 * MS);
            recorder.failed(Failure::Timeout, None, sent, sent, 360 * MS);
            recorder.ok(360 * MS, 360 * MS, 361 * MS);
            recorder.of_burst(false);
            recorder.failed(Failure::Refused, None, sent, sent, 370 * MS);
            recorder.ended(380 * MS);
            recorder.ok(sent, sent, 383 * MS);
            recorder.ok(1100 * MS, 1100 * MS, 1110 * MS);
        });

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
        let (outcome, _) =
            recorded((0, Some(100 * MS)), false, 120 * MS, true, |recorder| recorder.ok(0, 0, 110 * MS));
        assert_eq!((outcome.elapsed, outcome.disturbed), (Duration::from_millis(100), None));
    }

    #[test]
    fn the_first_second_is_that_of_the_load() {
        for opens in [0, 400 * MS, 1000 * MS, 1500 * MS] {
            let (outcome, _) = recorded((opens, None), false, 2000 * MS, false, |recorder| {
                recorder.ok(0, 0, 399 * MS);
                recorder.failed(Failure::Status, None, 0, 0, 399 * MS);
                recorder.ok(0, 0, 1000 * MS - 1);
                recorder.ok(0, 0, 1000 * MS);
            });
            assert_eq!(outcome.first_second, Some(2), "{opens}");
        }
    }

    #[test]
    fn a_window_of_whole_intervals_has_no_empty_one_at_its_end() {
        let at = |at| recorded((0, None), false, 200 * MS, false, move |recorder| recorder.ok(0, 0, at)).0;
        assert_eq!(at(200 * MS - 1).intervals.len(), 2);
        // A limit of requests ends with the last of them.
        let outcome = at(200 * MS);
        assert_eq!((outcome.intervals.len(), outcome.response.len()), (3, 1));
        assert_eq!(outcome.times.from(200).1.len(), 1);
    }

    #[test]
    fn a_window_that_never_opened_is_empty() {
        let (outcome, _) = recorded((150 * MS, None), false, 2 * MS, true, |recorder| recorder.ok(0, 0, MS));
        assert_eq!((outcome.requests, outcome.warm_up_requests, outcome.elapsed), (0, 1, Duration::ZERO));
        assert_eq!(counts(&outcome.intervals), [(-200, 1, 0)]);
        assert!(outcome.stopped);
    }

    #[test]
    fn what_is_due_after_the_window_of_an_open_loop_is_in_none_of_its_figures() {
        let (outcome, seen) = recorded((0, Some(150 * MS)), true, 400 * MS, false, |recorder| {
            recorder.ok(0, 0, 50 * MS);
            recorder.ok(100 * MS, 100 * MS, 110 * MS);
            recorder.ended(150 * MS);
            recorder.ok(150 * MS, 150 * MS, 152 * MS);
            recorder.ok(149 * MS, 160 * MS, 169 * MS);
            recorder.ok(220 * MS, 220 * MS, 221 * MS);
            recorder.ok(140 * MS, 140 * MS, 320 * MS);
        });
        let times = |of: &crate::Histogram<u64>| {
            of.iter_recorded().map(|bin| bin.value_iterated_to() / MS).collect::<Vec<_>>()
        };
        assert_eq!((outcome.ok, outcome.disturbed.map(|it| it.ok)), (4, Some(2)));
        assert_eq!(times(&outcome.response), [10, 20, 50, 180]);
        assert_eq!(times(&outcome.service), [9, 10, 50, 180]);
        assert_eq!(counts(&seen), [(0, 1, 0), (100, 3, 0), (200, 1, 0), (300, 1, 0)]);
        assert_eq!(
            seen.iter().map(|it| it.mean_us / 1e3).collect::<Vec<_>>(),
            [50.0, 32.0 / 3.0, 1.0, 180.0]
        );
    }

    #[test]
    fn in_an_open_loop_a_request_belongs_to_where_it_was_due() {
        let (outcome, seen) = recorded((100 * MS, Some(300 * MS)), true, 300 * MS, false, |recorder| {
            recorder.ok(10 * MS, 11 * MS, 20 * MS);
            // Due in the warm-up, answered in the window.
            recorder.ok(99 * MS, 99 * MS, 130 * MS);
            recorder.ok(100 * MS, 140 * MS, 150 * MS);
            recorder.sent_late(99 * MS, 3);
            recorder.sent_late(299 * MS, 7);
            recorder.failed(Failure::Unsent, None, 110 * MS, 110 * MS, 211 * MS);
            // Due in the window, answered after it.
            recorder.ok(299 * MS, 310 * MS, 389 * MS);
            recorder.failed(Failure::Timeout, None, 250 * MS, 250 * MS, 351 * MS);
        });
        assert_eq!((outcome.warm_up_requests, outcome.requests, outcome.ok), (2, 4, 2));
        assert_eq!(outcome.errors, Errors { unsent: 1, timeout: 1, ..Errors::default() });
        assert_eq!(outcome.elapsed, Duration::from_millis(200));
        let times = |of: &crate::Histogram<u64>| {
            of.iter_recorded().map(|bin| bin.value_iterated_to() / MS).collect::<Vec<_>>()
        };
        assert_eq!((times(&outcome.response), times(&outcome.service)), (vec![50, 90], vec![10, 79]));
        assert_eq!(outcome.send_lag.len(), 1);
        let last = (200, 1, 1);
        assert_eq!(counts(&seen), [(-100, 1, 0), (0, 2, 0), (100, 0, 1), last]);
        assert_eq!(outcome.response, outcome.times.from(0).1);
        let logged = |it: &Finished| (it.due / MS, it.sent.map(|at| at / MS), it.finished / MS, it.failure);
        assert_eq!(
            outcome.log.iter().map(logged).collect::<Vec<_>>(),
            [
                (10, Some(11), 20, None),
                (99, Some(99), 130, None),
                (100, Some(140), 150, None),
                (110, None, 211, Some(Failure::Unsent)),
                (250, Some(250), 351, Some(Failure::Timeout)),
                (299, Some(310), 389, None),
            ]
        );
    }
}
