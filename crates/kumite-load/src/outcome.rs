//! What a run found.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Finished requests that did not bring a right answer, by what went wrong. Each is counted once, as one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Errors {
    /// A whole answer, in time, with another status than expected (its body is not looked at).
    pub status: u64,
    /// A whole answer, in time, with the expected status and another body.
    pub body: u64,
    /// No whole answer within the time-out after the request was sent. An answer, or an error on the connection, that
    /// comes later than that is a time-out too.
    pub timeout: u64,
    /// No connection: the server refused it (ECONNREFUSED).
    pub refused: u64,
    /// No connection for any other reason: not within the time-out, no route, no free port (EADDRNOTAVAIL) or file.
    pub connect: u64,
    /// The connection broke off (ECONNRESET, EPIPE or another socket error) before the answer was whole.
    pub reset: u64,
    /// The server closed the connection before the answer was whole. Also: it ended a connection, in whatever way,
    /// that had brought right answers before, and sent no byte in answer to the last request on it.
    pub closed: u64,
    /// Bytes that are not one well-formed answer, or more bytes than the answer has.
    pub malformed: u64,
}

impl Errors {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }

    /// Each kind's name and count, in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("status", self.status),
            ("body", self.body),
            ("timeout", self.timeout),
            ("refused", self.refused),
            ("connect", self.connect),
            ("reset", self.reset),
            ("closed", self.closed),
            ("malformed", self.malformed),
        ]
        .into_iter()
    }
}

/// One tenth of a second of the measured window; the last one ends with the window and may be shorter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// When it began, in ms since the window opened: a multiple of 100.
    pub start_ms: u64,
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
}

/// What a run found in its measured window; `ok + errors.total() == requests`.
///
/// Requests in flight when the window closes are in none of the counts.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Finished requests, right or not.
    pub requests: u64,
    /// Right answers: the expected status, the expected body, whole, in time.
    pub ok: u64,
    /// The others.
    pub errors: Errors,
    /// The first answer with a wrong status or body, in words, the warm-up included.
    pub first_wrong: Option<String>,
    /// Connections established in place of one that had ended.
    pub reconnects: u64,
    /// Length of the measured window: the duration asked for, or up to the last answer, or up to the stop.
    pub elapsed: Duration,
    /// Response times of the right answers in ns, to three digits: from the start of sending the request to the
    /// moment the engine saw the last byte of the answer. Connecting is not in it.
    pub response: Histogram<u64>,
    /// The window in steps of 100 ms, in order and without gaps.
    pub intervals: Vec<Interval>,
    /// CPU time of the engine's thread in the window, `on_interval` included.
    pub cpu: Duration,
    /// The run was cut short by its `stop` flag.
    pub stopped: bool,
    /// Requests finished before the window opened.
    pub warm_up_requests: u64,
    /// Those of them that failed.
    pub warm_up_errors: Errors,
}
