//! The noise that a machine adds to the times of contenders: about 3 %, in the shapes that machines have.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

/// A kind of noise: what the next trial's time is multiplied by.
type Noise = fn(&mut Machine, &mut ChaCha8Rng) -> f64;

/// The state of a machine from trial to trial.
#[derive(Default)]
struct Machine {
    trials: f64,
    slow: f64,
}

const NOISES: [Noise; 4] = [lognormal, two_modes, drifting, autocorrelated];

fn lognormal(_: &mut Machine, rng: &mut ChaCha8Rng) -> f64 {
    (0.03 * normal(rng)).exp()
}

/// A third of trials is slower by 6 %.
fn two_modes(_: &mut Machine, rng: &mut ChaCha8Rng) -> f64 {
    let mode = if rng.random_range(0..3) == 0 { 1.06 } else { 1.0 };
    mode + 0.01 * normal(rng)
}

/// A machine that gets slower by a tenth in every hundred trials.
fn drifting(machine: &mut Machine, rng: &mut ChaCha8Rng) -> f64 {
    machine.trials += 1.0;
    1.0 + machine.trials / 1_000.0 + 0.03 * normal(rng)
}

/// A correlation of 0.9 from trial to trial.
fn autocorrelated(machine: &mut Machine, rng: &mut ChaCha8Rng) -> f64 {
    machine.slow = 0.9 * machine.slow + 0.013 * normal(rng);
    1.0 + machine.slow + 0.02 * normal(rng)
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    Normal::standard().inverse_cdf(rng.random_range(1e-12..1.0))
}

/// The factor of each trial's time in the run with this number; each run has the next kind.
pub fn factors(run: usize, seed: u64) -> impl FnMut() -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // The order of the trials is drawn from stream 0 of the same seed, and must not depend on the noise.
    rng.set_stream(1);
    let mut machine = Machine::default();
    move || NOISES[run % NOISES.len()](&mut machine, &mut rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_of_every_kind_spreads_by_about_three_percent_around_its_course() {
        for nth in 0..NOISES.len() {
            let mut next = factors(nth, 1);
            // Neighbours have the course in common; their difference has twice the variance around it.
            let squares: f64 = (0..2_000).map(|_| (next() - next()).powi(2)).sum();
            let spread = (squares / 2_000.0 / 2.0).sqrt();
            println!("{nth}: {spread:.4}");
            assert!((0.02..0.04).contains(&spread), "{nth}: {spread}");
        }
    }
}
