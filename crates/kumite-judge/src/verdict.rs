//! Verdicts: what the trials say of a claim.

mod decide;
mod evidence;
mod expand;

use std::collections::BTreeSet;

use kumite_record::{
    Claim, Contender, ContenderStatus, Decider, Doubt, EffectKind, Outcome, Reason, Trial, Unit, Verdict,
};

use self::decide::{Finding, Levels, Sides, deciding, exactly};
pub(crate) use self::evidence::Evidence;
use self::evidence::Rounds;
use self::expand::{Reach, Reference, Scope, Scoped};
use crate::claim::{ClaimSpec, Comparison, Test, dimension};

/// How often any of a run's verdicts may be false, however often one looks.
const ALPHA: f64 = 0.05;

impl Evidence<'_> {
    /// All claims of an experiment, judged together.
    pub fn judge_all(&self, specs: &[ClaimSpec]) -> Vec<Claim> {
        let parts: Vec<Vec<Vec<Scoped>>> =
            specs.iter().map(|spec| self.parts(spec, Reach::Measurable)).collect();
        let claims = parts.iter().filter(|parts| self.is_uncertain(parts)).count().max(1) as f64;
        let judged = specs.iter().zip(&parts).map(|(spec, parts)| {
            let comparisons = parts.iter().flatten().filter(|(comparison, _)| comparison.has_interval());
            let holds = ALPHA / claims;
            let levels = Levels { holds, fails: holds / comparisons.count().max(1) as f64 };
            self.judge(spec, parts, levels)
        });
        judged.collect()
    }

    /// The cells that claims need which more blocks might decide, by points of the plan; all of them, if nothing is claimed.
    pub fn undecided_cells(&self, specs: &[ClaimSpec]) -> BTreeSet<(String, usize)> {
        let mut cells = BTreeSet::new();
        if specs.is_empty() {
            let of_contender = |contender: &Contender| {
                let points = 0..self.grid.run.points.len();
                points.map(|point| (contender.name.clone(), point)).collect::<Vec<_>>()
            };
            cells.extend(self.contenders.iter().flat_map(of_contender));
        }
        for (spec, claim) in specs.iter().zip(self.judge_all(specs)) {
            if claim.verdict != Verdict::Undecided {
                continue;
            }
            for (comparison, scope) in self.parts(spec, Reach::Measurable).iter().flatten() {
                let references = self.of_comparison(comparison, scope).unwrap_or_default();
                let cell = |reference: Reference| (reference.contender, self.grid.folded(reference.point));
                cells.extend(references.into_iter().map(cell));
            }
        }
        cells
    }

    /// The claims that cannot be judged because trials have too few values for a percentile, by their ids, and of the cells that
    /// lack some the one that lacks most.
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

    /// Whether a verdict on it can be a matter of chance: it has intervals, and all that it needs was to be tried.
    fn is_uncertain(&self, parts: &[Vec<Scoped>]) -> bool {
        let ran = |reference: &Reference| {
            let named = self.contenders.iter().find(|contender| contender.name == reference.contender);
            named.is_some_and(|contender| contender.status == ContenderStatus::Ran)
        };
        let tried = |(comparison, scope): &Scoped| {
            self.of_comparison(comparison, scope).is_ok_and(|references| references.iter().all(ran))
        };
        parts.iter().flatten().any(|(comparison, _)| comparison.has_interval())
            && parts.iter().all(|part| !part.is_empty() && part.iter().all(tried))
    }

    fn judge(&self, spec: &ClaimSpec, parts: &[Vec<Scoped>], levels: Levels) -> Claim {
        let mut findings = Vec::new();
        for part in parts {
            findings.extend(part.iter().map(|(comparison, scope)| self.compare(comparison, scope, levels)));
            if part.is_empty() {
                let reason = Reason::NoPart { profile: self.grid.run.profile.clone() };
                findings.push(Finding::new(&spec.assert, Verdict::NotTested, Some(reason)));
            }
        }
        let finding = deciding(&findings);
        let effect = finding.and_then(|finding| finding.effect.as_ref());
        let alike = || findings.iter().filter(|other| finding.is_some_and(|it| it.verdict == other.verdict));
        let doubts: BTreeSet<&Doubt> = alike().flat_map(|finding| &finding.doubts).collect();
        Claim {
            id: spec.id.clone(),
            assert: spec.assert.clone(),
            title: spec.title.clone(),
            published: spec.published.clone(),
            verdict: finding.map_or(Verdict::NotTested, |finding| finding.verdict),
            effect: effect.map(|(interval, _)| interval.estimate),
            low: effect.map(|(interval, _)| interval.low),
            high: effect.map(|(interval, _)| interval.high),
            confidence: finding.map(|finding| finding.confidence).filter(|confidence| *confidence > 0.0),
            effect_kind: effect.map(|(_, kind)| *kind),
            effect_unit: effect
                .filter(|(_, kind)| *kind != EffectKind::Ratio)
                .and_then(|_| finding.and_then(|finding| finding.unit)),
            decided_by: finding.map(|finding| Decider {
                comparison: finding.text.clone(),
                alike: alike().count(),
                of: findings.len(),
            }),
            reason: finding.and_then(|finding| finding.reason.clone()),
            doubts: doubts.into_iter().cloned().collect(),
            left_out: self.left_out(spec, parts),
            why: String::new(),
        }
    }

    /// How many comparisons an `every` has left out for want of what this machine lacks.
    fn left_out(&self, spec: &ClaimSpec, parts: &[Vec<Scoped>]) -> usize {
        if self.grid.run.unavailable.is_empty() {
            return 0;
        }
        let count = |parts: &[Vec<Scoped>]| parts.iter().map(Vec::len).sum::<usize>();
        count(&self.parts(spec, Reach::Planned)) - count(parts)
    }

    fn compare(&self, comparison: &Comparison, scope: &Scope, levels: Levels) -> Finding {
        let text = scope.describe(&comparison.text);
        let (left, right) = match &comparison.test {
            Test::Disqualified(name) => return self.disqualified(scope.name(&name.text), scope, &text),
            Test::Compare(left, _, right) | Test::Within(left, _, right) => (left, right),
        };
        let rounds = match self.of_comparison(comparison, scope).and_then(|cells| self.rounds(cells)) {
            Ok(rounds) => rounds,
            Err(reason) => return Finding::new(&text, Verdict::NotTested, Some(reason)),
        };
        let lost = self.lost(&rounds.references);
        let finding = |rounds: &Rounds| {
            let sides = Sides { evidence: self, left, right, scope, rounds, levels };
            sides.finding(&comparison.test, &text, lost.is_empty())
        };
        let mut seen = finding(&rounds);
        if rounds.has_bounds() && finding(&rounds.with_bounds_far()).verdict != seen.verdict {
            seen.verdict = Verdict::Undecided;
            seen.reason = Some(Reason::LowerBounds);
        }
        let unit = |name: &str| self.grid.run.unit(name);
        seen.unit = Some(dimension(left, &unit).or(dimension(right, &unit)).into());
        let marked = self.marked(&rounds.references);
        seen.doubts = lost.into_iter().chain(marked).collect();
        seen
    }

    fn disqualified(&self, name: &str, scope: &Scope, text: &str) -> Finding {
        let here = self.trials_of(name).filter(|(point, _)| scope.holds_at(&self.grid.points[*point]));
        let mut trials: Vec<&Trial> = here.map(|(_, trial)| trial).collect();
        // One that has parts is seen several times.
        trials.sort_by_key(|trial| trial.seq);
        trials.dedup_by_key(|trial| trial.seq);
        if trials.iter().all(|trial| trial.outcome == Outcome::Failed) {
            return Finding::new(text, Verdict::NotTested, Some(self.absence(name, None)));
        }
        let wrong = trials.iter().filter(|trial| trial.outcome == Outcome::Disqualified).count();
        let verdict = if wrong > 0 { Verdict::Holds } else { Verdict::Fails };
        let reason = Reason::WrongAnswers { contender: name.to_owned(), wrong, trials: trials.len() };
        let effect = Some((exactly(wrong as f64, trials.len()), EffectKind::Exact));
        Finding {
            effect,
            unit: Some(Unit::Count),
            clearness: 1.0,
            ..Finding::new(text, verdict, Some(reason))
        }
    }
}

#[cfg(test)]
mod tests;
