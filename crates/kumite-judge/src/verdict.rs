//! Verdicts: what the trials say of a claim.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{
    AxisValue, Claim, Contender, ContenderStatus, EffectKind, Outcome, Point, Run, Trial, Verdict,
};
use kumite_stats::{Interval, blocks_to_exclude, median, sequential_median, sequential_ratio};

use crate::claim::{
    self, ClaimSpec, Comparison, EACH_CONTENDER, Every, Expr, Fold, MetricOf, Name, Number, Op, Part, Test,
    scale_of_name,
};

/// How a doubt begins that is about a mark.
const MARKED: &str = "rests on marked samples: ";
/// Further than any claim asks.
const FAR: f64 = 1e9;

/// How often any of a run's verdicts may be false, however often one looks.
const ALPHA: f64 = 0.05;

/// All that a judge looks at.
pub struct Evidence<'a> {
    pub run: &'a Run,
    pub trials: Vec<&'a Trial>,
    pub contenders: &'a [Contender],
}

/// How sure an interval must be: what Bonferroni leaves of [`ALPHA`].
#[derive(Clone, Copy, Debug)]
struct Levels {
    /// For a claim to hold, every comparison of it has to: one level for all of them.
    holds: f64,
    /// For a claim to fail, or to be no difference, one of its comparisons has to: they share the level.
    fails: f64,
}

/// A comparison, with what the `every`s around it have set.
type Scoped<'a> = (&'a Comparison, Scope);

/// What a comparison came to.
#[derive(Clone, Debug)]
struct Finding {
    text: String,
    verdict: Verdict,
    effect: Option<(Interval, EffectKind)>,
    /// The level of the interval, as a share.
    confidence: f64,
    why: String,
    /// How many more blocks it would about take, if it is undecided and that can be said.
    more_blocks: Option<usize>,
    /// Doubts about the samples it rests on.
    doubts: Vec<String>,
    /// How far the nearer end of the interval is from the border of the claim, as a share of how far the estimate is: 1
    /// where there is no uncertainty, 0 where it touches. Orders findings of one verdict.
    clearness: f64,
}

impl Finding {
    fn new(text: &str, verdict: Verdict, why: String) -> Finding {
        Finding {
            text: text.to_owned(),
            verdict,
            effect: None,
            confidence: 0.0,
            why,
            more_blocks: None,
            doubts: Vec::new(),
            clearness: 0.0,
        }
    }
}

