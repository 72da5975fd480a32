//! The report of a stub.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The greatest lateness that is recorded, two minutes in ns: a greater one counts as that.
const LATEST: u64 = 120_000_000_000;

/// A stub's own account of its whole life.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The time from the start of listening to the end.
    pub duration: Duration,
    /// The CPU time of the stub's thread while it served.
    pub cpu: Duration,
    /// The number of requests that were read to their end. Each is counted in `answers`, `resets` or `unanswered`.
    pub requests: u64,
    /// The number of answers to requests that the kernel has taken whole, including those with the error status.
    pub answers: u64,
    /// The number of answers with the error status.
    pub errors: u64,
    /// The connections that were reset in place of an answer.
    pub resets: u64,
    /// The requests that were neither answered whole nor reset: their client had gone, or they were not yet answered
    /// at the end.
    pub unanswered: u64,
    /// The number of inputs that were no request, each answered with 400. They are not counted in `requests` or
    /// `answers`.
    pub malformed: u64,
    /// The number of connections that were accepted and served.
    pub accepted: u64,
    /// The largest number of connections that were open at once.
    pub most_connections: u64,
    /// The number of connections that were closed at once because there were too many.
    pub refused: u64,
    /// The most requests that waited for a worker at once.
    pub longest_queue: u64,
    /// The lateness of each answer to a request and of each reset, but for clients that had gone: the time in ns from
    /// when it was due until the kernel had it, or had the beginning of an answer that it did not take whole; at most
    /// two minutes. Answers that are due in a stall are due at its end.
    pub lateness: Histogram<u64>,
}

impl Report {
    pub(crate) fn new() -> Report {
        let lateness = Histogram::new_with_bounds(1, LATEST, 3);
        Report {
            duration: Duration::ZERO,
            cpu: Duration::ZERO,
            requests: 0,
            answers: 0,
            errors: 0,
            resets: 0,
            unanswered: 0,
            malformed: 0,
            accepted: 0,
            most_connections: 0,
            refused: 0,
            longest_queue: 0,
            lateness: lateness.expect("these bounds are sound"),
        }
    }

    pub(crate) fn late_by(&mut self, ns: u64) {
        self.lateness.saturating_record(ns);
    }
}
