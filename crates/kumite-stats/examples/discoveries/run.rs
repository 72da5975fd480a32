//! A run: rounds, bets, verdicts, and how many of these are false when it stops.

use kumite_stats::{ClaimWealth, Decisions, ErrorRate};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::noise::{Machine, Noise};
use crate::truth::{Claim, Comparison, Side, Verdict};
use crate::wealths::Wealths;

pub const ALPHA: f64 = 0.05;
/// The last round of a run that stops at a fixed one.
pub const FIXED: usize = 24;
/// The last round of any.
pub const LAST: usize = 100;

/// The comparisons that see the same pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    Independent,
    /// All comparisons of a claim do.
    TiedComparisons,
    /// All claims do.
    TiedClaims,
}

pub struct Scenario<'a> {
    pub noise: &'a Noise,
    pub claims: Vec<Claim>,
    pub dependence: Dependence,
    pub rate: ErrorRate,
    /// How likely a block is void in which a is slower, and one in which b is. For equal contenders.
    pub voids: (f64, f64),
}

/// The verdicts and bounds in the report of a run that was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    pub verdicts: usize,
    pub false_verdicts: usize,
    /// Bounds of decided claims.
    pub bounds: usize,
    pub false_bounds: usize,
}

/// In how many rounds something was so of a comparison.
#[derive(Clone, Default)]
struct Counts {
    claimed: usize,
    loosened: usize,
    tightened: usize,
    /// The bet that the value is above the least of the claim's true ratios.
    above_least: usize,
    /// The bet that it is below its own.
    below_own: usize,
}

/// The borders of a comparison for what two identical contenders measure: those of its values, by its true ratio.
#[derive(Clone)]
struct Limits {
    side: Side,
    claimed: f64,
    /// Loosened and tightened, if there is a margin.
    margin: Option<(f64, f64)>,
    least: f64,
}

impl Limits {
    fn of_claim(claim: &Claim) -> Vec<Limits> {
        let least = claim.comparisons.iter().map(|one| one.ratio).fold(f64::INFINITY, f64::min);
        let limits = |one: &Comparison| Limits {
            side: one.side,
            claimed: one.border / one.ratio,
            margin: claim.margin.map(|margin| {
                let (loosened, tightened) = one.borders(margin);
                (loosened / one.ratio, tightened / one.ratio)
            }),
            least: least / one.ratio,
        };
        claim.comparisons.iter().map(limits).collect()
    }

    #[inline]
    fn count(&self, noise: f64, counts: &mut Counts) {
        counts.claimed += usize::from(self.side.is_met(noise, self.claimed));
        if let Some((loosened, tightened)) = self.margin {
            counts.loosened += usize::from(self.side.is_met(noise, loosened));
            counts.tightened += usize::from(self.side.is_met(noise, tightened));
        }
        counts.above_least += usize::from(noise > self.least);
        counts.below_own += usize::from(noise < 1.0);
    }
}

#[derive(Clone)]
struct ClaimState {
    n: usize,
    counts: Vec<Counts>,
    decided: Option<Verdict>,
}

/// All that stays the same from run to run, and room to play in.
pub struct Player<'a> {
    scenario: &'a Scenario<'a>,
    wealths: &'a Wealths,
    limits: Vec<Vec<Limits>>,
    states: Vec<ClaimState>,
    most: Vec<f64>,
}

