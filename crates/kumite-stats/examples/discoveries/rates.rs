//! How often something happens in many runs.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use kumite_stats::proportion;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::run::{Given, LAST, Player, Scenario};
use crate::wealths::Wealths;

/// The mean over runs of a share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    sum: f64,
    hits: usize,
    runs: usize,
}

impl Rate {
    /// The share counts as a hit with a chance of its size, so that hits are binomial with the mean as their chance, and
    /// their exact bound is one of the mean.
    fn add(&mut self, share: f64, rng: &mut ChaCha8Rng) {
        self.sum += share;
        self.hits += usize::from(share > 0.0 && rng.random_bool(share));
        self.runs += 1;
    }

    pub fn mean(&self) -> f64 {
        self.sum / self.runs as f64
    }

    /// The lower bound of the mean with a confidence of 99.9 %.
    pub fn low(&self) -> f64 {
        proportion(self.hits, self.runs, 0.998).map_or(0.0, |interval| interval.low)
    }

    pub fn is_above(&self, limit: f64) -> bool {
        self.low() > limit
    }
}

/// For each of the three stops.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// Of the verdicts that are given, the share that is false.
    pub discovery: [Rate; 3],
    /// The share of runs with any false verdict.
    pub family: [Rate; 3],
    /// Of the bounds that are shown, the share that is false.
    pub coverage: [Rate; 3],
    /// Of the claims, the share that is decided.
    pub decided: [Rate; 3],
}

fn simulate(scenario: &Scenario, wealths: &Wealths, runs: usize, seed: u64) -> Rates {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut player = Player::new(scenario, wealths);
    let mut rates = Rates::default();
    let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
    for _ in 0..runs {
        for (nth, given) in player.play(&mut rng).into_iter().enumerate() {
            let Given { verdicts, false_verdicts, bounds, false_bounds } = given;
            rates.discovery[nth].add(share(false_verdicts, verdicts), &mut rng);
            rates.family[nth].add(share(usize::from(false_verdicts > 0), 1), &mut rng);
            rates.coverage[nth].add(share(false_bounds, bounds), &mut rng);
            rates.decided[nth].add(share(verdicts, scenario.claims.len()), &mut rng);
        }
    }
    rates
}

/// The rates of each scenario, on all cores.
pub fn simulate_all(scenarios: &[Scenario], runs: usize) -> Vec<Rates> {
    let wealths = Wealths::new(LAST);
    let found: Vec<OnceLock<Rates>> = scenarios.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    let Some(scenario) = scenarios.get(nth) else { break };
                    found[nth].get_or_init(|| simulate(scenario, &wealths, runs, nth as u64));
                }
            });
        }
    });
    found.into_iter().filter_map(OnceLock::into_inner).collect()
}