impl Evidence<'_> {
    /// All claims of an experiment, judged together.
    pub fn judge_all(&self, specs: &[ClaimSpec]) -> Vec<Claim> {
        let parts: Vec<Vec<Vec<Scoped>>> = specs.iter().map(|spec| self.parts(spec)).collect();
        let claims = parts.iter().filter(|parts| self.is_uncertain(parts)).count().max(1) as f64;
        let judged = specs.iter().zip(&parts).map(|(spec, parts)| {
            let comparisons = parts.iter().flatten().filter(|(comparison, _)| comparison.has_interval());
            let holds = ALPHA / claims;
            let levels = Levels { holds, fails: holds / comparisons.count().max(1) as f64 };
            self.judge(spec, parts, levels)
        });
        judged.collect()
    }

    /// The cells that claims need which more blocks might decide; all of them, if nothing is claimed.
    pub fn undecided_cells(&self, specs: &[ClaimSpec]) -> BTreeSet<(String, usize)> {
        let mut cells = BTreeSet::new();
        if specs.is_empty() {
            let of_contender = |contender: &Contender| {
                (0..self.run.points.len()).map(|point| (contender.name.clone(), point)).collect::<Vec<_>>()
            };
            cells.extend(self.contenders.iter().flat_map(of_contender));
        }
        for (spec, claim) in specs.iter().zip(self.judge_all(specs)) {
            if claim.verdict != Verdict::Undecided {
                continue;
            }
            for (comparison, scope) in self.parts(spec).iter().flatten() {
                let references = self.of_comparison(comparison, scope).unwrap_or_default();
                cells.extend(references.into_iter().map(|reference| (reference.contender, reference.point)));
            }
        }
        cells
    }

    /// The comparisons of each part of a claim, one for each value that an `every` gives it.
    fn parts<'a>(&self, spec: &'a ClaimSpec) -> Vec<Vec<Scoped<'a>>> {
        let of_part = |part| {
            let mut comparisons = Vec::new();
            self.expand(std::slice::from_ref(part), &Scope::default(), &mut comparisons);
            comparisons
        };
        spec.parsed.parts.iter().map(of_part).collect()
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
                let why =
                    format!("the {} profile has no point that a part of it speaks of", self.run.profile);
                findings.push(Finding::new(&spec.assert, Verdict::NotTested, why));
            }
        }
        let finding = deciding(&findings);
        let verdict = finding.map_or(Verdict::NotTested, |finding| finding.verdict);
        let effect = finding.and_then(|finding| finding.effect.as_ref());
        Claim {
            id: spec.id.clone(),
            assert: spec.assert.clone(),
            title: spec.title.clone(),
            published: spec.published.clone(),
            verdict,
            effect: effect.map(|(interval, _)| interval.estimate),
            low: effect.map(|(interval, _)| interval.low),
            high: effect.map(|(interval, _)| interval.high),
            confidence: finding.map(|finding| finding.confidence).filter(|confidence| *confidence > 0.0),
            effect_kind: effect.map(|(_, kind)| *kind),
            why: finding.map(|finding| why(finding, &findings)).unwrap_or_default()
                + &self.left_out(spec, parts),
        }
    }

    /// How many comparisons an `every` has left out for want of what this machine lacks, in words.
    fn left_out(&self, spec: &ClaimSpec, parts: &[Vec<Scoped>]) -> String {
        if self.run.unavailable.is_empty() {
            return String::new();
        }
        let run = Run { unavailable: Vec::new(), ..self.run.clone() };
        let all = Evidence { run: &run, trials: Vec::new(), contenders: self.contenders };
        let count = |parts: &[Vec<Scoped>]| parts.iter().map(Vec::len).sum::<usize>();
        match count(&all.parts(spec)) - count(parts) {
            0 => String::new(),
            n => format!("; {n} more at points that cannot be measured here are left out"),
        }
    }

    fn expand<'a>(&self, parts: &'a [Part], scope: &Scope, found: &mut Vec<Scoped<'a>>) {
        for part in parts {
            match part {
                Part::Comparison(comparison) => found.push((comparison, scope.clone())),
                Part::Every(Every::Contender { except }, claim) => {
                    let named = |name: &str| except.iter().any(|other| other.text == name);
                    for contender in self.contenders.iter().filter(|contender| !named(&contender.name)) {
                        let scope = Scope { contender: Some(contender.name.clone()), ..scope.clone() };
                        if self.is_planned(claim, &scope) {
                            self.expand(&claim.parts, &scope, found);
                        }
                    }
                }
                Part::Every(Every::Axis { axis, bounds }, claim) => {
                    for value in self.axis_values(&axis.text) {
                        let inside = |(op, bound): &(Op, Number)| {
                            let value = value.number().map(|value| value * scale_of_name(&axis.text));
                            value.is_some_and(|value| op.holds(value, bound.value))
                        };
                        let scope = scope.with(&axis.text, &value);
                        if bounds.iter().all(inside) && self.is_planned(claim, &scope) {
                            self.expand(&claim.parts, &scope, found);
                        }
                    }
                }
            }
        }
    }

    /// Whether the plan has all cells that a claim compares, and they can be measured here: an `every` speaks of what the
    /// profile tries.
    fn is_planned(&self, claim: &claim::Claim, scope: &Scope) -> bool {
        let can_be = |cell: &Reference| self.run.unavailable(&self.run.points[cell.point]).is_none();
        let planned = |cells: Vec<Reference>| cells.iter().all(can_be);
        claim.parts.iter().all(|part| match part {
            Part::Comparison(comparison) => self.of_comparison(comparison, scope).is_ok_and(planned),
            // An `every` inside asks for itself.
            Part::Every(..) => true,
        })
    }

    fn axis_values(&self, axis: &str) -> Vec<AxisValue> {
        let mut values = Vec::new();
        for value in self.run.points.iter().filter_map(|point| point.get(axis)) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        values
    }

    fn compare(&self, comparison: &Comparison, scope: &Scope, levels: Levels) -> Finding {
        let text = scope.describe(&comparison.text);
        let untested = |why: String| Finding::new(&text, Verdict::NotTested, why);
        let (left, right) = match &comparison.test {
            Test::Disqualified(name) => return self.disqualified(scope.name(&name.text), scope, &text),
            Test::Compare(left, _, right) | Test::Within(left, _, right) => (left, right),
        };
        let found = self.of_comparison(comparison, scope).and_then(|references| {
            let rounds = self.rounds(&references)?;
            Ok((references, rounds))
        });
        let (references, rounds) = match found {
            Ok(found) => found,
            Err(why) => return untested(why),
        };
        let mut doubts = self.lost(&references);
        let finding = |rounds: &Rounds| {
            let sides = Sides { evidence: self, left, right, scope, rounds, levels };
            sides.finding(&comparison.test, &text, doubts.is_empty())
        };
        let mut seen = finding(&rounds);
        if rounds.has_bounds() && finding(&rounds.with_bounds_far()).verdict != seen.verdict {
            seen.verdict = Verdict::Undecided;
            seen.why =
                "some of its figures are lower bounds, and the verdict depends on how far they go".into();
        }
        doubts.extend(self.marked(&references));
        seen.doubts = doubts;
        seen
    }

    /// The cells whose metrics a comparison needs, or why one of them cannot be had.
    fn of_comparison(&self, comparison: &Comparison, scope: &Scope) -> Result<Vec<Reference>, String> {
        let mut references = Vec::new();
        match &comparison.test {
            Test::Compare(left, _, right) | Test::Within(left, _, right) => {
                self.references(left, scope, &mut references)?;
                self.references(right, scope, &mut references)?;
            }
            Test::Disqualified(name) => {
                let contender = scope.name(&name.text);
                let planned =
                    |&(nth, point): &(usize, &Point)| scope.holds_at(point) && self.run.plans(contender, nth);
                let cell =
                    |(point, _)| Reference { contender: contender.to_owned(), point, metric: String::new() };
                references.extend(self.run.points.iter().enumerate().filter(planned).map(cell));
                if references.is_empty() {
                    return Err(format!("the {} profile does not try {contender} there", self.run.profile));
                }
            }
        }
        Ok(references)
    }

    fn disqualified(&self, name: &str, scope: &Scope, text: &str) -> Finding {
        let here = |trial: &&Trial| trial.contender == name && scope.holds_at(&trial.point);
        let trials: Vec<&Trial> = self.trials.iter().copied().filter(here).collect();
        let wrong = trials.iter().filter(|trial| trial.outcome == Outcome::Disqualified).count();
        if trials.iter().all(|trial| trial.outcome == Outcome::Failed) {
            return Finding::new(text, Verdict::NotTested, self.absence(name, None));
        }
        let verdict = if wrong > 0 { Verdict::Holds } else { Verdict::Fails };
        let why = format!("{wrong} of {} trials of {name} gave a wrong answer", trials.len());
        let effect = Some((exactly(wrong as f64, trials.len()), EffectKind::Exact));
        Finding { effect, clearness: 1.0, ..Finding::new(text, verdict, why) }
    }

    /// Cells that these metrics come from and that lost trials: what is judged are the others.
    fn lost(&self, references: &[Reference]) -> Vec<String> {
        let mut cells = BTreeSet::new();
        for reference in references {
            let point = &self.run.points[reference.point];
            let of_cell =
                || self.trials.iter().filter(|t| t.contender == reference.contender && t.point == *point);
            let lost = of_cell().filter(|trial| trial.outcome != Outcome::Ok).count();
            if lost > 0 {
                let cell = self.run.cell(&reference.contender, point);
                cells.insert(format!(
                    "{lost} of {} trials of {cell} failed or were disqualified",
                    of_cell().count()
                ));
            }
        }
        cells.into_iter().collect()
    }

    /// The cells whose metrics an expression needs, or why one of them cannot be had.
    fn references(&self, expr: &Expr, scope: &Scope, found: &mut Vec<Reference>) -> Result<(), String> {
        match expr {
            Expr::Number(_) | Expr::Parameter(_) | Expr::Own(_) => Ok(()),
            Expr::Binary(left, _, _, right) => {
                self.references(left, scope, found)?;
                self.references(right, scope, found)
            }
            Expr::Fold(_, inner, axis) => {
                let values = self.fold_values(inner, axis, scope);
                if values.len() < 2 {
                    let (profile, axis) = (&self.run.profile, &axis.text);
                    return Err(format!("the {profile} profile has fewer than two values of {axis} for it"));
                }
                values
                    .iter()
                    .try_for_each(|value| self.references(inner, &scope.with(&axis.text, value), found))
            }
            Expr::Metric(metric) => {
                let contender = scope.name(&metric.contender.text).to_owned();
                let point = self
                    .point(metric, scope)
                    .map_err(|place| format!("the {} profile has no point {place}", self.run.profile))?;
                if !self.run.plans(&contender, point) {
                    let place = self.run.cell(&contender, &self.run.points[point]);
                    return Err(format!("the {} profile does not try {place}", self.run.profile));
                }
                let reference = Reference { contender, point, metric: metric.name.text.clone() };
                if !found.contains(&reference) {
                    found.push(reference);
                }
                Ok(())
            }
        }
    }

    /// The values of an axis at which the plan has all that a fold is over.
    fn fold_values(&self, inner: &Expr, axis: &Name, scope: &Scope) -> Vec<AxisValue> {
        let mut values = self.axis_values(&axis.text);
        values
            .retain(|value| self.references(inner, &scope.with(&axis.text, value), &mut Vec::new()).is_ok());
        values
    }

    /// Which point a metric is meant at, by its position; or how it was described, where there is none.
    fn point(&self, metric: &MetricOf, scope: &Scope) -> Result<usize, String> {
        let mut wanted = BTreeMap::new();
        for axis in self.run.points.iter().flat_map(|point| point.0.keys()) {
            let set = metric.at.iter().find(|(name, _)| name.text == *axis).map(|(_, value)| value);
            if let Some(value) = set.or_else(|| scope.axes.get(axis)).or_else(|| self.run.workload.get(axis))
            {
                wanted.insert(axis.clone(), value.clone());
            }
        }
        let fits = |point: &Point| wanted.iter().all(|(axis, value)| point.get(axis) == Some(value));
        self.run.points.iter().position(fits).ok_or_else(|| Point(wanted).to_string())
    }

    /// The rounds in which all of these were measured.
    fn rounds(&self, references: &[Reference]) -> Result<Rounds, String> {
        let mut trials = Vec::new();
        for reference in references {
            let of_reference: BTreeMap<u32, &Trial> =
                self.usable(reference).map(|trial| (trial.block, trial)).collect();
            if let Some(missing) = self.needs(reference) {
                let cell = self.run.cell(&reference.contender, &self.run.points[reference.point]);
                let metric = &reference.metric;
                return Err(format!("{cell} has too few values for {metric}: a trial needs {missing} more"));
            }
            if of_reference.is_empty() {
                return Err(self.absence(&reference.contender, Some(reference)));
            }
            trials.push(of_reference);
        }
        let Some(first) = trials.first() else { return Err("nothing in it is measured".to_owned()) };
        let mut rounds = Rounds { values: Vec::new(), bounds: Vec::new() };
        for round in first.keys() {
            let Some(trials) = trials.iter().map(|of| of.get(round)).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let measured = || references.iter().zip(&trials);
            rounds
                .values
                .push(measured().map(|(r, trial)| (r.clone(), trial.sample.metrics[&r.metric])).collect());
            rounds.bounds.push(measured().map(|(r, trial)| trial.is_lower_bound(&r.metric)).collect());
        }
        if rounds.values.is_empty() {
            let cells: Vec<String> =
                references.iter().map(|r| self.run.cell(&r.contender, &self.run.points[r.point])).collect();
            return Err(format!("there is no round in which {} were all measured", cells.join(", ")));
        }
        Ok(rounds)
    }

    fn usable(&self, reference: &Reference) -> impl Iterator<Item = &Trial> {
        let point = &self.run.points[reference.point];
        self.trials.iter().copied().filter(move |trial| {
            trial.contender == reference.contender
                && trial.point == *point
                && trial.outcome == Outcome::Ok
                && trial.sample.metrics.contains_key(&reference.metric)
        })
    }

    /// Why there is nothing of a contender, or of one of its cells.
    fn absence(&self, name: &str, reference: Option<&Reference>) -> String {
        let contender = self.contenders.iter().find(|contender| contender.name == name);
        if let Some(contender) = contender.filter(|contender| contender.status != ContenderStatus::Ran) {
            let reason = contender.reason.as_deref().unwrap_or("no reason was kept");
            return format!("{name} was {}: {reason}", contender.status.as_str());
        }
        if let Some(why) = reference.and_then(|r| self.run.unavailable(&self.run.points[r.point])) {
            return format!("it cannot be measured here: {why}");
        }
        let here = |trial: &&Trial| {
            trial.contender == name && reference.is_none_or(|r| trial.point == self.run.points[r.point])
        };
        let place = reference.map_or(name.to_owned(), |r| self.run.cell(name, &self.run.points[r.point]));
        match self
            .trials
            .iter()
            .copied()
            .filter(here)
            .filter(|trial| trial.outcome != Outcome::Ok)
            .find_map(|trial| trial.reason.as_deref().map(|why| (trial.outcome, why)))
        {
            Some((outcome, why)) => format!("{place} has no usable trial: {}: {why}", outcome.as_str()),
            None => match reference {
                Some(r) if self.trials.iter().any(here) => format!("{place} has no {}", r.metric),
                _ => format!("{place} was not tried"),
            },
        }
    }

    /// How many more requests a trial of this cell needs for the metric. Those trials that have enough are not judged alone:
    /// they are the fast ones.
    fn needs(&self, reference: &Reference) -> Option<u64> {
        let point = &self.run.points[reference.point];
        let of_cell = |t: &&Trial| t.contender == reference.contender && t.point == *point;
        let usable = self.trials.iter().copied().filter(of_cell).filter(|trial| trial.outcome == Outcome::Ok);
        usable.filter_map(|trial| trial.sample.needs.get(&reference.metric).copied()).max()
    }

    /// Which of these cells have marked samples, with the marks.
    fn marked(&self, references: &[Reference]) -> Vec<String> {
        let mut cells = BTreeSet::new();
        for reference in references {
            for mark in self.usable(reference).flat_map(|trial| &trial.marks) {
                let cell = self.run.cell(&reference.contender, &self.run.points[reference.point]);
                cells.insert(format!("{MARKED}{cell} ({})", mark.as_str()));
            }
        }
        cells.into_iter().collect()
    }
}

