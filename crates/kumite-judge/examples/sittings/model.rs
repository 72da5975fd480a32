//! How the ratio of two contenders goes on, in logarithms.

use std::f64::consts::TAU;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

/// The standard deviation of a round.
pub const ROUND_SD: f64 = 0.03;

/// How effects differ between sittings and within them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum World {
    /// Rounds alone scatter.
    Calm,
    /// The machine is in one of two states, 8 % up or down, for 20 to 200 rounds each.
    Regimes,
    /// The effect swings by 8 % within 120 rounds, through the border.
    Drift,
    /// Each process is in one of two modes, 5 % apart, by chance.
    Modes,
    /// Each sitting has an effect of its own, normal with this standard deviation.
    Normal(f64),
    /// Likewise, but from a skewed distribution: exponential, less its median.
    Skewed(f64),
    /// Likewise, but by a coin: up or down.
    Coin(f64),
}

/// Sittings follow one another without a pause, or the machine has become another in between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    Apart,
    BackToBack,
}

/// The rounds of each sitting.
pub fn sittings(
    world: World,
    slack: f64,
    sittings: usize,
    rounds: usize,
    when: When,
    seed: u64,
) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    match when {
        When::Apart => (0..sittings).map(|_| stretch(world, slack, rounds, &mut random)).collect(),
        When::BackToBack => {
            let all = stretch(world, slack, sittings * rounds, &mut random);
            all.chunks(rounds).map(<[f64]>::to_vec).collect()
        }
    }
}

/// Rounds of one stretch of time, which begins somewhere in a regime or a drift.
fn stretch(world: World, slack: f64, rounds: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    let own = own_effect(world, random);
    let phase = random.random_range(0.0..1.0);
    let mut is_up = random.random_bool(0.5);
    let mut left = (regime(random) as f64 * phase) as usize;
    let mut at = |round: usize, random: &mut ChaCha8Rng| match world {
        World::Regimes => {
            if left == 0 {
                (is_up, left) = (!is_up, regime(random));
            }
            left -= 1;
            if is_up { 0.08 } else { -0.08 }
        }
        World::Drift => 0.08 * (TAU * (phase + round as f64 / 120.0)).sin(),
        World::Modes => {
            let mut mode = || if random.random_bool(0.5) { 0.025 } else { -0.025 };
            mode() - mode()
        }
        World::Calm | World::Normal(_) | World::Skewed(_) | World::Coin(_) => own,
    };
    (0..rounds).map(|round| slack + at(round, random) + ROUND_SD * normal(random)).collect()
}

/// Added to all rounds of a stretch.
fn own_effect(world: World, random: &mut ChaCha8Rng) -> f64 {
    match world {
        World::Normal(sd) => sd * normal(random),
        World::Skewed(sd) => sd * (-random.random_range(1e-12_f64..1.0).ln() - 2.0_f64.ln()),
        World::Coin(sd) => {
            if random.random_bool(0.5) {
                sd
            } else {
                -sd
            }
        }
        World::Calm | World::Regimes | World::Drift | World::Modes => 0.0,
    }
}

fn regime(random: &mut ChaCha8Rng) -> usize {
    random.random_range(20..=200)
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    Normal::standard().inverse_cdf(random.random_range(1e-12..1.0))
}
