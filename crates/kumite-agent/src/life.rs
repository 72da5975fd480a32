//! Signs of life, in both directions. A side that hears none knows that the way is cut, or that the other side stands
//! still.
//!
//! TCP alone would not tell. A cut way looks like a quiet one until something is sent, and then for many minutes
//! more; a node that stands still looks like a slow answer. A sign each second tells them apart: one that is *made*
//! late comes from a node that stood still, one that is made in time and *comes* late was held up on its way. Only
//! the second makes the measurements of other nodes doubtful, and is counted.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The time between two signs of life that a side sends.
pub const SIGN_EVERY: Duration = Duration::from_secs(1);
/// The longest time for which a side may be silent. After it a driver gives up the agent, and an agent ends.
pub const SILENCE_LIMIT: Duration = Duration::from_secs(30);
/// The lateness from which on a sign counts as held up by a cut. The loss of a packet, and of the one sent in its
/// place, delays a sign by less.
const LATE: Duration = Duration::from_secs(2);

/// A driver's account of an agent's signs.
#[derive(Debug)]
pub(crate) struct Signs {
    heard: Instant,
    /// The moment at which the last sign came, by the driver's clock, and that at which it was made, by the agent's.
    /// Only differences on one clock are taken.
    last: (Instant, Duration),
    cut_off: Duration,
}

impl Signs {
    /// Begins with the first frame, which is a sign, too: the agent's clock counts from it.
    pub fn begin(now: Instant) -> Signs {
        Signs { heard: now, last: (now, Duration::ZERO), cut_off: Duration::ZERO }
    }

    /// Takes the instant at which a line came, a sign or any other: it ends a silence.
    pub fn heard(&mut self, came: Instant) {
        self.heard = came;
    }

    /// Takes a sign. If it was on its way longer than the one before it, by more than [`LATE`], the way was cut. An
    /// agent that stood still, or waited for a CPU, makes its next sign as late as it comes.
    pub fn sign(&mut self, came: Instant, made: Duration) {
        let (last_came, last_made) = std::mem::replace(&mut self.last, (came, made));
        let late = came.saturating_duration_since(last_came).saturating_sub(made.saturating_sub(last_made));
        if late > LATE {
            self.cut_off += late;
        }
    }

    /// The time for which the way was cut since the last call of this method.
    pub fn cut_off(&mut self) -> Duration {
        std::mem::take(&mut self.cut_off)
    }

    /// The time for which nothing has come.
    pub fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.heard)
    }
}

/// A reader of an agent's input. A read fails with [`TimedOut`](io::ErrorKind::TimedOut) if nothing comes for a set
/// time.
#[derive(Debug)]
pub struct Patient<R> {
    from: R,
    patience: Duration,
}

impl<R: Read + AsFd> Patient<R> {
    /// Makes a reader whose reads wait for at most `patience`. `from` must not be buffered, because bytes in a buffer
    /// would not end the waiting.
    pub fn new(from: R, patience: Duration) -> Patient<R> {
        Patient { from, patience }
    }
}

impl<R: Read + AsFd> Read for Patient<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wait = Timespec::try_from(self.patience).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut fds = [PollFd::new(&self.from, PollFlags::IN)];
        match poll(&mut fds, Some(&wait)) {
            Ok(0) => Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => self.from.read(buffer),
            Err(Errno::INTR) => Err(io::ErrorKind::Interrupted.into()),
            Err(errno) => Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const S: Duration = Duration::from_secs(1);

    /// The cut time in ms after signs that were made and came at these times.
    fn cut_off_ms(signs: &[(u32, u32)]) -> u128 {
        let began = Instant::now();
        let mut seen = Signs::begin(began);
        for (made, came) in signs {
            seen.sign(began + S / 1000 * *came, S / 1000 * *made);
        }
        let cut_off = seen.cut_off();
        assert_eq!(seen.cut_off(), Duration::ZERO, "it is told once");
        cut_off.as_millis()
    }

    #[test]
    fn a_sign_that_is_late_on_its_way_tells_of_a_cut_and_one_that_is_made_late_does_not() {
        assert_eq!(cut_off_ms(&[(1000, 1020), (2000, 2020), (3000, 3400)]), 0);
        // The way was cut from 2.1 to 7 s: what was said meanwhile comes all at once.
        assert_eq!(cut_off_ms(&[(1000, 1020), (2000, 2020), (3000, 7000), (4000, 7000), (8000, 8020)]), 3980);
        // The agent stood still for 5 s.
        assert_eq!(cut_off_ms(&[(1000, 1020), (2000, 2020), (7000, 7020)]), 0);
        // It was cut before the first sign.
        assert_eq!(cut_off_ms(&[(1000, 4500), (2000, 4500)]), 3500);
        // Two cuts.
        assert_eq!(cut_off_ms(&[(1000, 1000), (2000, 5000), (6000, 6000), (7000, 10_000)]), 6000);
    }

    #[test]
    fn silence_ends_with_whatever_comes() {
        let began = Instant::now();
        let mut signs = Signs::begin(began);
        assert_eq!(signs.silence(began + S * 29), S * 29);
        signs.heard(began + S * 29);
        assert_eq!(signs.silence(began + S * 31), S * 2);
    }

    #[test]
    fn a_reader_that_hears_nothing_gives_up_and_one_that_hears_something_does_not() {
        let (from, mut to) = io::pipe().unwrap();
        let mut patient = Patient::new(from, Duration::from_millis(20));
        let mut heard = [0; 8];
        assert_eq!(patient.read(&mut heard).unwrap_err().kind(), io::ErrorKind::TimedOut);
        to.write_all(b"x").unwrap();
        assert_eq!(patient.read(&mut heard).unwrap(), 1);
        drop(to);
        assert_eq!(patient.read(&mut heard).unwrap(), 0, "the end is the end");
    }
}
