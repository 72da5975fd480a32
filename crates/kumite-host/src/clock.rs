//! Clocks to measure and wait by.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// A source of time for everything that measures or waits. Tests have one of their own.
pub trait Clock {
    /// The time since a fixed moment; it never goes back.
    fn now(&self) -> Duration;
    /// The time of day. It may jump if somebody sets the machine's clock.
    fn timestamp(&self) -> Timestamp;
}

/// The machine's own clocks. [`now`](Clock::now) is the time since this value was made.
pub struct RealClock(Instant);

impl Default for RealClock {
    fn default() -> RealClock {
        RealClock(Instant::now())
    }
}

impl Clock for RealClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::now()
    }
}
