//! The log of a load: every finished request, for users who want to count in another way than the outcome does.

use crate::record::errors::Failure;

/// The most requests that a log holds, of which each thread has an equal share. Requests that finish when the share
/// is full are not in it, and only counted ([`Outcome::unlogged`]).
///
/// [`Outcome::unlogged`]: crate::Outcome::unlogged
pub const LOG_LIMIT: usize = 10_000_000;

/// The number of bytes that are kept of a body with a wrong status.
pub(crate) const EXCERPT_BYTES: usize = 64;

/// A finished request. Instants are ns since the load began, the warm-up included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The instant at which the request was due. In a closed loop it is the instant at which the request was sent or,
    /// if there was no connection for it, the connect was begun.
    pub due: u64,
    /// The instant at which the request was sent; `None` if it was not.
    pub sent: Option<u64>,
    /// The instant at which the answer was whole, or the request failed.
    pub finished: u64,
    /// The kind of failure; `None` if the answer was right.
    pub failure: Option<Failure>,
    /// The answer, if it came in time and had another status than expected; otherwise `None`.
    pub wrong_status: Option<Box<WrongStatus>>,
}

/// An answer with another status than expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongStatus {
    /// The status of the answer.
    pub status: u16,
    /// The first 64 bytes of the answer's body. Bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// A thread's part of the log.
pub(crate) struct Log {
    /// The most requests that this part holds.
    room: usize,
    pub finished: Vec<Finished>,
    /// The number of requests that did not fit, and are lost.
    pub unlogged: u64,
}

impl Log {
    /// The part of one of `threads` threads, which share the room evenly.
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
