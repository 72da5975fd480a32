//! The clock that the engine reads.

use std::time::Instant;

use crate::nanos;

/// A clock that counts from its own beginning; tests have one that is simulated.
pub(crate) trait Clock {
    /// Nanoseconds since its beginning; never goes back.
    fn elapsed_ns(&self) -> u64;
}

impl Clock for Instant {
    #[inline]
    fn elapsed_ns(&self) -> u64 {
        nanos(self.elapsed())
    }
}
