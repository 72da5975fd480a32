//! The classes of outcomes of requests in a load in steps.

use std::time::Duration;

use kumite_load::{Failure, Finished};

/// The class of one request's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutcomeClass {
    /// The right answer came soon enough.
    Good,
    /// The right answer came, but later than is good.
    Late,
    /// An answer came whose status is not the right one.
    Refused,
    /// No whole answer came in time.
    TimedOut,
    /// The request failed in any other way, or was never sent.
    Lost,
}

impl OutcomeClass {
    /// The class of a finished request, whose right answer is good within `good` from when it was due.
    pub fn new(request: &Finished, good: Duration) -> OutcomeClass {
        match request.failure {
            None if within(request, good) => OutcomeClass::Good,
            None => OutcomeClass::Late,
            Some(Failure::Status) => OutcomeClass::Refused,
            Some(Failure::Timeout) => OutcomeClass::TimedOut,
            Some(_) => OutcomeClass::Lost,
        }
    }
}

/// True if the request was finished within `time` from when it was due.
pub(crate) fn within(request: &Finished, time: Duration) -> bool {
    request.finished.saturating_sub(request.due) <= time.as_nanos() as u64
}

/// The number of requests in each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutcomeCounts {
    pub good: u64,
    pub late: u64,
    pub refused: u64,
    pub timed_out: u64,
    pub lost: u64,
}

impl OutcomeCounts {
    /// Counts these requests by their class.
    pub fn new<'a>(requests: impl IntoIterator<Item = &'a Finished>, good: Duration) -> OutcomeCounts {
        let mut counts = OutcomeCounts::default();
        requests.into_iter().for_each(|request| counts.add(OutcomeClass::new(request, good)));
        counts
    }

    /// Counts one more request in this class.
    pub fn add(&mut self, class: OutcomeClass) {
        *match class {
            OutcomeClass::Good => &mut self.good,
            OutcomeClass::Late => &mut self.late,
            OutcomeClass::Refused => &mut self.refused,
            OutcomeClass::TimedOut => &mut self.timed_out,
            OutcomeClass::Lost => &mut self.lost,
        } += 1;
    }

    /// The number of requests with a right answer, late ones included.
    pub fn answered(&self) -> u64 {
        self.good + self.late
    }
}
