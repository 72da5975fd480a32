//! How often a doubt is given that an effect went with the machine, or changed during the run, where it did and where it
//! did not: `cargo run --release -p kumite-judge --example probes`. `cargo test` asserts some of it.
//!
//! Six claims; what is counted is the doubt of the first. A round's log ratio has a standard deviation of 5 %. In *regimes*
//! the host's wake-ups are cheap or dear, and change with a probability of 1/7 after each round; the effect is 8 % on
//! either side of 1, by what they are. In *drift* it goes from 8 % below to 8 % above in the course of the run. In the
//! other rows it is noise: beside wake-ups that are noise too, that have regimes, or that drift.

mod made;

use jiff::Timestamp;
use kumite_judge::{ClaimSpec, judge};
use kumite_record::{Doubt, Point, Probe, Rule, Run, Trial};
use made::contender;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

const RUNS: u64 = 1_000;
const ROUNDS: [u32; 4] = [12, 20, 27, 40];
const CLAIMS: usize = 6;
const NOISE: f64 = 0.05;
const EFFECT: f64 = 0.08;
/// Of the logarithm of a wake-up's price: how far regimes are from their middle, and how much each probe scatters.
const PRICE: f64 = 0.35;
const PRICE_NOISE: f64 = 0.1;
const SWITCHES: f64 = 1.0 / 7.0;

/// How a variable goes.
#[derive(Clone, Copy)]
enum Course {
    Noise,
    Regimes,
    Drift,
}

/// A row of the table: the wake-ups, and the part of the effect that is no noise.
const ROWS: [(&str, Course, Course); 5] = [
    ("effect in regimes, with wake-ups", Course::Regimes, Course::Regimes),
    ("effect drifts, wake-ups are noise", Course::Noise, Course::Drift),
    ("effect is noise, wake-ups are noise", Course::Noise, Course::Noise),
    ("effect is noise, wake-ups have regimes", Course::Regimes, Course::Noise),
    ("effect is noise, wake-ups drift", Course::Drift, Course::Noise),
];

/// How many runs had which doubt.
#[derive(Default)]
struct Doubted {
    went_with: u64,
    changed: u64,
}

fn main() {
    println!("Doubts, in percent of {RUNS} runs: went with wake-ups + changed during the run.\n");
    println!("| | {} |", ROUNDS.map(|rounds| format!("{rounds} rounds")).join(" | "));
    println!("| --- | --- | --- | --- | --- |");
    for (what, wake_ups, effect) in ROWS {
        let cells = ROUNDS.map(|rounds| {
            let Doubted { went_with, changed } = simulate(rounds, wake_ups, effect, RUNS);
            let percent = |count: u64| 100.0 * count as f64 / RUNS as f64;
            format!("{:.1} + {:.1}", percent(went_with), percent(changed))
        });
        println!("| {what} | {} |", cells.join(" | "));
    }
}

fn simulate(rounds: u32, wake_ups: Course, effect: Course, runs: u64) -> Doubted {
    let mut doubted = Doubted::default();
    let normal = Normal::standard();
    // The others share the level, and are of what was not measured.
    let other = |nth: usize| if nth == 0 { "b" } else { "c" };
    let claim = |nth: usize| made::claim(&format!("claim-{nth}"), "a", other(nth));
    let claims: Vec<ClaimSpec> = (0..CLAIMS).map(claim).collect();
    for seed in 0..runs {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut regime = if random.random_bool(0.5) { 1.0 } else { -1.0 };
        let mut trials = Vec::new();
        for round in 0..rounds {
            let drift = 2.0 * f64::from(round) / f64::from(rounds - 1) - 1.0;
            let at = |course| match course {
                Course::Noise => 0.0,
                Course::Regimes => regime,
                Course::Drift => drift,
            };
            let mut draw = || normal.inverse_cdf(random.random_range(1e-12..1.0));
            let ratio = (EFFECT * at(effect) + NOISE * draw()).exp();
            for (contender, rate) in [("a", 1000.0 * ratio), ("b", 1000.0)] {
                let wake_up_us = 5.0 * (PRICE * at(wake_ups) + PRICE_NOISE * draw()).exp();
                trials.push(trial(round, trials.len() as u32, contender, rate, wake_up_us));
            }
            if random.random_bool(SWITCHES) {
                regime = -regime;
            }
        }
        let run = Run { rule: Rule::Strict, points: vec![Point::default()], seed, ..Run::default() };
        let trials: Vec<&Trial> = trials.iter().collect();
        let first = judge(&run, &trials, &["a", "b", "c"].map(contender), &claims, &[]).0.remove(0);
        for doubt in first.doubts {
            doubted.went_with += u64::from(matches!(doubt, Doubt::WentWith { .. }));
            doubted.changed += u64::from(matches!(doubt, Doubt::ChangedDuringRun { .. }));
        }
    }
    doubted
}

fn trial(round: u32, seq: u32, contender: &str, rate: f64, wake_up_us: f64) -> Trial {
    let started = Timestamp::from_second(i64::from(seq)).expect("a moment");
    let mut trial = Trial { seq, started, ..made::trial(round, contender, rate) };
    trial.sample.metrics.insert(Probe::WakeUp.name().to_owned(), wake_up_us);
    trial
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: u64 = 40;

    #[test]
    fn an_effect_that_is_noise_is_hardly_ever_doubted_whatever_the_wake_ups_do() {
        for wake_ups in [Course::Noise, Course::Regimes, Course::Drift] {
            let Doubted { went_with, changed } = simulate(20, wake_ups, Course::Noise, FEW);
            // One claim in 120 is allowed: five of 40 would be out of any luck.
            assert!(went_with + changed <= 4, "{went_with} {changed}");
        }
    }

    #[test]
    fn an_effect_that_goes_with_wake_ups_or_drifts_through_the_border_is_mostly_doubted() {
        let regimes = simulate(40, Course::Regimes, Course::Regimes, FEW);
        assert!(regimes.went_with > FEW / 2, "{} {}", regimes.went_with, regimes.changed);
        let drift = simulate(40, Course::Noise, Course::Drift, FEW);
        assert!(drift.changed > FEW / 2 && drift.went_with == 0, "{} {}", drift.went_with, drift.changed);
    }
}
