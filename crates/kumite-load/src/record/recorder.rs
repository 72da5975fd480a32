//! Recorder: one thread's counts and times of finished requests, in the warm-up, in the window, and after it.
//!
//! The engine tells it each finished request once, with the instants at which it was due, sent and finished; all are
//! ns since the load began. In a closed loop a request belongs to the stretch of time in which it *finished*, in an
//! open loop to that in which its session was *due*: so no request is lost that a slow server answered only after the
//! window, and a session is counted whole.
//!
//! Time moves on with [`Recorder::advance`], which is called first whenever a request or a reconnect is counted. It
//! opens and closes the window and ends intervals at the very instants that were planned, in their order, however
//! late it is called. The thread's CPU clock is read when the recorder first sees a time past the window's start, so
//! a window's CPU time is right to one batch of events.

#[cfg(test)]
mod tests;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::in_flight::InFlight;
use crate::record::aggregate::{EngineEvent, IntervalCounts};
use crate::record::by_step::BySteps;
use crate::record::errors::{Errors, Failure};
use crate::record::log::{Finished, Log, WrongStatus};
use crate::record::opener::Opener;
use crate::record::outcome::{Burst, Disturbed, Outcome};
use crate::record::recovery::{self, Episodes};
use crate::record::times::{INTERVAL_MS, INTERVAL_NS};

const FIRST_SECOND_NS: u64 = 1_000_000_000;

/// The place of the window in the load, and which requests belong to it. Instants are ns since the load began.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// The instant at which the window opens.
    pub opens: u64,
    /// The instant at which the window closes; `u64::MAX` if it closes with the load.
    pub closes: u64,
    /// The time-out in ns.
    pub timeout: u64,
    /// A request belongs to the stretch of time in which it was due, as in an open loop. Otherwise to that in which
    /// it finished.
    pub by_due: bool,
}

impl Span {
    fn advanced(self, by: u64) -> Span {
        let closes = if self.closes == u64::MAX { u64::MAX } else { self.closes - by };
        Span { opens: self.opens - by, closes, ..self }
    }
}

