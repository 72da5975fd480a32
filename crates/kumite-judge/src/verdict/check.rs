//! Checks: statements that must be true whatever the contenders are. They are compared without an interval, and spend
//! no error probability.

use std::collections::BTreeSet;

use kumite_record::{Binds, Check, CheckOutcome, Claim, Doubt, EffectKind, Reason, RedComparison};
use kumite_stats::median;

use super::Evidence;
use super::expand::{Cells, Reach, Scoped};
use super::sides::Sides;
use crate::claim::{ClaimSpec, Op, Test, dimension};

/// A check as an experiment states it, parsed.
#[derive(Clone, Debug)]
pub struct CheckSpec {
    /// The statement of the check. Its `published` is `None`, because a check is nobody's published claim.
    pub says: ClaimSpec,
    /// The figures for which the statement must be true: those of each round, or the median over rounds.
    pub binds: Binds,
    /// The reason why the statement must be true and, if it allows a band, the reason for the band's width.
    pub because: String,
}

/// The outcome of one comparison of a check.
enum Found {
    Green,
    Red(RedComparison),
    NotTested(Reason),
}

impl Evidence<'_> {
    /// The outcomes of all checks. Adds a doubt to each claim that rests on cells of a red check.
    pub fn check_all(&self, specs: &[CheckSpec], claims: &mut [(&ClaimSpec, Claim)]) -> Vec<Check> {
        let mut checks = Vec::new();
        for spec in specs {
            let (check, red) = self.check(spec);
            let in_doubt = |claim: &ClaimSpec| !red.is_empty() && !red.is_disjoint(&self.cells(claim));
            for (_, judged) in claims.iter_mut().filter(|(claim, _)| in_doubt(claim)) {
                judged.doubts.push(Doubt::Check { id: check.id.clone() });
            }
            checks.push(check);
        }
        checks
    }

    /// The outcome of a check, and the cells of its red comparisons.
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
                match self.check_comparison(&scoped, spec.binds).unwrap_or_else(Found::NotTested) {
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

    fn check_comparison(&self, scoped: &Scoped, binds: Binds) -> Result<Found, Reason> {
        let (comparison, scope) = scoped;
        let (Test::Compare(left, _, right) | Test::Within(left, _, right)) = &comparison.test else {
            // No check that was read has `disqualified`.
            return Ok(Found::Green);
        };
        let rounds = self.rounds(self.of_comparison(comparison, scope)?)?;
        let sides = Sides { evidence: self, left, right, scope, references: &rounds.references };
        let unit = |name: &str| self.grid.run.unit(name);
        let off = |values: &[Vec<f64>]| Off::found(&comparison.test, &sides.pairs(values)?, binds);
        let found = off(&rounds.values)?;
        for values in rounds.with_bounds_far() {
            if found.is_some() != off(&values)?.is_some() {
                return Err(Reason::LowerBounds);
            }
        }
        let red = |off: Off| RedComparison {
            comparison: scope.describe(&comparison.text),
            violated: off.violated,
            rounds: rounds.values.len(),
            effect: off.effect,
            effect_kind: off.kind,
            effect_unit: dimension(left, &unit).or(dimension(right, &unit)).into(),
        };
        Ok(found.map_or(Found::Green, |off| Found::Red(red(off))))
    }
}

/// A comparison of a check that is not true.
struct Off {
    /// The number of rounds in which the comparison is not true.
    violated: usize,
    effect: f64,
    kind: EffectKind,
}

impl Off {
    /// The violation of a comparison by these values of both sides, one pair for each round. None if the comparison
    /// is true. An error if an effect is not finite, as a ratio of which only the right side is 0.
    fn found(test: &Test, pairs: &[(f64, f64)], binds: Binds) -> Result<Option<Off>, Reason> {
        let band = Band::new(test, pairs);
        let effects: Vec<f64> = pairs.iter().map(|pair| band.effect(*pair)).collect();
        if effects.iter().any(|effect| !effect.is_finite()) {
            return Err(Reason::NotPositive);
        }
        let violated: Vec<f64> = effects.iter().copied().filter(|effect| !band.holds(*effect)).collect();
        let effect = match binds {
            Binds::Trials => violated.iter().copied().max_by(|a, b| band.off(*a).total_cmp(&band.off(*b))),
            Binds::Median => median(&effects).filter(|median| !band.holds(*median)),
        };
        Ok(effect.map(|effect| Off { violated: violated.len(), effect, kind: band.kind }))
    }
}

/// The range in which the effect of a check's comparison has to lie.
struct Band<'a> {
    test: &'a Test,
    kind: EffectKind,
}

impl Band<'_> {
    /// Makes the band of a comparison. It is of ratios for `within`, and if all sides are above 0; but an equality is
    /// always of differences.
    fn new<'a>(test: &'a Test, pairs: &[(f64, f64)]) -> Band<'a> {
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
            // Equal sides are alike, even if both are 0.
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

    /// The distance of an effect from where both sides are equal.
    fn off(&self, effect: f64) -> f64 {
        match self.kind {
            EffectKind::Ratio if effect > 0.0 => effect.ln().abs(),
            _ => (effect - self.neutral()).abs(),
        }
    }
}

#[cfg(test)]
mod tests;
