//! The clock that the engine reads.

use std::time::Instant;

use crate::nanos;

/// A clock that counts from its own beginning. Tests use a simulated one.
pub(crate) trait Clock {
    /// Nanoseconds since the clock's beginning; never goes back.
    fn elapsed_ns(&self) -> u64;
}

impl Clock for Instant {
    #[inline]
    fn elapsed_ns(&self) -> u64 {
        nanos(self.elapsed())
    }
}
