//! How many rounds it takes until all of six claims are decided, with two-sided bets of 5 %/6 each, and with one-sided
//! bets and e-BH.

use kumite_stats::{Decisions, ErrorRate, median, sequential_median};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::run::ALPHA;
use crate::wealths::Wealths;

/// Further than these plans go.
const LAST: usize = 300;

/// Six claims, by the share of rounds in which their comparisons are so.
pub struct Plan {
    pub name: &'static str,
    shares: [f64; 6],
    /// How many comparisons each claim has.
    k: usize,
    /// How many of these are not so in that share of rounds.
    failing: usize,
}

impl Plan {
    const fn of_one(name: &'static str, shares: [f64; 6]) -> Plan {
        Plan { name, shares, k: 1, failing: 0 }
    }
}

pub const PLANS: [Plan; 9] = [
    Plan::of_one("all rounds on one side", [1.0; 6]),
    Plan::of_one("95 %", [0.95; 6]),
    Plan::of_one("90 %", [0.9; 6]),
    Plan::of_one("three all, three 85 %", [1.0, 1.0, 1.0, 0.85, 0.85, 0.85]),
    Plan { name: "k = 6, all hold, all rounds", shares: [1.0; 6], k: 6, failing: 0 },
    Plan { name: "k = 6, one of them fails, all rounds", shares: [1.0; 6], k: 6, failing: 1 },
    Plan { name: "k = 6, all hold, 90 %", shares: [0.9; 6], k: 6, failing: 0 },
    Plan { name: "k = 6, one of them fails, 90 %", shares: [0.9; 6], k: 6, failing: 1 },
    Plan { name: "k = 6, all fail, 90 %", shares: [0.9; 6], k: 6, failing: 6 },
];

/// The tallies that decide the sequential interval of a median at a level, for each count of rounds.
struct TwoSided {
    /// From how many of n rounds on one side.
    enough: Vec<Option<usize>>,
}

impl TwoSided {
    fn new(alpha: f64) -> TwoSided {
        let excludes = |so: usize, n: usize| {
            let values: Vec<f64> = (0..n).map(|nth| if nth < so { 1.0 } else { -1.0 }).collect();
            sequential_median(&values, alpha).is_ok_and(|interval| interval.low > 0.0)
        };
        let mut least = 0;
        let mut enough = |n: usize| {
            // It never takes fewer of more.
            let found = (least..=n).find(|&so| excludes(so, n));
            least = found.unwrap_or(0);
            found
        };
        TwoSided { enough: (0..=LAST).map(&mut enough).collect() }
    }

    fn decides(&self, so: usize, n: usize) -> bool {
        self.enough[n].is_some_and(|enough| so >= enough)
    }
}

pub struct Judges {
    of_claim: TwoSided,
    of_six_comparisons: TwoSided,
    wealths: Wealths,
}

impl Judges {
    pub fn new() -> Judges {
        Judges {
            of_claim: TwoSided::new(ALPHA / 6.0),
            of_six_comparisons: TwoSided::new(ALPHA / 36.0),
            wealths: Wealths::new(LAST),
        }
    }

    /// The medians of the rounds it takes before and after.
    pub fn medians(&self, plan: &Plan, runs: usize) -> [f64; 2] {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let rounds: Vec<[f64; 2]> = (0..runs).map(|_| self.rounds(plan, &mut rng)).collect();
        [0, 1].map(|nth| {
            let of_all: Vec<f64> = rounds.iter().map(|rounds| rounds[nth]).collect();
            median(&of_all).unwrap_or(f64::NAN)
        })
    }

    fn rounds(&self, plan: &Plan, rng: &mut ChaCha8Rng) -> [f64; 2] {
        let mut so = vec![vec![0; plan.k]; 6];
        let (mut before, mut after) = ([false; 6], [false; 6]);
        let mut decisions = Decisions::new(ErrorRate::FalseDiscovery, ALPHA, 6);
        let mut found = [None; 2];
        for n in 1..=LAST {
            for (claim, share) in so.iter_mut().zip(plan.shares) {
                for (nth, so) in claim.iter_mut().enumerate() {
                    *so += usize::from(rng.random_bool(share) == (nth >= plan.failing));
                }
            }
            for (is_decided, claim) in before.iter_mut().zip(&so) {
                *is_decided |= self.decides_before(claim, n);
            }
            self.decide_after(&so, n, &mut after, &mut decisions);
            for (found, all) in found.iter_mut().zip([before, after]) {
                if found.is_none() && all == [true; 6] {
                    *found = Some(n as f64);
                }
            }
            if found.iter().all(Option::is_some) {
                break;
            }
        }
        found.map(|found| found.unwrap_or(f64::INFINITY))
    }

    fn decides_before(&self, claim: &[usize], n: usize) -> bool {
        let to_fail = if claim.len() == 1 { &self.of_claim } else { &self.of_six_comparisons };
        claim.iter().all(|&so| self.of_claim.decides(so, n))
            || claim.iter().any(|&so| to_fail.decides(n - so, n))
    }

    fn decide_after(&self, so: &[Vec<usize>], n: usize, decided: &mut [bool; 6], decisions: &mut Decisions) {
        let wealth = |claim: &[usize]| {
            let (holds, fails) = (claim.iter().copied(), claim.iter().copied());
            self.wealths.least(holds, n).max(self.wealths.mean_against(fails, n))
        };
        let undecided: Vec<usize> = (0..6).filter(|&nth| !decided[nth]).collect();
        let wealths: Vec<f64> = undecided.iter().map(|&nth| wealth(&so[nth])).collect();
        let threshold = decisions.threshold(&wealths);
        for (&nth, &wealth) in undecided.iter().zip(&wealths) {
            if wealth >= threshold {
                decided[nth] = true;
                decisions.decide(wealth);
            }
        }
    }
}

#[test]
fn clear_claims_of_one_comparison_take_nine_rounds_before_and_five_after() {
    let judges = Judges::new();
    assert_eq!(judges.medians(&PLANS[0], 1), [9.0, 5.0]);
}

#[test]
fn failing_by_one_of_six_comparisons_takes_log2_of_six_rounds_more_than_holding() {
    let judges = Judges::new();
    let [holds, fails] = [&PLANS[4], &PLANS[5]].map(|plan| judges.medians(plan, 1)[1]);
    assert_eq!((holds, fails), (5.0, 8.0));
}