impl<'a> Player<'a> {
    pub fn new(scenario: &'a Scenario<'a>, wealths: &'a Wealths) -> Player<'a> {
        let claims = &scenario.claims;
        let state = |claim: &Claim| ClaimState {
            n: 0,
            counts: vec![Counts::default(); claim.comparisons.len()],
            decided: None,
        };
        Player {
            scenario,
            wealths,
            limits: claims.iter().map(Limits::of_claim).collect(),
            states: claims.iter().map(state).collect(),
            most: Vec::with_capacity(claims.len()),
        }
    }

    /// One run, with a look after every round, as it is when stopped after a fixed number of rounds, at the first
    /// verdict, and at the first false one.
    pub fn play(&mut self, rng: &mut ChaCha8Rng) -> [Given; 3] {
        let mut machine = Machine::default();
        let mut decisions = Decisions::new(self.scenario.rate, ALPHA, self.states.len());
        for state in &mut self.states {
            (state.n, state.decided) = (0, None);
            state.counts.fill(Counts::default());
        }
        let mut now = Given::default();
        let mut stops = [None; 3];
        for round in 1..=LAST {
            self.measure(&mut machine, rng);
            if self.decide(&mut decisions) {
                now = self.given(&decisions);
            }
            let is_met = [round == FIXED, now.verdicts > 0, now.false_verdicts > 0];
            for (stop, _) in stops.iter_mut().zip(is_met).filter(|(stop, is_met)| stop.is_none() && *is_met) {
                *stop = Some(now);
            }
            if stops.iter().all(Option::is_some) || now.verdicts == self.states.len() {
                break;
            }
        }
        stops.map(|stop| stop.unwrap_or(now))
    }

    /// A round of those claims that are undecided.
    fn measure(&mut self, machine: &mut Machine, rng: &mut ChaCha8Rng) {
        let dependence = self.scenario.dependence;
        let mut pair = || ratio(self.scenario, machine, rng);
        let of_all = (dependence == Dependence::TiedClaims).then(&mut pair);
        let undecided = self.states.iter_mut().zip(&self.limits).filter(|(state, _)| state.decided.is_none());
        for (state, limits) in undecided {
            state.n += 1;
            let of_claim = match dependence {
                Dependence::Independent => None,
                Dependence::TiedComparisons => Some(pair()),
                Dependence::TiedClaims => of_all,
            };
            for (counts, limits) in state.counts.iter_mut().zip(limits) {
                limits.count(of_claim.unwrap_or_else(&mut pair), counts);
            }
        }
    }

    /// True if some claim was decided by this call.
    fn decide(&mut self, decisions: &mut Decisions) -> bool {
        self.most.clear();
        for nth in 0..self.states.len() {
            self.most.extend(self.is_near(nth).then(|| self.wealth(nth).most()));
        }
        if self.most.is_empty() {
            return false;
        }
        let threshold = decisions.threshold(&self.most);
        let mut is_any = false;
        for nth in 0..self.states.len() {
            let wealth = if self.is_near(nth) { self.wealth(nth) } else { continue };
            if wealth.most() >= threshold {
                is_any = true;
                decisions.decide(wealth.most());
                self.states[nth].decided = Some(match threshold {
                    enough if wealth.no_difference >= enough => Verdict::NoDifference,
                    enough if wealth.holds >= enough => Verdict::Holds,
                    _ => Verdict::Fails,
                });
            }
        }
        is_any
    }

    /// The claim is undecided and any bet on it has reached the threshold that all claims together would need: none
    /// is lower.
    fn is_near(&self, nth: usize) -> bool {
        let ClaimState { n, counts, decided } = &self.states[nth];
        let so = counts.iter().map(|counts| counts.claimed);
        let fewest = so.min().unwrap_or(0);
        let is_any = [fewest, n - fewest].iter().any(|so| self.wealths.get(*so, *n) >= 1.0 / ALPHA);
        decided.is_none() && (is_any || self.scenario.claims[nth].margin.is_some())
    }

    fn wealth(&self, nth: usize) -> ClaimWealth {
        let ClaimState { n, counts, .. } = &self.states[nth];
        let claimed = || counts.iter().map(|counts| counts.claimed);
        let no_difference = || {
            let loosened_holds = self.wealths.least(counts.iter().map(|counts| counts.loosened), *n);
            loosened_holds.min(self.wealths.mean_against(counts.iter().map(|counts| counts.tightened), *n))
        };
        ClaimWealth {
            holds: self.wealths.least(claimed(), *n),
            fails: self.wealths.mean_against(claimed(), *n),
            no_difference: if self.scenario.claims[nth].margin.is_some() { no_difference() } else { 0.0 },
        }
    }

    fn given(&self, decisions: &Decisions) -> Given {
        let threshold = decisions.threshold(&[]);
        let mut given = Given::default();
        for (state, claim) in self.states.iter().zip(&self.scenario.claims) {
            let Some(verdict) = state.decided else { continue };
            given.verdicts += 1;
            given.false_verdicts += usize::from(claim.is_false(verdict));
            if let Some(is_false) = self.false_bound(state, verdict, threshold) {
                given.bounds += 1;
                given.false_bounds += usize::from(is_false);
            }
        }
        given
    }

    /// The bound that is shown is false, for claims whose comparisons all say "above": a bound is beyond a value
    /// exactly where the bet on that value has reached the threshold. `None` if none is shown.
    fn false_bound(&self, state: &ClaimState, verdict: Verdict, threshold: f64) -> Option<bool> {
        let wealth = |so: usize| self.wealths.get(so, state.n);
        match verdict {
            Verdict::NoDifference => None,
            // "All are at least …": the least of the bounds.
            Verdict::Holds => Some(
                self.wealths.least(state.counts.iter().map(|counts| counts.above_least), state.n)
                    >= threshold,
            ),
            // "This one is at most …": the clearest, if it is clear enough by itself.
            Verdict::Fails => {
                let alone = threshold * state.counts.len() as f64;
                let clearest = state.counts.iter().min_by_key(|counts| counts.claimed)?;
                let is_named = wealth(state.n - clearest.claimed) >= alone;
                is_named.then(|| wealth(clearest.below_own) >= alone)
            }
        }
    }
}

/// The ratio of two identical contenders in a block that is not void.
fn ratio(scenario: &Scenario, machine: &mut Machine, rng: &mut ChaCha8Rng) -> f64 {
    loop {
        let (a, b) = scenario.noise.pair(machine, rng);
        let void = if a > b { scenario.voids.0 } else { scenario.voids.1 };
        if void == 0.0 || !rng.random_bool(void) {
            return a / b;
        }
    }
}
