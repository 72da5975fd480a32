//! The report of a stub.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Two minutes in ns; what is later counts as that.
const LATEST: u64 = 120_000_000_000;

/// A stub's own counts of its whole life.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The time from the start of listening to the end.
    pub duration: Duration,
    /// CPU time of its thread.
    pub cpu: Duration,
    /// Requests that were read to their end. Each became an answer, a reset, or is unanswered.
    pub requests: u64,
    /// Answers to them that the kernel has taken whole, those with an error status included.
    pub answers: u64,
    /// Answers with the error status.
    pub errors: u64,
    /// Connections reset in place of an answer.
    pub resets: u64,
    /// Requests whose client had gone when the answer was due, or that were still waiting at the end.
    pub unanswered: u64,
    /// Input that was no request, which is in none of the counts above: answered with 400.
    pub malformed: u64,
    /// Connections that were taken to serve them.
    pub accepted: u64,
    /// The most that were open at once.
    pub most_connections: u64,
    /// Connections that were closed at once because there were too many.
    pub refused: u64,
    /// The most requests that waited for a worker at once.
    pub longest_queue: u64,
    /// How long after an answer was due the kernel had it, in ns; of each answer and reset. If answers are due in a stall,
    /// they are due at its end.
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
