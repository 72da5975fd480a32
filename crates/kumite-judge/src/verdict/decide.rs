//! From what was measured of two sides to a verdict.

use kumite_record::{AxisValue, Doubt, EffectKind, Reason, Unit, Verdict};
use kumite_stats::{Interval, blocks_to_exclude, median, sequential_median, sequential_ratio};

use super::Evidence;
use super::evidence::Rounds;
use super::expand::Scope;
use crate::claim::{Expr, Op, Test, scale_of_name};

/// How sure an interval must be: what Bonferroni leaves of the chance of a false verdict.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    /// For a claim to hold, every comparison of it has to: one level for all of them.
    pub holds: f64,
    /// For a claim to fail, or to be no difference, one of its comparisons has to: they share the level.
    pub fails: f64,
}

/// What a comparison came to.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub text: String,
    pub verdict: Verdict,
    pub effect: Option<(Interval, EffectKind)>,
    /// What an effect that is no ratio is counted in.
    pub unit: Option<Unit>,
    /// The level of the interval, as a share.
    pub confidence: f64,
    pub reason: Option<Reason>,
    /// Doubts about what it rests on.
    pub doubts: Vec<Doubt>,
    /// How far the nearer end of the interval is from the border of the claim, as a share of how far the estimate is: 1
    /// where there is no uncertainty, 0 where it touches. Orders findings of one verdict.
    pub clearness: f64,
}

impl Finding {
    pub fn new(text: &str, verdict: Verdict, reason: Option<Reason>) -> Finding {
        Finding {
            text: text.to_owned(),
            verdict,
            effect: None,
            unit: None,
            confidence: 0.0,
            reason,
            doubts: Vec::new(),
            clearness: 0.0,
        }
    }
}

/// The two sides of a comparison over the rounds they are estimated from.
pub(super) struct Sides<'a> {
    pub evidence: &'a Evidence<'a>,
    pub left: &'a Expr,
    pub right: &'a Expr,
    pub scope: &'a Scope,
    pub rounds: &'a Rounds,
    pub levels: Levels,
}

