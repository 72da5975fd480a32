//! The time of a stub, which stands still in a stall.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::stall::Stall;

/// The longest time until a stop is seen.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// The stub's clock. The stub asks it before all it does ([`Clock::go_on`]), so that nothing is done in a stall.
pub(crate) struct Clock<'a> {
    start: Instant,
    stall: Option<Stall>,
    /// The beginning and the end of the next stall, in ns; `u64::MAX` if none is to come.
    next_stall: (u64, u64),
    stop: &'a AtomicBool,
}

impl<'a> Clock<'a> {
    pub fn new(start: Instant, stall: Option<Stall>, stop: &'a AtomicBool) -> Clock<'a> {
        let mut clock = Clock { start, stall, next_stall: (0, 0), stop };
        clock.look_ahead(0);
        clock
    }

    /// The time in ns since listening began.
    pub fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// The time in ns since listening began, outside stalls: a stall that has begun is slept through first. None if
    /// the stub is to stop.
    pub fn go_on(&mut self) -> Option<u64> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            let now = self.now();
            let (begin, end) = self.next_stall;
            if now < begin {
                return Some(now);
            }
            if now < end {
                thread::sleep(Duration::from_nanos(end - now).min(LOOK));
            } else {
                self.look_ahead(now);
            }
        }
    }

    /// The first instant from `at` on that is outside stalls, in ns.
    pub fn after_stall(&self, at: u64) -> u64 {
        self.stall.map_or(at, |stall| stall.after(at))
    }

    fn look_ahead(&mut self, now: u64) {
        self.next_stall = self.stall.and_then(|stall| stall.next(now)).unwrap_or((u64::MAX, u64::MAX));
    }
}
