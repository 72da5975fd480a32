//! Verdicts: the judgement of claims by trials.
//!
//! A comparison is true if it is so in more than half of all rounds, and false otherwise. There is a bet for its truth
//! and a bet against it, which go on round after round. A claim holds by the least of its comparisons' wealths, and
//! fails by the mean of those of the opposite bets; which wealth is enough depends on how many claims there are, and
//! how many of them are decided ([`kumite_stats::Decisions`]).

mod agreement;
mod check;
mod course;
mod effects;
mod evidence;
mod expand;
mod moved;
mod near_tie;
mod posed;
mod prospect;
mod scale;
mod shown;
mod sides;
mod sitting;
mod without_value;

use std::collections::BTreeSet;

use kumite_record::{Claim, Contender, ContenderStatus, Outcome, Reason, Trial, Verdict};

pub use self::check::CheckSpec;
use self::course::{Course, Ruling};
use self::effects::Effects;
pub(crate) use self::evidence::Evidence;
pub use self::expand::Reference;
use self::expand::{Reach, Scope};
use self::posed::{Compared, Exact, Found, Posed};
use self::sides::Sides;
use crate::claim::{ClaimSpec, Comparison, Expr, Op, Test};

/// The error that a run is allowed: the mean share of false verdicts among its verdicts or, by the strict rule, the
/// probability of any false verdict.
const ALPHA: f64 = 0.05;

impl<'a> Evidence<'a> {
    /// Judges all claims of an experiment together.
    pub fn judge_all(&self, specs: &'a [ClaimSpec]) -> Vec<Claim> {
        let course = Course::new(self, specs);
        let judged = course.rulings.iter().map(|ruling| {
            let spec = ruling.posed.spec;
            let (left_out, scale) = (self.left_out(spec), self.scale(spec));
            let mut claim = ruling.posed.shown(self, ruling.verdict, ruling.look, &course);
            let all = (ruling.look < self.rounds).then(|| self.pose_one(spec));
            if let Some(all) = &all {
                ruling.posed.beside_all_rounds(all, ruling.look, &course, &mut claim);
            }
            let all = all.as_ref().unwrap_or(&ruling.posed);
            claim.doubts.extend(ruling.posed.moved(all, self, ruling.look, &course, claim.verdict));
            Claim { left_out, scale, ..claim }
        });
        judged.collect()
    }

    /// The cells of the plan that claims need if more blocks might decide them; all cells if there are no claims. If
    /// the run is judged at its end, decided claims count as well, as long as another claim is open.
    pub fn undecided_cells(&self, specs: &'a [ClaimSpec]) -> BTreeSet<(String, usize)> {
        if specs.is_empty() {
            let of_contender = |contender: &Contender| {
                let points = 0..self.grid.run.points.len();
                points.map(|point| (contender.name.clone(), point)).collect::<Vec<_>>()
            };
            return self.contenders.iter().flat_map(of_contender).collect();
        }
        let may_be_decided = |ruling: &&Ruling| match ruling.verdict {
            Verdict::Undecided => true,
            // A cell whose first trial failed may have another one.
            Verdict::NotTested => {
                let may_come =
                    |(compared, reason): (&Compared, &Reason)| self.may_come(&compared.references, reason);
                ruling.posed.has_bets && ruling.posed.untestable().all(may_come)
            }
            Verdict::Holds
            | Verdict::Fails
            | Verdict::NoDifference
            | Verdict::DependsOnSitting
            | Verdict::Other(_) => false,
        };
        let course = Course::new(self, specs);
        // If a run is judged at its end, a decided claim is measured further as long as another is not decided.
        let goes_on =
            self.grid.run.is_judged_at_its_end() && course.rulings.iter().any(|of| may_be_decided(&of));
        let is_open = |ruling: &&Ruling| {
            let may_be_undecided = || ruling.posed.broken().is_none() && ruling.posed.bets().next().is_some();
            may_be_decided(ruling) || goes_on && may_be_undecided()
        };
        let open = course.rulings.iter().filter(is_open).flat_map(|ruling| &ruling.posed.comparisons);
        let references = open.flat_map(|compared| &compared.references);
        references.map(|it| (it.contender.clone(), self.grid.folded(it.point))).collect()
    }

    /// The ids of the claims that cannot be judged because trials have too few values for a percentile, each with the
    /// reason for the cell that lacks most.
    pub fn lacking_values(&self, specs: &[ClaimSpec]) -> Vec<(String, Reason)> {
        let lacks = |reason: &Reason| match reason {
            Reason::TooFewValues { missing, .. } => *missing,
            _ => 0,
        };
        let of_claim = |spec: &ClaimSpec| {
            let parts = self.parts(spec, Reach::Measurable);
            let cells = parts
                .iter()
                .flatten()
                .flat_map(|(comparison, scope)| self.of_comparison(comparison, scope).unwrap_or_default());
            let most = cells.filter_map(|cell| self.too_few_values(&cell)).max_by_key(lacks);
            Some((spec.id.clone(), most?))
        };
        specs.iter().filter_map(of_claim).collect()
    }

