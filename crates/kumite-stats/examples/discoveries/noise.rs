//! Run times of two identical contenders on five kinds of machine.

use std::sync::LazyLock;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

/// How run times scatter.
pub struct Noise {
    pub name: &'static str,
    next: fn(&mut Machine, &mut ChaCha8Rng) -> f64,
}

/// The state that the machine carries from run to run.
#[derive(Default)]
pub struct Machine {
    runs: f64,
    slow: f64,
}

pub static NOISES: [Noise; 5] = [
    Noise { name: "normal", next: |_, rng| 20.0 + 0.5 * normal(rng) },
    Noise { name: "lognormal", next: |_, rng| (0.5 * normal(rng)).exp() },
    Noise { name: "two modes", next: |_, rng| bimodal(rng) },
    Noise {
        // A machine that gets slower by a tenth in every hundred runs.
        name: "drifting",
        next: |machine, rng| {
            machine.runs += 1.0;
            1.0 + machine.runs / 1_000.0 + 0.02 * normal(rng)
        },
    },
    Noise {
        // Correlation of 0.9 from run to run.
        name: "autocorrelated",
        next: |machine, rng| {
            machine.slow = 0.9 * machine.slow + 0.02 * normal(rng);
            1.0 + machine.slow + 0.01 * normal(rng)
        },
    },
];

impl Noise {
    /// The run times of both, which come in random order.
    pub fn pair(&self, machine: &mut Machine, rng: &mut ChaCha8Rng) -> (f64, f64) {
        let (first, second) = ((self.next)(machine, rng), (self.next)(machine, rng));
        if rng.random() { (first, second) } else { (second, first) }
    }

    /// The true ratio at which about nine of ten pairs lie above 1, on machines that do so many pairs.
    pub fn clear_ratio(&self, pairs: usize) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(pairs as u64);
        let mut ratios = Vec::new();
        while ratios.len() < 20_000 {
            let mut machine = Machine::default();
            ratios.extend((0..pairs).map(|_| {
                let (a, b) = self.pair(&mut machine, &mut rng);
                a / b
            }));
        }
        ratios.sort_unstable_by(f64::total_cmp);
        ratios[ratios.len() * 9 / 10]
    }
}

/// Straight between 1,025 quantiles: four times as fast as the quantile itself.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    static QUANTILES: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let quantile =
            |at: u32| Normal::standard().inverse_cdf((f64::from(at) / 1_024.0).clamp(1e-5, 1.0 - 1e-5));
        (0..=1_024).map(quantile).collect()
    });
    let random = rng.next_u32();
    let (at, rest) = ((random >> 22) as usize, f64::from(random & 0x3f_ffff) / f64::from(1 << 22));
    QUANTILES[at] + rest * (QUANTILES[at + 1] - QUANTILES[at])
}

/// Most runs are fast; a third is slower by half, with a long tail.
fn bimodal(rng: &mut ChaCha8Rng) -> f64 {
    if rng.random_range(0..3) == 0 { 1.5 + 0.3 * normal(rng).exp() } else { 1.0 + 0.02 * normal(rng) }
}

#[test]
fn a_clear_ratio_lies_above_one_in_nine_of_ten_pairs() {
    for noise in &NOISES {
        let ratio = noise.clear_ratio(24);
        assert!(ratio > 1.0 && ratio < 3.0, "{}: {ratio}", noise.name);
    }
}
