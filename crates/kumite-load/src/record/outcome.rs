//! The outcome of a load: all that is known of it when it has ended.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::record::errors::Errors;
use crate::record::log::Finished;
use crate::record::times::{INTERVAL_MS, Times};
use crate::schedule::pace::Pace;
use crate::transport::Io;

/// One tenth of a second of the load, from its start to its end.
///
/// Of the warm-up if `start_ms` is below 0, of the window if it is below the window's length, else of the disturbance
/// and what followed. Only where a window that is not a multiple of 100 ms is followed by a disturbance does an interval
/// hold some of both.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Interval {
    /// When it began, in ms since the window opened: a multiple of 100. The first one began later than it says if the
    /// warm-up is not a multiple of 100 ms, and the last one ended with the load.
    pub start_ms: i64,
    /// Right answers that came in it.
    pub ok: u64,
    /// Requests that failed in it.
    pub errors: u64,
    /// Mean response time of the right answers in µs, exact; 0 if there was none, as the three below.
    pub mean_us: f64,
    /// Median response time in µs, to three digits.
    pub p50_us: f64,
    /// 99th percentile of the response time in µs, to three digits.
    pub p99_us: f64,
    /// Longest response time in µs, to three digits.
    pub max_us: f64,
    /// The most requests that were due at the same time and waited for a connection; 0 in a closed loop.
    pub backlog: u64,
    /// CPU time of the engine's threads in it, but for what they only waited for a request to be due.
    pub engine_cpu_s: f64,
}

/// A load's outcome in its measured window, where nothing else is said; `ok + errors.total() == requests`.
///
/// In a closed loop the window has what *finished* in it: requests in flight when it closes are in none of its
/// counts. In an open loop it has what was *due* in it, also what was answered later.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Finished requests, right or not.
    pub requests: u64,
    /// Right answers: the expected status, the expected body, whole, in time.
    pub ok: u64,
    /// The others.
    pub errors: Errors,
    /// How the first request failed, in words, the warm-up included: what its answer was instead, or that there was none, and
    /// for which URL; or why a connection or a session (TLS, HTTP/2) failed or could not begin.
    pub first_wrong: Option<String>,
    /// Connections established in place of one that had ended.
    pub reconnects: u64,
    /// Length of the measured window: the duration asked for, or up to the last answer, or up to the stop.
    pub elapsed: Duration,
    /// Response times of the right answers in ns, to three digits: from when the request was due, which in a closed loop
    /// is the start of sending it, to the moment the engine saw the last byte of the answer. Connecting is not in it.
    pub response: Histogram<u64>,
    /// The same by when the answers came, in steps of 100 ms: for whoever wants the times of a part of the window alone,
    /// as after a warm-up that is found only later.
    pub response_over_time: Times,
    /// Service times in ns: from the start of sending. In a closed loop the same as the response times.
    pub service: Histogram<u64>,
    /// The service times by when the answers came.
    pub service_over_time: Times,
    /// The whole load in steps of 100 ms, in order and without gaps: the warm-up, the window, and what came after it.
    pub intervals: Vec<Interval>,
    /// The load was an open loop.
    pub open_loop: bool,
    /// How exactly its schedule was to be kept.
    pub pace: Pace,
    /// The interface that moved the bytes: epoll or io_uring, never `Auto`.
    pub io: Io,
    /// The engine's threads had real-time priority.
    pub real_time: bool,
    /// CPU time of the engine's threads in the window; with one thread `on_event` is included.
    pub cpu: Duration,
    /// CPU time of the busiest thread in the window, divided by its length, but for what it only waited for a request to
    /// be due: 1 for a thread without headroom.
    pub busiest: f64,
    /// Lateness of sending in ns, of an open loop; empty in a closed one. From when a request was due to the start of
    /// sending it, where a connection was free; or until the engine came for it, where that was later than a
    /// time-out, so that it was not sent.
    pub send_lag: Histogram<u64>,
    /// In ns: from when the engine last looked for answers, or was woken by one, to when an answer was read. It may have
    /// waited for so long, and that is in its response time.
    pub receive_lag: Histogram<u64>,
    /// Answers to requests of a closed loop that were on their way when it ended, and are in no other count.
    pub drained: u64,
    /// Requests of a closed loop that were on their way when it ended, and had no right answer for as long as the engine
    /// waited: the time-out, 0.5 s at most. They are in no other count.
    pub unanswered: u64,
    /// Connections of a closed loop on which an answer came after its end that nobody had asked for. It is no request; but what
    /// was taken for the answer to the last one there may have been such, too.
    pub unasked: u64,
    /// The run was cut short by its `stop` flag.
    pub stopped: bool,
    /// Requests finished before the window opened.
    pub warm_up_requests: u64,
    /// Requests that failed before the window opened.
    pub warm_up_errors: Errors,
    /// Right answers in the first second of the load, in which the connections are opened, whatever of it is warm-up;
    /// none if the load was shorter.
    pub first_second: Option<u64>,
    /// The longest episode of failures in the window: from its first failure to the first right answer after which
    /// none failed for 1.5 time-outs. `None` if nothing failed.
    pub recovery: Option<Recovery>,
    /// The disturbance and the recovery from it; `None` if there was none, or if the run was stopped before it was
    /// over.
    pub disturbed: Option<Disturbed>,
    /// If [`Load::log`](crate::Load::log) says so: every request that was counted, of the warm-up, of the window and of what
    /// came after it, in the order in which they were due.
    pub log: Vec<Finished>,
    /// Requests that are not in the log because it was full ([`LOG_LIMIT`](crate::LOG_LIMIT)).
    pub unlogged: u64,
}

