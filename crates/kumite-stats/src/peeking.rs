//! How often a confidence sequence excludes the truth if one looks after every block.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::sequential_ratio;

const ALPHA: f64 = 0.05;
const LOOKS: usize = 200;
/// As is asked of every kind of noise: 2,000. Fewer in a build that is not optimised.
const SEQUENCES: usize = if cfg!(debug_assertions) { 100 } else { 2_000 };

/// Run times of two identical contenders, which come in random order within a block.
struct Noise {
    name: &'static str,
    next: fn(&mut Machine, &mut ChaCha8Rng) -> f64,
}

/// What the machine remembers from run to run.
#[derive(Default)]
struct Machine {
    runs: f64,
    slow: f64,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    Normal::standard().inverse_cdf(rng.random_range(1e-12..1.0))
}

/// Most runs are fast; a third is slower by half, with a long tail.
fn bimodal(rng: &mut ChaCha8Rng) -> f64 {
    if rng.random_range(0..3) == 0 { 1.5 + 0.3 * normal(rng).exp() } else { 1.0 + 0.02 * normal(rng) }
}

const NOISES: [Noise; 5] = [
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

struct Seen {
    /// How many sequences were ever said to differ.
    false_verdicts: usize,
    /// How many intervals held the truth when it was stopped: at the first false verdict, or at the last look.
    covered: usize,
}

/// Sequences of pairs whose true ratio is `ratio`, looked at after every pair. The order in the pair is random.
fn peek(noise: &Noise, ratio: f64, seed: u64) -> Seen {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut seen = Seen { false_verdicts: 0, covered: 0 };
    for _ in 0..SEQUENCES {
        let mut machine = Machine::default();
        let mut pairs = Vec::new();
        for _ in 0..LOOKS {
            let (first, second) =
                ((noise.next)(&mut machine, &mut rng), (noise.next)(&mut machine, &mut rng));
            let (a, b) = if rng.random_bool(0.5) { (first, second) } else { (second, first) };
            pairs.push((a * ratio, b));
            let Ok(interval) = sequential_ratio(&pairs, ALPHA) else { continue };
            if interval.low > 1.0 || interval.high < 1.0 {
                seen.false_verdicts += usize::from(ratio == 1.0);
                break;
            }
        }
        let interval = sequential_ratio(&pairs, ALPHA).unwrap();
        seen.covered += usize::from(interval.low <= ratio && ratio <= interval.high);
    }
    seen
}

#[test]
fn identical_contenders_are_told_apart_in_at_most_one_run_of_twenty() {
    println!("noise           false, A/A   coverage at the stop, A/A   with a true ratio of 1.02");
    for (nth, noise) in NOISES.iter().enumerate() {
        let (same, different) = (peek(noise, 1.0, nth as u64), peek(noise, 1.02, 100 + nth as u64));
        let percent = |count: usize| 100.0 * count as f64 / SEQUENCES as f64;
        let (wrong, covered, other) =
            (percent(same.false_verdicts), percent(same.covered), percent(different.covered));
        println!("{:14} {wrong:8.2} % {covered:20.2} % {other:25.2} %", noise.name);
        // Five in a hundred, and what chance may add: four standard errors.
        let chance = 400.0 * (ALPHA * (1.0 - ALPHA) / SEQUENCES as f64).sqrt();
        assert!(wrong <= 100.0 * ALPHA + chance, "{}: {wrong} %", noise.name);
        assert!(covered.min(other) >= 95.0 - chance, "{}: {covered} %, {other} %", noise.name);
    }
}
