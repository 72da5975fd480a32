//! How often a confidence sequence excludes the truth if one looks after every block.

use kumite_stats::sequential_ratio;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::noise::{Machine, NOISES, Noise};
use crate::run::ALPHA;

const LOOKS: usize = 200;
/// As is asked of every kind of noise: 2,000. Fewer in a build that is not optimised.
const SEQUENCES: usize = if cfg!(debug_assertions) { 100 } else { 2_000 };

struct Peeked {
    /// How many sequences were ever said to differ.
    false_verdicts: usize,
    /// How many intervals held the truth when it was stopped: at the first false verdict, or at the last look.
    covered: usize,
}

/// Sequences of pairs whose true ratio is `ratio`, looked at after every pair. The order in the pair is random.
fn peek(noise: &Noise, ratio: f64, seed: u64) -> Peeked {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut seen = Peeked { false_verdicts: 0, covered: 0 };
    for _ in 0..SEQUENCES {
        let mut machine = Machine::default();
        let mut pairs = Vec::new();
        for _ in 0..LOOKS {
            let (a, b) = noise.pair(&mut machine, &mut rng);
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