/// From this share of a core on the engine had no headroom: a late wake-up can no longer be told from a late answer.
const BOUND_SHARE: f64 = 0.9;
/// A shorter time says nothing: it is all beginning and end.
const SHORTEST_TO_JUDGE: Duration = Duration::from_millis(INTERVAL_MS);

impl Outcome {
    /// The engine had no headroom: in a window of 100 ms or more its busiest thread used 90 % of a CPU or more. Then
    /// the figures say what the engine can do, not only what the server can.
    pub fn is_bound(&self) -> bool {
        self.busiest >= BOUND_SHARE && self.elapsed >= SHORTEST_TO_JUDGE
    }
}

impl Default for Outcome {
    /// The outcome of a load that did nothing.
    fn default() -> Outcome {
        let histogram = || Histogram::new(3).expect("3 is a precision that hdrhistogram has");
        Outcome {
            requests: 0,
            ok: 0,
            errors: Errors::default(),
            first_wrong: None,
            reconnects: 0,
            elapsed: Duration::ZERO,
            response: histogram(),
            response_over_time: Times::default(),
            service: histogram(),
            service_over_time: Times::default(),
            intervals: Vec::new(),
            open_loop: false,
            pace: Pace::default(),
            io: Io::Auto,
            real_time: false,
            cpu: Duration::ZERO,
            busiest: 0.0,
            send_lag: histogram(),
            receive_lag: histogram(),
            drained: 0,
            unanswered: 0,
            unasked: 0,
            stopped: false,
            warm_up_requests: 0,
            warm_up_errors: Errors::default(),
            first_second: None,
            recovery: None,
            disturbed: None,
            log: Vec::new(),
            unlogged: 0,
        }
    }
}

/// How long it took until answers were right, and stayed so for 1.5 time-outs. (A connection that hangs shows only after
/// one.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovery {
    /// The time. If it is not complete, a lower bound: up to the right answer that may have been the one, or, if there
    /// was none after the last failure, up to the end of looking.
    pub took: Duration,
    /// The steady time was seen to its end; in a window with several episodes, in each of them.
    pub complete: bool,
}

/// A [`Disturbance`](crate::Disturbance) and what followed it, from the window's close to the end; `ok +
/// errors.total() == requests`. Instants are counted from the window's opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disturbed {
    /// When the window closed.
    pub began: Duration,
    /// When the injection was over: [`Event::Resume`](crate::Event::Resume) had returned, or the last connect of a burst
    /// was begun.
    pub ended: Duration,
    /// The instant that `first_right` and `recovery` count from: the first failure since `began`, but never one from
    /// before `ended`, for a stopped server cannot answer. `ended` if nothing failed.
    pub since: Duration,
    /// When watching ended: it began at `ended`, or when the last of a burst's requests was finished, and that is at most
    /// two time-outs later.
    pub until: Duration,
    /// Finished requests, right or not, a burst's among them.
    pub requests: u64,
    /// Right answers.
    pub ok: u64,
    /// The others.
    pub errors: Errors,
    /// The requests of a burst's own connections, which are counted above, too.
    pub burst: Burst,
    /// From `since` to the first right answer after it; none if none came up to `until`.
    pub first_right: Option<Duration>,
    /// From `since` to the first instant from which answers were steady: `ended` itself, if answers were right again by
    /// then, or else a right answer. It is 0 if nothing failed.
    pub recovery: Recovery,
}

/// The requests of a burst's own connections, one each. All of them are finished before watching begins, but in a
/// run that was stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Burst {
    /// Right answers.
    pub ok: u64,
    /// Failures.
    pub errors: u64,
}
