//! The outcome of a load: all that is known of it once it has ended.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::io::Io;
use crate::record::by_step::SessionOutcome;
use crate::record::errors::Errors;
use crate::record::log::Finished;
use crate::record::times::{INTERVAL_MS, Times};
use crate::sampled::SampledAnswer;
use crate::schedule::pace::Pace;

/// Figures of one tenth of a second of a load.
///
/// An interval belongs to the warm-up if `start_ms` is below 0, to the window if `start_ms` is below the window's
/// length, and otherwise to the time after the window. If the window's length is not a multiple of 100 ms, its last
/// interval may hold some of the time after it. Answers that come in the window to requests that were due in an open
/// loop's warm-up are counted, but not timed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Interval {
    /// The interval's beginning, in ms since the window opened: a multiple of 100. The first interval began later
    /// than that if the warm-up is not a multiple of 100 ms, and the last one ended with the load.
    pub start_ms: i64,
    /// The number of right answers that came in the interval.
    pub ok: u64,
    /// The number of requests that failed in the interval.
    pub errors: u64,
    /// The mean response time of the right answers in µs, exact; 0 if there was no right answer.
    pub mean_us: f64,
    /// The median response time in µs, to three digits; 0 if there was no right answer.
    pub p50_us: f64,
    /// The 99th percentile of the response time in µs, to three digits; 0 if there was no right answer.
    pub p99_us: f64,
    /// The longest response time in µs, to three digits; 0 if there was no right answer.
    pub max_us: f64,
    /// The largest number of requests that were due and waited for a connection at the same time; 0 in a closed loop.
    /// With several threads it is the sum of each thread's largest number.
    pub backlog: u64,
    /// CPU time of the engine's threads in the interval, in seconds, without the time in which they only waited for a
    /// request to be due.
    pub engine_cpu_s: f64,
}

/// The outcome of a load. Unless a field says otherwise, it is that of the measured window, and `ok + errors.total()
/// == requests`.
///
/// In a closed loop the window has the requests that *finished* in it: requests in flight when it closes are in none
/// of its counts. In an open loop it has the requests that were *due* in it, even those answered later.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The number of finished requests, right or not.
    pub requests: u64,
    /// The number of right answers: whole, in time, with the expected status and body.
    pub ok: u64,
    /// The numbers of failed requests, by kind.
    pub errors: Errors,
    /// The first failure of one thread in words, the warm-up and the time after the window included: the wrong answer
    /// or the lack of one, or why a connection or a session (TLS, HTTP/2) failed or could not begin. `None` if
    /// nothing failed, or only requests outside the window that were not sent.
    pub first_wrong: Option<String>,
    /// The number of connections established in place of one that had ended.
    pub reconnects: u64,
    /// The number of connections held open beside the load ([`Load::idle_connections`](crate::Load::idle_connections))
    /// that were open when the load ended.
    pub idle_open: u64,
    /// The number of times that a connection held open beside the load ended after the load had begun. Each was opened
    /// again.
    pub idle_ended: u64,
    /// The length of the measured window: the duration asked for, or the time to the last request's finish, or to the
    /// stop. 0 if the window did not open.
    pub elapsed: Duration,
    /// Response times of the right answers in ns, to three digits. They count from when the request was due, which in
    /// a closed loop is the start of sending it, to when the engine saw the last byte of the answer. In a closed loop
    /// connecting is not in them; in an open loop the wait for a connection is.
    pub response: Histogram<u64>,
    /// The response times in ns, by when the answers came. The times of a later part of the window can be taken from
    /// them, for example after a warm-up whose end is found only later.
    pub response_over_time: Times,
    /// Times to the first byte of the right answers in ns, to three digits. They count from when the request was due,
    /// as response times do, to when the engine saw the first bytes of the answer, an interim one (1xx) included; in
    /// HTTP/2 its head must be whole. For an answer that came in one piece it is the response time.
    pub first_byte: Histogram<u64>,
    /// The times to the first byte in ns, by when the answers were whole.
    pub first_byte_over_time: Times,
    /// Service times of the right answers in ns, from the start of sending. In a closed loop they are the response
    /// times.
    pub service: Histogram<u64>,
    /// The service times in ns, by when the answers came.
    pub service_over_time: Times,
    /// The whole load in steps of 100 ms, in order and without gaps: the warm-up, the window, and the time after it.
    pub intervals: Vec<Interval>,
    /// `true` if the load was an open loop.
    pub open_loop: bool,
    /// The precision with which the open loop's schedule was to be kept.
    pub pace: Pace,
    /// The interface that moved the bytes: epoll or io_uring. It is `Auto` only in the outcome of a load that did
    /// nothing.
    pub io: Io,
    /// `true` if the engine had real-time priority, in each of its threads.
    pub real_time: bool,
    /// CPU time of the engine's threads in the window. Without [`Load::cores`](crate::Load::cores), or with a
    /// disturbance, it includes `on_event`.
    pub cpu: Duration,
    /// CPU time of the busiest thread in the window, divided by the window's length, without the time in which it
    /// only waited for a request to be due. 1 means that the thread had no headroom.
    pub busiest: f64,
    /// The lateness of an open loop's sending, in nanoseconds; empty in a closed loop. For a request that found a free
    /// connection it is the time from when the request was due to the start of sending. For a request that was not sent
    /// because the engine came to it more than a time-out too late, it is the time until the engine came.
    pub send_lag: Histogram<u64>,
    /// The lateness of reading in ns: the time from when the engine last looked for answers, or was woken by one, until
    /// it read an answer. An answer may have waited for so long, and its response time includes the wait.
    pub receive_lag: Histogram<u64>,
    /// The number of right answers to requests of a closed loop that were on their way when it ended. They are in no
    /// other count.
    pub drained: u64,
    /// The number of requests of a closed loop that were on their way when it ended, and had no right answer for as
    /// long as the engine waited: the time-out, at most 0.5 s. They are in no other count.
    pub unanswered: u64,
    /// The number of connections of a closed loop on which, after its end, an answer came that nobody had asked for.
    /// They are no requests, but the last answers that were counted may have been such answers, too.
    pub unasked: u64,
    /// `true` if the load was cut short by its `stop` flag.
    pub stopped: bool,
    /// The number of finished requests of the warm-up, right or not: in a closed loop those that finished before the
    /// window opened, in an open loop those that were due before.
    pub warm_up_requests: u64,
    /// The numbers of failed requests among `warm_up_requests`, by kind.
    pub warm_up_errors: Errors,
    /// The number of right answers in the first second of the load, even if it is part of the warm-up. A closed loop
    /// opens its connections in this second. `None` if the load was shorter.
    pub first_second: Option<u64>,
    /// The longest episode of failures in the window: from its first failure to the first right answer after which
    /// none failed for 1.5 time-outs. `None` if nothing failed.
    pub recovery: Option<Recovery>,
    /// The disturbance and the recovery from it; `None` if there was none, or if the run was stopped before it was
    /// over.
    pub disturbed: Option<Disturbed>,
    /// The figures by session and by step. Empty if the load has a single step: its figures are those of the whole
    /// load.
    pub sessions: Vec<SessionOutcome>,
    /// Every request that was counted, of the warm-up, of the window and of the time after it, in the order in which
    /// they were due. Empty unless [`Load::log`](crate::Load::log) is set.
    pub log: Vec<Finished>,
    /// The number of requests that are not in the log because it was full ([`LOG_LIMIT`](crate::LOG_LIMIT)).
    pub unlogged: u64,
    /// The right answers that [`Load::sampling`](crate::Load::sampling) chose. A chosen request has none if it failed,
    /// if its answer is longer than 16 MiB, or if there was no room left for its answer: all samples together have at
    /// most 64 MiB, shared evenly by the threads.
    pub sampled: Vec<SampledAnswer>,
}

