//! The clock that measuring goes by.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// The time, for whatever measures or waits. Replaced in tests.
pub trait Clock {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;
    /// The time of day.
    fn timestamp(&self) -> Timestamp;
}

/// The machine's clock.
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
