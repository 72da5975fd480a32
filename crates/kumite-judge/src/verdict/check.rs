//! Checks: what must be so whatever the contenders are. They are compared as they are, and spend no error probability.

use std::collections::BTreeSet;

use kumite_record::{Binds, Check, CheckOutcome, Claim, Doubt, EffectKind, Reason, RedComparison};
use kumite_stats::median;

use super::Evidence;
use super::decide::{Levels, Sides};
use super::evidence::Rounds;
use super::expand::{Cells, Reach, Scoped};
use crate::claim::{ClaimSpec, Op, Test, dimension};

/// A check as an experiment states it.
#[derive(Clone, Debug)]
pub struct CheckSpec {
    /// What it says; nothing is published of it.
    pub says: ClaimSpec,
    /// What it is compared with.
    pub binds: Binds,
    /// Why it must be so.
    pub because: String,
}

/// What a comparison of a check came to.
enum Found {
    Green,
    Red(RedComparison),
    NotTested(Reason),
}

impl Evidence<'_> {
    /// The outcomes of all checks. A claim that rests on cells of a red one is in doubt.
    pub fn check_all(&self, specs: &[CheckSpec], claims: &mut [(&ClaimSpec, Claim)]) -> Vec<Check> {
        let mut checks = Vec::new();
        for spec in specs {
            let (check, red) = self.check(spec);
            for (claim, judged) in claims.iter_mut() {
                if !red.is_disjoint(&self.cells(claim)) {
                    judged.doubts.push(Doubt::Check { id: check.id.clone() });
                }
            }
            checks.push(check);
        }
        checks
    }

    /// The outcome of a check, and the cells of what is red.
    fn check(&self, spec: &CheckSpec) -> (Check, Cells) {
        let says = &spec.says;
        let mut check = Check {
            id: says.id.clone(),
            assert: says.assert.clone(),
            title: says.title.clone(),
            binds: spec.binds,
            because: spec.because.clone(),
            outcome: CheckOutcome::Green,
            green: 0,
            of: 0,
            red: Vec::new(),
            reason: None,
        };
        let mut cells = BTreeSet::new();
        for part in self.parts(says, Reach::Measurable) {
            if part.is_empty() {
                let profile = self.grid.run.profile.clone();
                check.reason.get_or_insert(Reason::NoPart { profile });
            }
            check.of += part.len();
            for scoped in part {
                match self.compared(&scoped, spec.binds).unwrap_or_else(Found::NotTested) {
                    Found::Green => check.green += 1,
                    Found::Red(red) => {
                        check.red.push(red);
                        cells.extend(self.cells_of(&scoped));
                    }
                    Found::NotTested(reason) => drop(check.reason.get_or_insert(reason)),
                }
            }
        }
        check.outcome = match (check.red.is_empty(), &check.reason) {
            (false, _) => CheckOutcome::Red,
            (true, Some(_)) => CheckOutcome::NotTested,
            (true, None) => CheckOutcome::Green,
        };
        (check, cells)
    }

    fn compared(&self, scoped: &Scoped, binds: Binds) -> Result<Found, Reason> {
        let (comparison, scope) = scoped;
        let rounds = self.rounds(self.of_comparison(comparison, scope)?)?;
        let found = |rounds: &Rounds| self.compared_in(scoped, rounds, binds);
        let found_here = found(&rounds)?;
        if rounds.has_bounds() {
            let is_red = |found: &Found| matches!(found, Found::Red(_));
            if is_red(&found_here) != is_red(&found(&rounds.with_bounds_far())?) {
                return Err(Reason::LowerBounds);
            }
        }
        Ok(found_here)
    }

    fn compared_in(
        &self,
        (comparison, scope): &Scoped,
        rounds: &Rounds,
        binds: Binds,
    ) -> Result<Found, Reason> {
        let (left, right) = match &comparison.test {
            Test::Compare(left, _, right) | Test::Within(left, _, right) => (left, right),
            // No check that was read has one.
            Test::Disqualified(_) => return Ok(Found::Green),
        };
        let levels = Levels { holds: 1.0, fails: 1.0 };
        let pairs = Sides { evidence: self, left, right, scope, rounds, levels }.pairs()?;
        let band = Band::of(&comparison.test, &pairs);
        let effects: Vec<f64> = pairs.iter().map(|pair| band.effect(*pair)).collect();
        let violated: Vec<f64> = effects.iter().copied().filter(|effect| !band.holds(*effect)).collect();
        let effect = match binds {
            Binds::Trials => violated.iter().copied().max_by(|a, b| band.off(*a).total_cmp(&band.off(*b))),
            Binds::Median => median(&effects).filter(|median| !band.holds(*median)),
        };
        let unit = |name: &str| self.grid.run.unit(name);
        Ok(effect.map_or(Found::Green, |effect| {
            Found::Red(RedComparison {
                comparison: scope.describe(&comparison.text),
                violated: violated.len(),
                rounds: effects.len(),
                effect,
                effect_kind: band.kind,
                effect_unit: dimension(left, &unit).or(dimension(right, &unit)).into(),
            })
        }))
    }
}

/// Where an effect has to lie.
struct Band<'a> {
    test: &'a Test,
    kind: EffectKind,
}

impl Band<'_> {
    /// Of ratios where all sides are positive. Counts that are to be equal differ by a number.
    fn of<'a>(test: &'a Test, pairs: &[(f64, f64)]) -> Band<'a> {
        let is_positive = pairs.iter().all(|(left, right)| *left > 0.0 && *right > 0.0);
        let kind = match test {
            Test::Compare(_, Op::Equal, _) => EffectKind::Difference,
            Test::Within(..) => EffectKind::Ratio,
            _ if is_positive => EffectKind::Ratio,
            _ => EffectKind::Difference,
        };
        Band { test, kind }
    }

    fn effect(&self, (left, right): (f64, f64)) -> f64 {
        match self.kind {
            // Nothing is as much as nothing.
            EffectKind::Ratio if left == right => 1.0,
            EffectKind::Ratio => left / right,
            _ => left - right,
        }
    }

    fn neutral(&self) -> f64 {
        if self.kind == EffectKind::Ratio { 1.0 } else { 0.0 }
    }

    fn holds(&self, effect: f64) -> bool {
        match self.test {
            Test::Compare(_, op, _) => op.holds(effect, self.neutral()),
            Test::Within(_, share, _) => (effect - 1.0).abs() <= *share,
            Test::Disqualified(_) => false,
        }
    }

    /// How far an effect is from where the sides are equal.
    fn off(&self, effect: f64) -> f64 {
        match self.kind {
            EffectKind::Ratio if effect > 0.0 => effect.ln().abs(),
            _ => (effect - self.neutral()).abs(),
        }
    }
}

#[cfg(test)]
mod tests;
