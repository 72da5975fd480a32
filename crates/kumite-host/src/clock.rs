//! Clocks to measure and wait by.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// A source of time, for all that measures or waits. Tests replace it.
pub trait Clock {
    /// The time since a fixed moment; it never goes back.
    fn now(&self) -> Duration;
    /// The time of day, as the machine has it.
    fn timestamp(&self) -> Timestamp;
}

/// The machine's own clocks. [`now`](Clock::now) counts from the making of this value.
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