/// The share of a CPU from which on a thread of the engine had no headroom: a late wake-up can then no longer be told
/// from a late answer.
const BOUND_SHARE: f64 = 0.9;
/// The shortest window in which the engine can be found bound: a shorter one is all beginning and end.
const SHORTEST_TO_JUDGE: Duration = Duration::from_millis(INTERVAL_MS);

impl Outcome {
    /// `true` if the engine had no headroom: in a window of 100 ms or more its busiest thread used 90 % of a CPU or
    /// more. The figures then say what the engine can do, not only what the server can.
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
            idle_open: 0,
            idle_ended: 0,
            elapsed: Duration::ZERO,
            response: histogram(),
            response_over_time: Times::default(),
            first_byte: histogram(),
            first_byte_over_time: Times::default(),
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
            sessions: Vec::new(),
            log: Vec::new(),
            unlogged: 0,
            sampled: Vec::new(),
        }
    }
}

/// The time until answers were right again, and stayed so for 1.5 time-outs. One time-out would be too short, because a
/// connection that hangs shows only then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovery {
    /// The time until answers were right again. If the recovery is not complete, it is a lower bound: the time to the
    /// right answer after the last failure, or to the end of looking if no such answer came.
    pub took: Duration,
    /// `true` if answers were seen to stay right for 1.5 time-outs; in a window with several episodes, after each of
    /// them.
    pub complete: bool,
}

/// A [`Disturbance`](crate::Disturbance) and the time after it, from the window's close to the end. `ok +
/// errors.total() == requests`. Instants are counted from the window's opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disturbed {
    /// The instant at which the window closed.
    pub began: Duration,
    /// The instant at which the disturbance itself was over: for a pause, [`Event::Resume`](crate::Event::Resume) had
    /// returned; for a burst, its last connect was begun; for a drop, the window had closed.
    pub ended: Duration,
    /// The instant that `first_right` and `recovery` count from: the later of `ended` and the first failure since
    /// `began`, because a stopped server cannot answer; `ended` if nothing failed.
    pub since: Duration,
    /// The instant at which watching ended. It began at `ended`, or when the last request of a burst was finished,
    /// which is at most two time-outs later.
    pub until: Duration,
    /// The number of finished requests since `began`, right or not, those of a burst included.
    pub requests: u64,
    /// The number of right answers since `began`.
    pub ok: u64,
    /// The numbers of failed requests since `began`, by kind.
    pub errors: Errors,
    /// The requests of a burst's own connections, which `requests` counts, too.
    pub burst: Burst,
    /// The time from `since` to the first right answer after it; `None` if none came.
    pub first_right: Option<Duration>,
    /// The time from `since` until answers were steady: to `ended` if answers were right by then, otherwise to the
    /// right answer with which the steady time begins. It is 0 if nothing failed.
    pub recovery: Recovery,
}

/// The counts of a burst's requests. Each of the burst's own connections has one request, which also fails if the
/// connection cannot be made. All of them are finished before watching begins, unless the run was stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Burst {
    /// The number of right answers.
    pub ok: u64,
    /// The number of failed requests.
    pub errors: u64,
}
