//! The noise that a machine adds to run times, of five kinds and a known size.

use std::sync::LazyLock;

use kumite_stats::deviation;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

/// How run times scatter.
pub struct Kind {
    pub name: &'static str,
    /// What the next run's time is multiplied by, less 1, at a size of 1.
    next: fn(&mut Machine, &mut ChaCha8Rng) -> f64,
}

/// The state that a machine carries from run to run.
#[derive(Default)]
struct Machine {
    runs: f64,
    slow: f64,
}

pub static KINDS: [Kind; 5] = [
    Kind { name: "normal", next: |_, rng| normal(rng) },
    Kind { name: "lognormal", next: |_, rng| normal(rng).exp() },
    Kind {
        // A third of runs is slower.
        name: "two modes",
        next: |_, rng| f64::from(u8::from(rng.random_range(0..3) == 0)) + 0.2 * normal(rng),
    },
    Kind {
        // It gets slower with each run: by seven times the scatter in a hundred.
        name: "drifting",
        next: |machine, rng| {
            machine.runs += 1.0;
            0.07 * machine.runs + normal(rng)
        },
    },
    Kind {
        // A correlation of 0.9 from run to run.
        name: "autocorrelated",
        next: |machine, rng| {
            machine.slow = 0.9 * machine.slow + normal(rng);
            machine.slow
        },
    },
];

/// The factors of the times of one run after another, on a machine of some kind.
pub struct Factors {
    kind: &'static Kind,
    size: f64,
    machine: Machine,
    random: ChaCha8Rng,
}

impl Factors {
    pub fn new(kind: &'static Kind, size: f64, seed: u64) -> Factors {
        Factors { kind, size, machine: Machine::default(), random: ChaCha8Rng::seed_from_u64(seed) }
    }
}

impl Iterator for Factors {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let noise = (self.kind.next)(&mut self.machine, &mut self.random);
        Some((1.0 + self.size * noise).max(0.1))
    }
}

impl Kind {
    /// The size at which the logarithm of a block's ratio has this standard deviation, by blocks of three runs of the
    /// same, of which two are set beside each other.
    pub fn size(&'static self, deviation: f64) -> f64 {
        let mut size = deviation;
        for _ in 0..4 {
            size *= deviation / self.deviation(size);
        }
        size
    }

    fn deviation(&'static self, size: f64) -> f64 {
        const BLOCKS: usize = 60;
        let of_machine = |seed| {
            let mut factors = Factors::new(self, size, seed);
            let mut next = move || factors.next().unwrap_or(1.0);
            (0..BLOCKS).map(move |block| {
                let runs: [f64; 3] = std::array::from_fn(|_| next());
                // Any two of the three.
                (runs[block % 3] / runs[(block + 1) % 3]).ln()
            })
        };
        let logs: Vec<f64> = (0..300).flat_map(of_machine).collect();
        deviation(&logs).unwrap_or(f64::NAN)
    }
}

/// Straight between 1,025 quantiles: faster than the quantile itself.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    static QUANTILES: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let quantile =
            |at: u32| Normal::standard().inverse_cdf((f64::from(at) / 1_024.0).clamp(1e-5, 1.0 - 1e-5));
        (0..=1_024).map(quantile).collect()
    });
    let drawn = random.next_u32();
    let (at, rest) = ((drawn >> 22) as usize, f64::from(drawn & 0x3f_ffff) / f64::from(1 << 22));
    QUANTILES[at] + rest * (QUANTILES[at + 1] - QUANTILES[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_of_every_kind_has_the_size_that_was_asked_for() {
        for kind in &KINDS {
            for asked in [0.007, 0.02] {
                let found = kind.deviation(kind.size(asked));
                assert!((found / asked - 1.0).abs() < 0.02, "{}: {found} for {asked}", kind.name);
            }
        }
    }
}
