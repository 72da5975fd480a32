//! The log of a load: every finished request, for whoever wants to count in another way than the outcome does.

use crate::record::errors::Failure;

/// The most requests that a log holds. What is finished later is not in it, and is counted ([`Outcome::unlogged`]).
///
/// [`Outcome::unlogged`]: crate::Outcome::unlogged
pub const LOG_LIMIT: usize = 10_000_000;

/// Bytes that are kept of a body with a wrong status.
pub(crate) const EXCERPT_BYTES: usize = 64;

/// A finished request. Instants are ns since the load began, the warm-up included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// When it was due; in a closed loop when it was sent, or its connect was begun.
    pub due: u64,
    /// When it was sent; none if it was not.
    pub sent: Option<u64>,
    /// When its answer was whole, or it had failed.
    pub finished: u64,
    /// How it failed; none if its answer was right.
    pub failure: Option<Failure>,
    /// The answer, if it had another status than expected.
    pub wrong_status: Option<Box<WrongStatus>>,
}

/// An answer with another status than expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongStatus {
    /// Its status.
    pub status: u16,
    /// The first 64 bytes of its body; what is not UTF-8 in them is replaced.
    pub text: String,
}

/// A thread's part of the log.
pub(crate) struct Log {
    /// The most that it holds.
    room: usize,
    pub finished: Vec<Finished>,
    /// How many did not fit, and are lost.
    pub unlogged: u64,
}

impl Log {
    /// The part of one of `threads`, which share the room evenly.
    pub fn of_thread(threads: usize) -> Log {
        Log::new(LOG_LIMIT / threads)
    }

    fn new(room: usize) -> Log {
        Log { room, finished: Vec::new(), unlogged: 0 }
    }

    pub fn add(&mut self, finished: Finished) {
        if self.finished.len() < self.room {
            self.finished.push(finished);
        } else {
            self.unlogged += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut log = Log::new(2);
        for due in 0..5 {
            log.add(Finished { due, sent: Some(due), finished: due, failure: None, wrong_status: None });
        }
        assert_eq!((log.finished.iter().map(|it| it.due).collect(), log.unlogged), (vec![0, 1], 3));
    }
}