impl Sides<'_> {
    /// `complete` if no trial of its cells was lost.
    pub fn finding(&self, test: &Test, text: &str, complete: bool) -> Finding {
        let finding = match test {
            Test::Compare(_, Op::Equal, _) => self.equal(text, complete),
            test => self.estimated(test, text),
        };
        match finding {
            Ok(finding) => finding,
            Err(reason) => Finding::new(text, Verdict::NotTested, Some(reason)),
        }
    }

    /// Each round gives one effect, so that what slows a round down as a whole cancels out; what is judged is their
    /// median.
    fn estimated(&self, test: &Test, text: &str) -> Result<Finding, Reason> {
        let pairs = self.pairs()?;
        let kind = self.kind(test, &pairs)?;
        let effects: Vec<f64> = pairs.iter().map(|(left, right)| effect(*left, *right, kind)).collect();
        let found = |verdict, interval, confidence, clearness| Finding {
            effect: Some((interval, kind)),
            confidence,
            clearness,
            ..Finding::new(text, verdict, None)
        };
        let interval = |alpha| match kind {
            EffectKind::Ratio => sequential_ratio(&pairs, alpha),
            _ => sequential_median(&effects, alpha),
        };
        let Levels { holds, fails } = self.levels;
        let (mut shown, mut looks_failed) = (None, false);
        let margin = self.evidence.grid.run.margin();
        for (alpha, may_be) in
            [(holds, [Verdict::Holds; 2]), (fails, [Verdict::Fails, Verdict::NoDifference])]
        {
            match interval(alpha) {
                Ok(interval) => {
                    let (verdict, clearness) = decide(test, &interval, kind, margin);
                    if may_be.contains(&verdict) {
                        return Ok(found(verdict, interval, 1.0 - alpha, clearness));
                    }
                    looks_failed = verdict == Verdict::Fails;
                    shown = Some(found(Verdict::Undecided, interval, 1.0 - alpha, 0.0));
                }
                Err(kumite_stats::Error::TooFew { have, need }) => {
                    let effect = median(&effects).unwrap_or(f64::NAN);
                    let reason = Reason::TooFewBlocks { level: 1.0 - alpha, need, have, effect, kind };
                    // An interval that would fail it at a lower level would look as if it did.
                    if shown.is_none() || looks_failed {
                        shown = Some(Finding::new(text, Verdict::Undecided, Some(reason)));
                    }
                }
                Err(other) => return Err(Reason::Unjudgeable { why: other.to_string() }),
            }
        }
        let mut shown = shown.ok_or_else(|| Reason::Unjudgeable { why: "it has no level".to_owned() })?;
        if shown.reason.is_none() {
            let blocks = self.more_blocks(test, &effects, kind);
            shown.reason = Some(Reason::MoreBlocks { blocks });
        }
        Ok(shown)
    }

    /// About how many more rounds it takes until it holds or fails, if they go on like these.
    fn more_blocks(&self, test: &Test, effects: &[f64], kind: EffectKind) -> Option<usize> {
        let n = effects.len();
        let count = |beyond: &dyn Fn(f64) -> bool| effects.iter().filter(|effect| beyond(**effect)).count();
        let enough = |beyond: usize, alpha| blocks_to_exclude(beyond, n, alpha).ok().flatten();
        let Levels { holds, fails } = self.levels;
        let (to_hold, to_fail) = match test {
            Test::Within(_, share, _) => {
                let (below, above) = (count(&|e| e < 1.0 - share), count(&|e| e > 1.0 + share));
                let to_hold = enough(below, holds).zip(enough(above, holds)).map(|(a, b)| a.max(b));
                (to_hold, enough((n - below).min(n - above), fails))
            }
            Test::Compare(_, op, _) => {
                let against = count(&|e| !op.holds(e, neutral(kind)));
                (enough(against, holds), enough(n - against, fails))
            }
            Test::Disqualified(_) => (None, None),
        };
        let to_be_alike = match (test, kind) {
            (Test::Compare(..), EffectKind::Ratio) => {
                let (bottom, top) = band(self.evidence.grid.run.margin());
                enough(count(&|e| e < bottom), fails)
                    .zip(enough(count(&|e| e > top), fails))
                    .map(|(a, b)| a.max(b))
            }
            _ => None,
        };
        [to_hold, to_fail, to_be_alike].into_iter().flatten().min().map(|blocks| blocks - n)
    }

    /// A ratio where both sides are positive in every round, a difference elsewhere.
    fn kind(&self, test: &Test, pairs: &[(f64, f64)]) -> Result<EffectKind, Reason> {
        // Compared with 0, or an exponent with its value, a ratio would say nothing.
        let is_plain = |expr: &Expr| matches!(expr, Expr::Fold(fold, ..) if fold.is_ratio());
        let is_positive = pairs.iter().all(|(left, right)| *left > 0.0 && *right > 0.0);
        match test {
            Test::Within(..) if !is_positive => Err(Reason::NotPositive),
            Test::Within(..) => Ok(EffectKind::Ratio),
            _ if is_positive && !is_plain(self.left) && !is_plain(self.right) => Ok(EffectKind::Ratio),
            _ => Ok(EffectKind::Difference),
        }
    }

    /// An exact value has no interval: it is equal in every round, or it is not. A round that is missing is not equal.
    fn equal(&self, text: &str, complete: bool) -> Result<Finding, Reason> {
        let pairs = self.pairs()?;
        let apart = |(left, right): &(f64, f64)| (left - right).abs();
        let furthest = pairs.iter().max_by(|a, b| apart(a).total_cmp(&apart(b)));
        let (left, right) = furthest.copied().unwrap_or_default();
        let verdict = if left == right && complete { Verdict::Holds } else { Verdict::Fails };
        let effect = Some((exactly(left, pairs.len()), EffectKind::Exact));
        Ok(Finding { effect, clearness: 1.0, ..Finding::new(text, verdict, None) })
    }

    /// Both sides, in each round.
    pub fn pairs(&self) -> Result<Vec<(f64, f64)>, Reason> {
        let of_round = |values: &Vec<f64>| {
            let side = |expr| {
                let value = self.value(expr, self.scope, values);
                value.filter(|value| value.is_finite()).ok_or(Reason::NoValue)
            };
            Ok((side(self.left)?, side(self.right)?))
        };
        self.rounds.values.iter().map(of_round).collect()
    }

    fn value(&self, expr: &Expr, scope: &Scope, values: &[f64]) -> Option<f64> {
        match expr {
            Expr::Number(number) => Some(number.value),
            // No claim that was checked has one.
            Expr::Own(_) => None,
            Expr::Parameter(name) => {
                let value = scope.axes.get(&name.text).or_else(|| self.evidence.grid.parameter(&name.text));
                Some(value?.number()? * scale_of_name(&name.text))
            }
            Expr::Metric(metric) => {
                let point = self.evidence.point(metric, scope).ok()?;
                let contender = scope.name(&metric.contender.text);
                let nth = self.rounds.references.iter().position(|reference| {
                    reference.point == point
                        && reference.contender == contender
                        && reference.metric == metric.name.text
                })?;
                Some(values.get(nth)? * scale_of_name(&metric.name.text))
            }
            Expr::Binary(left, operator, _, right) => {
                let (left, right) = (self.value(left, scope, values)?, self.value(right, scope, values)?);
                Some(operator.apply(left, right))
            }
            Expr::Fold(fold, inner, axis) => {
                let points: Vec<(AxisValue, f64)> = self
                    .evidence
                    .fold_values(inner, axis, scope)
                    .into_iter()
                    .map(|value| {
                        let of_value = self.value(inner, &scope.with(&axis.text, &value), values)?;
                        Some((value, of_value))
                    })
                    .collect::<Option<_>>()?;
                fold.of(&points)
            }
        }
    }
}

