//! The clock that the engine reads.

use std::time::Instant;

use crate::nanos;

/// Counts from its own beginning.
pub(crate) trait Clock {
    /// How long ago that was, in ns.
    fn elapsed_ns(&self) -> u64;
}

impl Clock for Instant {
    #[inline]
    fn elapsed_ns(&self) -> u64 {
        nanos(self.elapsed())
    }
}