/// What the `every`s and folds around an expression have set.
#[derive(Clone, Debug, Default)]
struct Scope {
    contender: Option<String>,
    axes: BTreeMap<String, AxisValue>,
}

impl Scope {
    fn name<'a>(&'a self, name: &'a str) -> &'a str {
        match &self.contender {
            Some(contender) if name == EACH_CONTENDER => contender,
            _ => name,
        }
    }

    fn with(&self, axis: &str, value: &AxisValue) -> Scope {
        let mut scope = self.clone();
        scope.axes.insert(axis.to_owned(), value.clone());
        scope
    }

    fn holds_at(&self, point: &Point) -> bool {
        self.axes.iter().all(|(axis, value)| point.get(axis) == Some(value))
    }

    fn describe(&self, text: &str) -> String {
        let mut described = text.to_owned();
        if let Some(contender) = &self.contender {
            described += &format!(", contender {contender}");
        }
        if !self.axes.is_empty() {
            described += &format!(" at {}", Point(self.axes.clone()));
        }
        described
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Reference {
    contender: String,
    point: usize,
    metric: String,
}

/// What was measured in each round in which everything that a comparison needs was.
struct Rounds {
    values: Vec<Vec<(Reference, f64)>>,
    /// Which of the values are lower bounds.
    bounds: Vec<Vec<bool>>,
}

impl Rounds {
    fn has_bounds(&self) -> bool {
        self.bounds.iter().flatten().any(|bound| *bound)
    }

    /// As if what was not seen to its end had gone on for ages.
    fn with_bounds_far(&self) -> Rounds {
        let far = |((reference, value), bound): (&(Reference, f64), &bool)| {
            (reference.clone(), if *bound { value.max(1.0) * FAR } else { *value })
        };
        let round = |(values, bounds): (&Vec<_>, &Vec<_>)| values.iter().zip(bounds).map(far).collect();
        let values = self.values.iter().zip(&self.bounds).map(round).collect();
        Rounds { values, bounds: self.bounds.clone() }
    }
}

/// The two sides of a comparison over the rounds they are estimated from.
struct Sides<'a> {
    evidence: &'a Evidence<'a>,
    left: &'a Expr,
    right: &'a Expr,
    scope: &'a Scope,
    rounds: &'a Rounds,
    levels: Levels,
}

impl Sides<'_> {
    /// `complete` if no trial of its cells was lost.
    fn finding(&self, test: &Test, text: &str, complete: bool) -> Finding {
        let finding = match test {
            Test::Compare(_, Op::Equal, _) => self.equal(text, complete),
            test => self.estimated(test, text),
        };
        match finding {
            Ok(finding) => finding,
            Err(why) => Finding::new(text, Verdict::NotTested, why),
        }
    }

