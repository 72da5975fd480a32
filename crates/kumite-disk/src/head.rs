//! The time at which a read may be answered: all that makes a disk slow, without a file system, clock or thread.

use std::time::{Duration, Instant};

/// The only head of the disk: it serves one seek after the other.
#[derive(Debug)]
pub(crate) struct Head {
    delay: Duration,
    /// The time at which its last seek is done.
    free_at: Instant,
}

impl Head {
    pub fn new(delay: Duration) -> Head {
        Head { delay, free_at: Instant::now() }
    }

    /// The time at which a seek is done that comes `now`.
    fn seek(&mut self, now: Instant) -> Instant {
        self.free_at = self.free_at.max(now) + self.delay;
        self.free_at
    }
}

/// The place in an open file at which its last read ended.
#[derive(Debug, Default)]
pub(crate) struct Position {
    /// The end of the last read, and the time at which the last seek is done; none before the first read.
    last: Option<(u64, Instant)>,
}

/// The wait of a read: its reason and its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The read is at the end of the file, and does not wait.
    AtEnd,
    /// The read is a seek, which is done at this time.
    Seek(Instant),
    /// The read goes on from where the last one ended, and waits for that one's seek, which is done at this time.
    GoesOn(Instant),
}

impl Position {
    /// The wait of a read that comes `now`. `bytes` is the number of bytes that it gets, 0 at the end of the file.
    pub fn read(&mut self, head: &mut Head, now: Instant, offset: u64, bytes: u64) -> Wait {
        if bytes == 0 {
            return Wait::AtEnd;
        }
        let end = offset + bytes;
        match self.last {
            Some((last_end, done)) if last_end == offset => {
                self.last = Some((end, done));
                Wait::GoesOn(done)
            }
            _ => {
                let done = head.seek(now);
                self.last = Some((end, done));
                Wait::Seek(done)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(10);

    #[test]
    fn a_file_costs_one_delay_whatever_the_chunks() {
        for chunk in [1, 8, 100] {
            let mut head = Head::new(DELAY);
            let (mut position, now) = (Position::default(), head.free_at);
            let seeks = (0..100u64).step_by(chunk).filter(|&offset| {
                let bytes = (chunk as u64).min(100 - offset);
                position.read(&mut head, now, offset, bytes) == Wait::Seek(now + DELAY)
            });
            assert_eq!(seeks.count(), 1);
            assert_eq!(position.read(&mut head, now, 100, 0), Wait::AtEnd);
            assert_eq!(head.free_at, now + DELAY);
        }
    }

    #[test]
    fn going_back_or_ahead_is_a_seek_and_the_end_of_the_file_is_none() {
        let mut head = Head::new(DELAY);
        let (mut position, now) = (Position::default(), head.free_at);
        let mut read = |offset, bytes| position.read(&mut head, now, offset, bytes);
        assert_eq!(read(50, 10), Wait::Seek(now + DELAY));
        assert_eq!(read(60, 10), Wait::GoesOn(now + DELAY));
        assert_eq!(read(60, 10), Wait::Seek(now + 2 * DELAY));
        assert_eq!(read(100, 0), Wait::AtEnd);
        assert_eq!(read(70, 1), Wait::GoesOn(now + 2 * DELAY), "the end of the file moved nothing");
        assert_eq!(read(80, 1), Wait::Seek(now + 3 * DELAY));
    }

    #[test]
    fn seeks_queue_and_a_head_that_rested_begins_when_one_comes() {
        let mut head = Head::new(DELAY);
        let now = head.free_at;
        for nth in 1..=3 {
            assert_eq!(Position::default().read(&mut head, now, 0, 1), Wait::Seek(now + nth * DELAY));
        }
        let later = now + 10 * DELAY;
        assert_eq!(Position::default().read(&mut head, later, 0, 1), Wait::Seek(later + DELAY));
    }
}