/// Counts and times the finished requests of one thread.
pub(crate) struct Recorder<'a> {
    tell: &'a mut dyn FnMut(EngineEvent),
    phase: Phase,
    span: Span,
    /// The handle that may open the window sooner; `None` if there is none, or the window is open.
    opener: Option<Opener>,
    /// The time in ns by which the window opens sooner than planned, until
    /// [`take_opening_advance`](Self::take_opening_advance) has told the engine; 0 otherwise.
    opening_advance_ns: u64,
    /// The next instant at which an interval or a stretch of time ends. So the time of an answer is compared with one
    /// instant only.
    next_boundary_ns: u64,
    counts: [Counts; 3],
    episodes: Episodes,
    steady: u64,
    /// The instant at which the disturbance was over; `None` before, and without a disturbance.
    injection_over_at: Option<u64>,
    burst: Burst,
    cpu_at_open: Duration,
    spun_ns_at_open: u64,
    /// The time in ns in which the engine was awake only so as not to oversleep.
    spun_ns: u64,
    /// The instant at which the present interval ends.
    interval_ends_ns: u64,
    /// The thread's CPU time, less the time that it spun, when the present interval began.
    interval_busy: Duration,
    interval: IntervalCounts,
    by_steps: BySteps,
    log: Option<Log>,
    outcome: Outcome,
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
    pub fn new(
        span: Span,
        opener: Option<Opener>,
        by_steps: BySteps,
        log: Option<Log>,
        tell: &'a mut dyn FnMut(EngineEvent),
    ) -> Recorder<'a> {
        let steady = recovery::steady(span.timeout);
        let opens = span.opens;
        Recorder {
            tell,
            phase: Phase::WarmUp,
            span,
            opener,
            opening_advance_ns: 0,
            next_boundary_ns: 0,
            counts: Default::default(),
            episodes: Episodes::new(steady),
            steady,
            injection_over_at: None,
            burst: Burst::default(),
            cpu_at_open: Duration::ZERO,
            spun_ns_at_open: 0,
            spun_ns: 0,
            interval_ends_ns: match opens % INTERVAL_NS {
                0 => INTERVAL_NS,
                rest => rest,
            },
            interval_busy: Duration::ZERO,
            interval: IntervalCounts::new(-((opens.div_ceil(INTERVAL_NS) * INTERVAL_MS) as i64), span.by_due),
            by_steps,
            log,
            outcome: Outcome::default(),
        }
    }

    /// Moves on to `now`: opens and closes the window, and ends intervals, each at its own instant.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        while now >= self.next_boundary_ns {
            self.cross(self.next_boundary_ns);
        }
    }

    /// Counts a right answer, which came at `now`, of a session that was due at `began`. Response time is `now - due`,
    /// service time `now - sent`. The time to its first byte counts from `due`, too.
    #[inline]
    pub fn record_right(&mut self, request: InFlight, began: u64, now: u64) {
        let InFlight { due, sent, step, first_byte, .. } = request;
        self.advance(now);
        self.episodes.right(now);
        let phase = self.phase_of(began);
        self.counts[phase as usize].ok += 1;
        self.interval.ok += 1;
        if let Some(log) = &mut self.log {
            log.add(Finished { due, sent: Some(sent), finished: now, failure: None, wrong_status: None });
        }
        let response = now.saturating_sub(due);
        let first_byte = first_byte.min(now).saturating_sub(due);
        if phase == Phase::Window {
            self.by_steps.right(step, response);
        }
        match phase {
            // It was due in the warm-up and comes in the window: it is not the window's, and the warm-up's intervals
            // are over.
            Phase::WarmUp if self.phase != Phase::WarmUp => {}
            Phase::After if self.span.by_due => self.interval.record_right_after_window(response, first_byte),
            _ => self.interval.record_right(response, first_byte, now.saturating_sub(sent)),
        }
    }

    /// Counts a request that failed at `now`. Its `sent` has no meaning if the failure came before sending.
    /// `wrong_status` is the answer, if it had another status and is to be logged.
    pub fn record_failure(
        &mut self,
        failure: Failure,
        wrong_status: Option<Box<WrongStatus>>,
        request: InFlight,
        began: u64,
        now: u64,
    ) {
        let InFlight { due, sent, step, .. } = request;
        self.advance(now);
        self.episodes.failed(now);
        let phase = self.phase_of(began);
        self.interval.errors += 1;
        self.counts[phase as usize].errors.count(failure);
        if phase == Phase::Window {
            self.by_steps.failed(step, failure);
        }
        if let Some(log) = &mut self.log {
            let sent = (!failure.is_before_sending()).then_some(sent);
            log.add(Finished { due, sent, finished: now, failure: Some(failure), wrong_status });
        }
    }

    /// Counts a session of several steps that belongs to the window. It was due at `began` and ended at `now` with this
    /// step: its last, or one that failed. `right` is true if it did not fail; then its time is kept, too. Does nothing
    /// for other sessions.
    pub fn record_session(&mut self, step: u32, right: bool, began: u64, now: u64) {
        if self.phase_of(began) == Phase::Window {
            self.by_steps.session(step, right, now.saturating_sub(began));
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

    /// Records that the engine came `by` ns late for a request of an open loop, though a connection was free, or too
    /// late to send it at all.
    #[inline]
    pub fn record_send_lag(&mut self, due: u64, by: u64) {
        if self.phase_of(due) == Phase::Window {
            self.outcome.send_lag.record(by).expect("a histogram that grows takes any value");
        }
    }

    /// Records that an answer was read `by` ns after the engine had last looked for answers.
    #[inline]
    pub fn record_receive_lag(&mut self, by: u64) {
        if self.phase == Phase::Window {
            self.outcome.receive_lag.record(by).expect("a histogram that grows takes any value");
        }
    }

    /// Counts `time` ns in which the engine was awake only so as not to oversleep.
    #[inline]
    pub fn record_spin(&mut self, time: u64) {
        self.spun_ns += time;
    }

    /// Records the number of requests that are due and have no connection.
    pub fn record_backlog(&mut self, requests: usize) {
        self.interval.backlog = self.interval.backlog.max(requests as u64);
    }

    /// Counts a right answer that came after the end of a closed loop. Its request is in no other count.
    pub fn count_drained(&mut self) {
        self.outcome.drained += 1;
    }

    /// Counts requests that had no right answer after the end of a closed loop. They are in no other count.
    pub fn count_unanswered(&mut self, requests: usize) {
        self.outcome.unanswered += requests as u64;
    }

    /// Counts a request as one of a burst, besides its other counts.
    pub fn count_burst(&mut self, right: bool) {
        *if right { &mut self.burst.ok } else { &mut self.burst.errors } += 1;
    }

    /// Keeps a description of the first failure, so that a reader of the counts need not guess. `describe` is called
    /// only if none is kept yet.
    pub fn describe_first_wrong(&mut self, describe: impl FnOnce() -> String) {
        self.outcome.first_wrong.get_or_insert_with(describe);
    }

    /// Counts a connection on which, after the end of a closed loop, bytes came that were no answer to any request.
    /// They are no request.
    pub fn count_unasked(&mut self, describe: impl FnOnce() -> String) {
        self.describe_first_wrong(describe);
        self.outcome.unasked += 1;
    }

    /// Counts a connection that carried no request and ended.
    pub fn count_idle_ended(&mut self) {
        self.outcome.idle_ended += 1;
    }

    /// Records the number of connections that carry no request and are open at the end.
    pub fn record_idle_open(&mut self, connections: usize) {
        self.outcome.idle_open = connections as u64;
    }

    /// `true` if no failure has been described yet.
    pub fn lacks_first_wrong(&self) -> bool {
        self.outcome.first_wrong.is_none()
    }

    /// Counts a connection established in place of one that had ended.
    pub fn count_reconnect(&mut self, now: u64) {
        self.advance(now);
        self.counts[self.phase as usize].reconnects += 1;
    }

    /// Notes that the disturbance itself is over: from `now` on the server can be expected to answer.
    pub fn injection_over(&mut self, now: u64) {
        self.advance(now);
        self.injection_over_at = Some(now);
        self.episodes.injected(now);
    }

    /// Passes an event to the caller of the engine.
    pub fn tell(&mut self, what: EngineEvent) {
        (self.tell)(what);
    }

    /// The next instant at which [`advance`](Self::advance) has something to do.
    pub fn next_boundary_ns(&self) -> u64 {
        self.next_boundary_ns
    }

    /// Ends the record. The load was over at `end`; `now` is when the last of its requests was finished.
    pub fn close(mut self, end: u64, now: u64, stopped: bool) -> Outcome {
        self.advance(if self.span.by_due { now.max(end) } else { end });
        match self.phase {
            Phase::WarmUp => self.end_warm_up(),
            Phase::Window => self.close_window(end),
            Phase::After => self.end_watch(end),
        }
        // The last answer may have come in the very moment of the end, after an interval.
        let interval_began = self.interval_ends_ns.saturating_sub(INTERVAL_NS);
        if end > interval_began || !self.interval.is_empty() {
            self.end_interval();
        }
        let [warm_up, window, _] = self.counts;
        self.outcome.warm_up_requests = warm_up.ok + warm_up.errors.total();
        self.outcome.warm_up_errors = warm_up.errors;
        self.outcome.ok = window.ok;
        self.outcome.errors = window.errors;
        self.outcome.reconnects = window.reconnects;
        if window.errors.unsent > 0 {
            // If another failure has words, those say more.
            self.outcome.first_wrong.get_or_insert_with(|| {
                "unsent: no connection was free for a request within the time-out after it was due, or this machine stood \
                 still"
                    .to_owned()
            });
        }
        self.outcome.stopped = stopped;
        self.outcome.sessions = self.by_steps.finish();
        if let Some(log) = self.log {
            (self.outcome.log, self.outcome.unlogged) = (log.finished, log.unlogged);
        }
        self.outcome
    }

    fn cross(&mut self, at: u64) {
        if at == self.interval_ends_ns {
            self.look_for_opening(at);
            self.end_interval();
            self.interval_ends_ns += INTERVAL_NS;
        }
        if at == 0 {
            // To open an open loop's connections before the load began is not work of its first interval.
            self.interval_busy = thread_cpu();
        }
        if at == FIRST_SECOND_NS {
            self.outcome.first_second = Some(self.counts.iter().map(|counts| counts.ok).sum());
        }
        if at == self.span.opens {
            self.end_warm_up();
            self.cpu_at_open = thread_cpu();
            self.spun_ns_at_open = self.spun_ns;
            self.phase = Phase::Window;
            self.interval.begin_window();
        }
        if at == self.span.closes {
            self.close_window(at);
        }
        let instants = [self.interval_ends_ns, FIRST_SECOND_NS, self.span.opens, self.span.closes];
        self.next_boundary_ns =
            instants.into_iter().filter(|instant| *instant > at).min().unwrap_or(u64::MAX);
    }

    /// The time in ns by which the window opens and closes sooner than planned. It is returned once, and 0 after
    /// that.
    #[inline]
    pub fn take_opening_advance(&mut self) -> u64 {
        std::mem::take(&mut self.opening_advance_ns)
    }

    fn look_for_opening(&mut self, at: u64) {
        let opens = self.opener.as_ref().and_then(|opener| opener.reach(at));
        if let Some(opens) = opens.filter(|opens| self.phase == Phase::WarmUp && *opens < self.span.opens) {
            self.opening_advance_ns = self.span.opens - opens;
            self.span = self.span.advanced(self.opening_advance_ns);
        }
    }

    fn end_warm_up(&mut self) {
        self.opener = None;
        self.episodes = Episodes::new(self.steady);
    }

    fn close_window(&mut self, end: u64) {
        self.outcome.cpu = thread_cpu().saturating_sub(self.cpu_at_open);
        self.outcome.elapsed = Duration::from_nanos(end - self.span.opens);
        let busy = self.outcome.cpu.saturating_sub(Duration::from_nanos(self.spun_ns - self.spun_ns_at_open));
        self.outcome.busiest = busy.as_secs_f64() / self.outcome.elapsed.as_secs_f64().max(1e-9);
        self.outcome.recovery = self.episodes.longest(end);
        if !self.span.by_due {
            self.interval.close_window();
        }
        self.episodes = Episodes::new(self.steady);
        self.phase = Phase::After;
    }

    fn end_watch(&mut self, end: u64) {
        let since_opening = |at: u64| Duration::from_nanos(at - self.span.opens);
        let Counts { ok, errors, .. } = &self.counts[Phase::After as usize];
        self.outcome.disturbed = self.injection_over_at.map(|ended| Disturbed {
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
        let busy = thread_cpu().saturating_sub(Duration::from_nanos(self.spun_ns));
        self.interval.busy = busy.saturating_sub(self.interval_busy);
        self.interval_busy = busy;
        self.interval.measured |= match self.phase {
            Phase::WarmUp => false,
            Phase::Window => true,
            Phase::After => self.span.by_due,
        };
        (self.tell)(EngineEvent::Interval(&self.interval));
        self.interval.begin_next();
    }
}

fn thread_cpu() -> Duration {
    let cpu = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(cpu.tv_sec.unsigned_abs(), cpu.tv_nsec.unsigned_abs() as u32)
}
