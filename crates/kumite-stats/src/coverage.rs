//! Simulations of how often a 95 % interval holds the true median.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::bootstrap::expanded_tail;
use crate::median::{interval, resampled_middles};

const SEQUENCES: usize = 2_000;
/// The number of resamples, smaller than the one in use so that the test is quick. Bounds scatter a little more by
/// that, which widens no interval.
const RESAMPLES: usize = 1_000;

struct Noise {
    name: &'static str,
    draw: fn(&mut ChaCha8Rng) -> f64,
    median: f64,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    Normal::standard().inverse_cdf(rng.random_range(1e-12..1.0))
}

/// A draw from a distribution with two modes: two thirds of runs are fast, and a third is slower by half, with a long
/// tail.
fn bimodal(rng: &mut ChaCha8Rng) -> f64 {
    match rng.next_u32() % 3 {
        0 => 1.5 + 0.3 * normal(rng).exp(),
        _ => 1.0 + 0.02 * normal(rng),
    }
}

/// The median of that distribution. The modes lie so far apart that only the first, with a weight of two thirds, is
/// below 1.4.
fn bimodal_median() -> f64 {
    1.0 + 0.02 * Normal::standard().inverse_cdf(0.75)
}

#[test]
fn covers_the_median_of_any_noise() {
    let noises = [
        Noise { name: "normal", draw: normal, median: 0.0 },
        Noise { name: "lognormal", draw: |rng| normal(rng).exp(), median: 1.0 },
        Noise { name: "bimodal", draw: bimodal, median: bimodal_median() },
    ];
    println!("noise        n  coverage  mean width");
    let mut least: f64 = 1.0;
    for noise in &noises {
        for n in [6, 10, 30] {
            let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
            let middles = resampled_middles(n, RESAMPLES, 1);
            let tail = expanded_tail(n, 0.95).unwrap();
            let (mut covered, mut width) = (0, 0.0);
            for _ in 0..SEQUENCES {
                let mut values: Vec<f64> = (0..n).map(|_| (noise.draw)(&mut rng)).collect();
                values.sort_unstable_by(f64::total_cmp);
                let interval = interval(&values, &middles, tail);
                covered += usize::from(interval.low <= noise.median && noise.median <= interval.high);
                width += (interval.high - interval.low) / SEQUENCES as f64;
            }
            let coverage = covered as f64 / SEQUENCES as f64;
            least = least.min(coverage);
            println!("{:10} {n:3}   {:5.1} %  {width:10.3}", noise.name, coverage * 100.0);
        }
    }
    assert!(least >= 0.94, "{least}");
}