    fn pose(&self, specs: &'a [ClaimSpec]) -> Vec<Posed<'a>> {
        specs.iter().map(|spec| self.pose_one(spec)).collect()
    }

    fn pose_one(&self, spec: &'a ClaimSpec) -> Posed<'a> {
        Posed::new(self, spec, &self.parts(spec, Reach::Measurable))
    }

    /// True if all contenders of a comparison run, and this machine can measure its points. It is known before the
    /// first trial, so that the number of bets does not depend on what is measured.
    fn can_be_tried(&self, comparison: &Comparison, scope: &Scope) -> bool {
        let ran = |reference: &Reference| {
            let named = self.contenders.iter().find(|contender| contender.name == reference.contender);
            named.is_some_and(|contender| contender.status == ContenderStatus::Ran)
                && self.grid.unavailable(reference.point).is_none()
        };
        self.of_comparison(comparison, scope).is_ok_and(|references| references.iter().all(ran))
    }

    /// The number of comparisons that an `every` leaves out because this machine cannot measure their points.
    fn left_out(&self, spec: &ClaimSpec) -> usize {
        if self.grid.run.unavailable.is_empty() {
            return 0;
        }
        let count = |reach| self.parts(spec, reach).iter().map(Vec::len).sum::<usize>();
        count(Reach::Planned) - count(Reach::Measurable)
    }

    fn compared(&self, comparison: &Comparison, scope: &Scope) -> Compared {
        let references = self.of_comparison(comparison, scope);
        let of_cells = references.as_deref().unwrap_or_default();
        let doubts = self.lost(of_cells).into_iter().chain(self.marked(of_cells)).collect();
        let sides = match &comparison.test {
            Test::Disqualified(_) => None,
            Test::Compare(left, op, right) => Some((left, (*op).into(), right)),
            Test::Within(left, share, right) => Some((left, kumite_record::Op::Within(*share), right)),
        };
        let sides = sides.map(|(left, op, right)| {
            Sides { evidence: self, left, right, scope, references: of_cells }.named(op)
        });
        let found = match &comparison.test {
            Test::Disqualified(name) => self.disqualified(scope.name(&name.text), scope),
            Test::Compare(left, _, right) | Test::Within(left, _, right) => references
                .clone()
                .and_then(|references| self.found(&comparison.test, [left, right], scope, references)),
        };
        let wrong = match &comparison.test {
            Test::Disqualified(name) => Some(scope.name(&name.text).to_owned()),
            Test::Compare(..) | Test::Within(..) => None,
        };
        Compared {
            text: comparison.text.clone(),
            scope: scope.clone(),
            sides,
            wrong,
            off: self.off_in(of_cells).cloned(),
            references: references.unwrap_or_default(),
            doubts,
            found: found.unwrap_or_else(Found::Untestable),
        }
    }

    fn found(
        &self,
        test: &Test,
        [left, right]: [&Expr; 2],
        scope: &Scope,
        references: Vec<Reference>,
    ) -> Result<Found, Reason> {
        let rounds = self.rounds(references)?;
        let sides = Sides { evidence: self, left, right, scope, references: &rounds.references };
        match test {
            Test::Compare(_, Op::Equal, _) => {
                let is_complete = self.lost(&rounds.references).is_empty();
                Ok(Found::Exact(equal(&sides.pairs(&rounds.values)?, is_complete)))
            }
            test => Ok(Found::Measured(Effects::new(test, &sides, &rounds, self.grid.run.margin())?)),
        }
    }

    fn disqualified(&self, name: &str, scope: &Scope) -> Result<Found, Reason> {
        let here = self.trials_of(name).filter(|(point, _)| scope.holds_at(&self.grid.points[*point]));
        let mut trials: Vec<&Trial> = here.map(|(_, trial)| trial).collect();
        // A trial that has parts is seen several times.
        trials.sort_by_key(|trial| trial.seq);
        trials.dedup_by_key(|trial| trial.seq);
        if trials.iter().all(|trial| trial.outcome == Outcome::Failed) {
            return Err(self.absence(name, None));
        }
        let wrong = trials.iter().filter(|trial| trial.outcome == Outcome::Disqualified).count();
        let reason = Reason::WrongAnswers { contender: name.to_owned(), wrong, trials: trials.len() };
        Ok(Found::Exact(Exact { holds: wrong > 0, value: wrong as f64, figures: None, reason: Some(reason) }))
    }
}

/// The outcome of an equality: both sides must be equal in every round, and no round may be missing.
fn equal(pairs: &[(f64, f64)], is_complete: bool) -> Exact {
    let apart = |(left, right): &(f64, f64)| (left - right).abs();
    let furthest = pairs.iter().max_by(|a, b| apart(a).total_cmp(&apart(b)));
    let (left, right) = furthest.copied().unwrap_or_default();
    Exact { holds: left == right && is_complete, value: left, figures: furthest.copied(), reason: None }
}

#[cfg(test)]
mod tests;
