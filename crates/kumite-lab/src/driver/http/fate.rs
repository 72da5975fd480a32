//! What became of a request of a load in steps.

use std::time::Duration;

use kumite_load::{Failure, Finished};

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The right answer, soon enough.
    Good,
    /// The right answer, later than that.
    Late,
    /// An answer with another status.
    Refused,
    /// No answer in time.
    TimedOut,
    /// It failed in any other way, or was never sent.
    Lost,
}

impl Fate {
    /// Of one whose answer is good within `good` from when it was due.
    pub fn of(request: &Finished, good: Duration) -> Fate {
        match request.failure {
            None if within(request, good) => Fate::Good,
            None => Fate::Late,
            Some(Failure::Status) => Fate::Refused,
            Some(Failure::Timeout) => Fate::TimedOut,
            Some(_) => Fate::Lost,
        }
    }
}

/// Whether it was finished within that time from when it was due.
pub(crate) fn within(request: &Finished, time: Duration) -> bool {
    request.finished.saturating_sub(request.due) <= time.as_nanos() as u64
}

/// How many there were of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates {
    pub good: u64,
    pub late: u64,
    pub refused: u64,
    pub timed_out: u64,
    pub lost: u64,
}

impl Fates {
    /// Of these requests.
    pub fn of<'a>(requests: impl IntoIterator<Item = &'a Finished>, good: Duration) -> Fates {
        let mut fates = Fates::default();
        requests.into_iter().for_each(|request| fates.add(Fate::of(request, good)));
        fates
    }

    /// One more.
    pub fn add(&mut self, fate: Fate) {
        *match fate {
            Fate::Good => &mut self.good,
            Fate::Late => &mut self.late,
            Fate::Refused => &mut self.refused,
            Fate::TimedOut => &mut self.timed_out,
            Fate::Lost => &mut self.lost,
        } += 1;
    }

    /// Right answers.
    pub fn answered(&self) -> u64 {
        self.good + self.late
    }
}