    /// Each round gives one effect, so that what slows a round down as a whole cancels out; what is judged is their
    /// median.
    fn estimated(&self, test: &Test, text: &str) -> Result<Finding, String> {
        let pairs = self.pairs()?;
        let kind = self.kind(test, &pairs)?;
        let effects: Vec<f64> = pairs.iter().map(|(left, right)| effect(*left, *right, kind)).collect();
        let found = |verdict, interval, confidence, clearness| Finding {
            effect: Some((interval, kind)),
            confidence,
            clearness,
            ..Finding::new(text, verdict, String::new())
        };
        let interval = |alpha| match kind {
            EffectKind::Ratio => sequential_ratio(&pairs, alpha),
            _ => sequential_median(&effects, alpha),
        };
        let Levels { holds, fails } = self.levels;
        let (mut shown, mut looks_failed) = (None, false);
        let margin = self.evidence.run.margin();
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
                    let noun = if kind == EffectKind::Ratio { "ratio" } else { "difference" };
                    let level = percent(1.0 - alpha);
                    let estimate = median(&effects).unwrap_or(f64::NAN);
                    let why = format!(
                        "a {level} interval needs {need} blocks, and there are {have} (the {noun} is {estimate:.3})"
                    );
                    // An interval that would fail it at a lower level would look as if it did.
                    if shown.is_none() || looks_failed {
                        shown = Some(Finding::new(text, Verdict::Undecided, why));
                    }
                }
                Err(other) => return Err(other.to_string()),
            }
        }
        let mut shown = shown.ok_or("it has no level")?;
        shown.more_blocks = self.more_blocks(test, &effects, kind);
        if shown.why.is_empty() {
            shown.why = match shown.more_blocks {
                Some(1) => "about one more block would tell".to_owned(),
                Some(more) => format!("about {more} more blocks would tell"),
                None => "the blocks lie on both sides, and no number of them is in sight that would tell"
                    .to_owned(),
            };
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
                let (bottom, top) = band(self.evidence.run.margin());
                enough(count(&|e| e < bottom), fails)
                    .zip(enough(count(&|e| e > top), fails))
                    .map(|(a, b)| a.max(b))
            }
            _ => None,
        };
        [to_hold, to_fail, to_be_alike].into_iter().flatten().min().map(|blocks| blocks - n)
    }

    /// A ratio where both sides are positive in every round, a difference elsewhere.
    fn kind(&self, test: &Test, pairs: &[(f64, f64)]) -> Result<EffectKind, String> {
        // Compared with 0, or an exponent with its value, a ratio would say nothing.
        let is_plain = |expr: &Expr| matches!(expr, Expr::Fold(Fold::Slope | Fold::Spread, ..));
        let is_positive = pairs.iter().all(|(left, right)| *left > 0.0 && *right > 0.0);
        match test {
            Test::Within(..) if !is_positive => {
                Err("'within' compares by ratio, and a side of it is not above 0".into())
            }
            Test::Within(..) => Ok(EffectKind::Ratio),
            _ if is_positive && !is_plain(self.left) && !is_plain(self.right) => Ok(EffectKind::Ratio),
            _ => Ok(EffectKind::Difference),
        }
    }

    /// An exact value has no interval: it is equal in every round, or it is not. A round that is missing is not equal.
    fn equal(&self, text: &str, complete: bool) -> Result<Finding, String> {
        let pairs = self.pairs()?;
        let apart = |(left, right): &(f64, f64)| (left - right).abs();
        let furthest = pairs.iter().max_by(|a, b| apart(a).total_cmp(&apart(b)));
        let (left, right) = furthest.copied().unwrap_or_default();
        let verdict = if left == right && complete { Verdict::Holds } else { Verdict::Fails };
        let effect = Some((exactly(left, pairs.len()), EffectKind::Exact));
        Ok(Finding { effect, clearness: 1.0, ..Finding::new(text, verdict, String::new()) })
    }

    /// Both sides, in each round.
    fn pairs(&self) -> Result<Vec<(f64, f64)>, String> {
        self.rounds.values.iter().map(|values| self.values(values)).collect()
    }

    fn values(&self, metrics: &[(Reference, f64)]) -> Result<(f64, f64), String> {
        let side = |expr| match self.value(expr, self.scope, metrics) {
            Some(value) if value.is_finite() => Ok(value),
            _ => Err("a side of it has no value: a division by zero or a metric that is missing".to_owned()),
        };
        Ok((side(self.left)?, side(self.right)?))
    }

    fn value(&self, expr: &Expr, scope: &Scope, metrics: &[(Reference, f64)]) -> Option<f64> {
        match expr {
            Expr::Number(number) => Some(number.value),
            // No claim that was checked has one.
            Expr::Own(_) => None,
            Expr::Parameter(name) => {
                let value = scope.axes.get(&name.text).or_else(|| self.evidence.run.workload.get(&name.text));
                Some(value?.number()? * scale_of_name(&name.text))
            }
            Expr::Metric(metric) => {
                let point = self.evidence.point(metric, scope).ok()?;
                let contender = scope.name(&metric.contender.text);
                let (_, value) = metrics.iter().find(|(reference, _)| {
                    reference.point == point
                        && reference.contender == contender
                        && reference.metric == metric.name.text
                })?;
                Some(value * scale_of_name(&metric.name.text))
            }
            Expr::Binary(left, operator, _, right) => {
                let (left, right) = (self.value(left, scope, metrics)?, self.value(right, scope, metrics)?);
                Some(operator.apply(left, right))
            }
            Expr::Fold(fold, inner, axis) => {
                let points: Vec<(AxisValue, f64)> = self
                    .evidence
                    .fold_values(inner, axis, scope)
                    .into_iter()
                    .map(|value| {
                        let of_value = self.value(inner, &scope.with(&axis.text, &value), metrics)?;
                        Some((value, of_value))
                    })
                    .collect::<Option<_>>()?;
                folded(*fold, &points)
            }
        }
    }
}

