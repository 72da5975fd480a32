//! A fixed loop of integer arithmetic: each step needs the one before it, and no memory.

use std::hint::black_box;
use std::time::Duration;

use crate::slice::portions;

/// About a tenth of a millisecond.
const ITERATIONS: u32 = 50_000;

/// Nanoseconds an iteration. It is the mean, for who is taken off the CPU has the same work done in more time.
pub(crate) fn ns(time: Duration) -> f64 {
    let took = portions(time, || {
        black_box(spun(black_box(1)));
    });
    let all: Duration = took.iter().sum();
    all.as_nanos() as f64 / (took.len() as f64 * f64::from(ITERATIONS))
}

/// Shifts and exclusive ors: no compiler makes one step of several, as it would of a multiplication and a sum.
fn spun(mut state: u64) -> u64 {
    for _ in 0..ITERATIONS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}
