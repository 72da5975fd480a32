//! The probe of a CPU: a fixed loop of integer arithmetic, in which each step needs the one before it, and no memory.

use std::hint::black_box;
use std::time::Duration;

use crate::slice::portions;

/// The number of iterations in a portion, which takes about a tenth of a millisecond.
const ITERATIONS: u32 = 50_000;

/// Runs the loop for `time`, and returns the nanoseconds of an iteration: the mean over all portions, so that time in
/// which the thread was taken off its CPU counts.
pub(crate) fn ns(time: Duration) -> f64 {
    let took = portions(time, || {
        black_box(spun(black_box(1)));
    });
    let all: Duration = took.iter().sum();
    all.as_nanos() as f64 / (took.len() as f64 * f64::from(ITERATIONS))
}

/// Does [`ITERATIONS`] steps of shifts and exclusive ors on `state`. No compiler joins several such steps to one, as
/// it could with multiplications and sums.
fn spun(mut state: u64) -> u64 {
    for _ in 0..ITERATIONS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}