fn folded(fold: Fold, points: &[(AxisValue, f64)]) -> Option<f64> {
    let values = || points.iter().map(|(_, value)| *value);
    let (min, max) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    match fold {
        Fold::Min => Some(min),
        Fold::Max => Some(max),
        Fold::Spread => Some(max / min - 1.0),
        Fold::Slope => {
            let logs: Vec<(f64, f64)> =
                points.iter().map(|(x, y)| Some((x.number()?.ln(), y.ln()))).collect::<Option<_>>()?;
            let n = logs.len() as f64;
            let (mean_x, mean_y) =
                (logs.iter().map(|(x, _)| x).sum::<f64>() / n, logs.iter().map(|(_, y)| y).sum::<f64>() / n);
            let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
            let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
            Some(covariance / variance)
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

fn exactly(value: f64, n: usize) -> Interval {
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
fn deciding(findings: &[Finding]) -> Option<&Finding> {
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

fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn why(finding: &Finding, all: &[Finding]) -> String {
    let alike = || all.iter().filter(|other| other.verdict == finding.verdict);
    let count = alike().count();
    let of_all = match (all.len(), finding.verdict) {
        (1, _) => String::new(),
        (n, Verdict::Holds) => format!("the least clear of {n} comparisons, all of which hold: "),
        (n, Verdict::Fails) => format!("{count} of {n} comparisons fail, the clearest: "),
        (n, Verdict::Undecided) => {
            format!("{count} of {n} comparisons are undecided and none fails, the first: ")
        }
        (n, Verdict::NoDifference) => {
            format!("{count} of {n} comparisons are no difference and the others hold, the least clear: ")
        }
        (n, Verdict::NotTested) => format!("{count} of {n} comparisons could not be tested, the first: "),
    };
    let mut why = format!("{of_all}{}", finding.text);
    if !finding.why.is_empty() {
        why += &format!("; {}", finding.why);
    }
    let doubts: BTreeSet<&String> = alike().flat_map(|other| &other.doubts).collect();
    let (marked, others): (Vec<_>, Vec<_>) = doubts.into_iter().partition(|doubt| doubt.starts_with(MARKED));
    for doubt in others {
        why += &format!("; {doubt}");
    }
    if !marked.is_empty() {
        let cells: Vec<&str> = marked.iter().filter_map(|doubt| doubt.strip_prefix(MARKED)).collect();
        why += &format!("; {MARKED}{}", cells.join(", "));
    }
    why
}

#[cfg(test)]
mod tests;
