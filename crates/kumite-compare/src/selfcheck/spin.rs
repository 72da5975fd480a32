//! Work of an exact amount.

use std::hint::black_box;
use std::time::{Duration, Instant};

const TARGET: Duration = Duration::from_millis(5);
const TRIAL: u64 = 1_000_000;
const TRIALS: usize = 5;

/// Computes this number of steps of a random number generator, none of which the compiler can leave out (xorshift64:
/// Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003).
pub fn spin(steps: u64) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state = black_box(state);
    }
}

/// The number of steps that take about 5 ms on this machine, at its fastest.
pub(super) fn calibrated() -> u64 {
    let fastest = (0..TRIALS).map(|_| timed(TRIAL)).min().unwrap_or(TARGET).max(Duration::from_nanos(1));
    steps_for(TARGET, fastest)
}

/// The number of steps that take `target`, if [`TRIAL`] steps take `trial`; at least 1.
fn steps_for(target: Duration, trial: Duration) -> u64 {
    ((TRIAL as f64 * target.as_secs_f64() / trial.as_secs_f64()) as u64).max(1)
}

pub(super) fn timed(steps: u64) -> Duration {
    let began = Instant::now();
    spin(steps);
    began.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "timing"]
    fn more_steps_take_longer() {
        let least = |steps| (0..5).map(|_| timed(steps)).min().unwrap();
        assert!(least(400_000) > 2 * least(100_000));
    }

    #[test]
    fn half_the_time_takes_half_the_steps() {
        assert_eq!(steps_for(Duration::from_millis(5), Duration::from_millis(10)), TRIAL / 2);
    }
}