fn effect(left: f64, right: f64, kind: EffectKind) -> f64 {
    match kind {
        EffectKind::Ratio => left / right,
        _ => left - right,
    }
}

/// The ratios that a margin takes for none, either side being the larger one.
fn band(margin: f64) -> (f64, f64) {
    (1.0 / (1.0 + margin), 1.0 + margin)
}

/// What an effect is where the sides are equal.
fn neutral(kind: EffectKind) -> f64 {
    if kind == EffectKind::Ratio { 1.0 } else { 0.0 }
}

pub(super) fn exactly(value: f64, n: usize) -> Interval {
    Interval { estimate: value, low: value, high: value, n }
}

/// An inequality holds when the whole interval is on its side, an equivalence when it lies inside the band; each fails
/// when the whole interval is outside. Sides whose ratio is within the margin are not told apart. With the verdict comes
/// its clearness.
fn decide(test: &Test, interval: &Interval, kind: EffectKind, margin: f64) -> (Verdict, f64) {
    let Interval { estimate, low, high, .. } = *interval;
    let clearness = |border: f64| {
        let nearer = (low - border).abs().min((high - border).abs());
        let share = nearer / (estimate - border).abs();
        if share.is_finite() { share } else { 1.0 }
    };
    match test {
        Test::Within(_, share, _) => {
            let (bottom, top) = (1.0 - share, 1.0 + share);
            if low >= bottom && high <= top {
                (Verdict::Holds, clearness(bottom).min(clearness(top)))
            } else if high < bottom || low > top {
                (Verdict::Fails, clearness(if high < bottom { bottom } else { top }))
            } else {
                (Verdict::Undecided, 0.0)
            }
        }
        Test::Compare(_, op, _) => {
            let neutral = neutral(kind);
            let (bottom, top) = band(margin);
            if kind == EffectKind::Ratio && margin > 0.0 && low >= bottom && high <= top {
                return (Verdict::NoDifference, clearness(bottom).min(clearness(top)));
            }
            match (op.holds(low, neutral), op.holds(high, neutral)) {
                (true, true) => (Verdict::Holds, clearness(neutral)),
                (false, false) => (Verdict::Fails, clearness(neutral)),
                _ => (Verdict::Undecided, 0.0),
            }
        }
        Test::Disqualified(_) => (Verdict::NotTested, 0.0),
    }
}

/// The finding that decides a claim: parts are joined by `and`, so one that fails decides, the clearest; else one that was
/// not tested; else one that is undecided; else one that is no difference; and among those that hold, the least clear.
pub(super) fn deciding(findings: &[Finding]) -> Option<&Finding> {
    let rank = |finding: &Finding| match finding.verdict {
        Verdict::Fails => (0, -finding.clearness),
        Verdict::NotTested => (1, 0.0),
        Verdict::Undecided => (2, 0.0),
        Verdict::NoDifference => (3, finding.clearness),
        Verdict::Holds => (4, finding.clearness),
    };
    findings.iter().min_by(|a, b| {
        let ((a, by_a), (b, by_b)) = (rank(a), rank(b));
        a.cmp(&b).then(by_a.total_cmp(&by_b))
    })
}
