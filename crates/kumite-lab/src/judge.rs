//! Verdicts: what the trials say of a claim.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{
    AxisValue, Claim, Contender, ContenderStatus, EffectKind, Outcome, Point, Run, Trial, Verdict,
};
use kumite_stats::{Interval, bootstrap, median, median_interval, paired_ratio};

use crate::claim::{
    self, Arithmetic, Comparison, EACH_CONTENDER, Every, Expr, Fold, Metric, Name, Op, Part, Test,
    scale_of_name,
};
use crate::estimate::CONFIDENCE;
use crate::spec::ClaimSpec;

/// How a doubt begins that is about a mark.
const MARKED: &str = "rests on marked samples: ";
/// Further than any claim asks.
const FAR: f64 = 1e9;

/// All that a judge looks at.
pub(crate) struct Evidence<'a> {
    pub run: &'a Run,
    pub trials: &'a [Trial],
    pub contenders: &'a [Contender],
}

/// What a comparison came to.
#[derive(Clone, Debug)]
struct Finding {
    text: String,
    verdict: Verdict,
    effect: Option<(Interval, EffectKind)>,
    why: String,
    /// Doubts about the samples it rests on.
    doubts: Vec<String>,
    /// How far the nearer end of the interval is from the border of the claim, as a share of how far the estimate is: 1
    /// where there is no uncertainty, 0 where it touches. Orders findings of one verdict.
    clearness: f64,
}

impl Finding {
    fn new(text: &str, verdict: Verdict, why: String) -> Finding {
        Finding { text: text.to_owned(), verdict, effect: None, why, doubts: Vec::new(), clearness: 0.0 }
    }
}

impl Evidence<'_> {
    pub fn judge(&self, spec: &ClaimSpec) -> Claim {
        let mut findings = Vec::new();
        for part in &spec.parsed.parts {
            let before = findings.len();
            self.expand(std::slice::from_ref(part), &Scope::default(), &mut findings);
            if findings.len() == before {
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
            effect_kind: effect.map(|(_, kind)| *kind),
            why: finding.map(|finding| why(finding, &findings)).unwrap_or_default(),
        }
    }

    /// One finding for each comparison and each value that an `every` gives it.
    fn expand(&self, parts: &[Part], scope: &Scope, findings: &mut Vec<Finding>) {
        for part in parts {
            match part {
                Part::Comparison(comparison) => findings.push(self.compare(comparison, scope)),
                Part::Every(Every::Contender { except }, claim) => {
                    let named = |name: &str| except.iter().any(|other| other.text == name);
                    for contender in self.contenders.iter().filter(|contender| !named(&contender.name)) {
                        let scope = Scope { contender: Some(contender.name.clone()), ..scope.clone() };
                        if self.is_planned(claim, &scope) {
                            self.expand(&claim.parts, &scope, findings);
                        }
                    }
                }
                Part::Every(Every::Axis { axis, bounds }, claim) => {
                    for value in self.axis_values(&axis.text) {
                        let inside =
                            |(op, bound): &(Op, f64)| value.number().is_some_and(|v| op.holds(v, *bound));
                        let scope = scope.with(&axis.text, &value);
                        if bounds.iter().all(inside) && self.is_planned(claim, &scope) {
                            self.expand(&claim.parts, &scope, findings);
                        }
                    }
                }
            }
        }
    }

    /// Whether the plan has all cells that a claim compares: an `every` speaks of what the profile tries.
    fn is_planned(&self, claim: &claim::Claim, scope: &Scope) -> bool {
        claim.parts.iter().all(|part| match part {
            Part::Comparison(Comparison {
                test: Test::Compare(left, _, right) | Test::Within(left, _, right),
                ..
            }) => [left, right].into_iter().all(|side| self.references(side, scope, &mut Vec::new()).is_ok()),
            Part::Comparison(Comparison { test: Test::Disqualified(name), .. }) => {
                let planned = |(nth, point): (usize, &Point)| {
                    scope.holds_at(point) && self.run.plans(scope.name(&name.text), nth)
                };
                self.run.points.iter().enumerate().any(planned)
            }
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

    fn compare(&self, comparison: &Comparison, scope: &Scope) -> Finding {
        let text = scope.describe(&comparison.text);
        let untested = |why: String| Finding::new(&text, Verdict::NotTested, why);
        let (left, right) = match &comparison.test {
            Test::Disqualified(name) => return self.disqualified(scope.name(&name.text), scope, &text),
            Test::Compare(left, _, right) | Test::Within(left, _, right) => (left, right),
        };
        let mut references = Vec::new();
        if let Err(why) = self
            .references(left, scope, &mut references)
            .and_then(|()| self.references(right, scope, &mut references))
        {
            return untested(why);
        }
        let groups = match self.groups(&references) {
            Ok(groups) => groups,
            Err(why) => return untested(why),
        };
        let mut doubts = self.lost(&references);
        let finding = |groups: &[Group]| {
            let sides = Sides { evidence: self, left, right, scope, groups };
            sides.finding(&comparison.test, &text, doubts.is_empty())
        };
        let mut seen = finding(&groups);
        if groups.iter().any(Group::has_bounds) {
            let far: Vec<Group> = groups.iter().map(Group::with_bounds_far).collect();
            if finding(&far).verdict != seen.verdict {
                seen.verdict = Verdict::Undecided;
                seen.why =
                    "some of its figures are lower bounds, and the verdict depends on how far they go".into();
            }
        }
        doubts.extend(self.marked(&groups));
        seen.doubts = doubts;
        seen
    }

    fn disqualified(&self, name: &str, scope: &Scope, text: &str) -> Finding {
        let here = |trial: &&Trial| trial.contender == name && scope.holds_at(&trial.point);
        let trials: Vec<&Trial> = self.trials.iter().filter(here).collect();
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
            Expr::Number(_) | Expr::Parameter(_) => Ok(()),
            Expr::Binary(left, _, right) => {
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
    fn point(&self, metric: &Metric, scope: &Scope) -> Result<usize, String> {
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

    /// The blocks of each point that all its references were measured in.
    fn groups(&self, references: &[Reference]) -> Result<Vec<Group>, String> {
        let mut groups = Vec::<Group>::new();
        for reference in references {
            if !groups.iter().any(|group| group.point == reference.point) {
                groups.push(Group { point: reference.point, blocks: Vec::new(), bounds: Vec::new() });
            }
        }
        for group in &mut groups {
            let here: Vec<&Reference> =
                references.iter().filter(|reference| reference.point == group.point).collect();
            let point = &self.run.points[group.point];
            let mut blocks: Option<BTreeSet<u32>> = None;
            for reference in &here {
                let measured: BTreeSet<u32> = self.usable(reference).map(|trial| trial.block).collect();
                if let Some(missing) = self.needs(reference) {
                    let (cell, metric) = (self.run.cell(&reference.contender, point), &reference.metric);
                    return Err(format!(
                        "{cell} has too few requests for {metric}: a trial needs {missing} more"
                    ));
                }
                if measured.is_empty() {
                    return Err(self.absence(&reference.contender, Some(reference)));
                }
                blocks = Some(match blocks {
                    None => measured,
                    Some(others) => others.intersection(&measured).copied().collect(),
                });
            }
            for block in blocks.unwrap_or_default() {
                let trial = |reference: &Reference| self.usable(reference).find(|trial| trial.block == block);
                let values = here.iter().map(|&reference| {
                    Some((reference.clone(), *trial(reference)?.sample.metrics.get(&reference.metric)?))
                });
                if let Some(values) = values.collect::<Option<Vec<_>>>() {
                    let is_bound = |&reference: &&Reference| {
                        trial(reference).is_some_and(|trial| trial.is_lower_bound(&reference.metric))
                    };
                    group.bounds.push(here.iter().map(is_bound).collect());
                    group.blocks.push(values);
                }
            }
            if group.blocks.is_empty() {
                let names: Vec<&str> = here.iter().map(|reference| reference.contender.as_str()).collect();
                return Err(format!(
                    "{} have no block in common at {}",
                    names.join(", "),
                    self.run.points[group.point]
                ));
            }
        }
        Ok(groups)
    }

    fn usable(&self, reference: &Reference) -> impl Iterator<Item = &Trial> {
        let point = &self.run.points[reference.point];
        self.trials.iter().filter(move |trial| {
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
        let here = |trial: &&Trial| {
            trial.contender == name && reference.is_none_or(|r| trial.point == self.run.points[r.point])
        };
        let place = reference.map_or(name.to_owned(), |r| self.run.cell(name, &self.run.points[r.point]));
        match self
            .trials
            .iter()
            .filter(here)
            .filter(|trial| trial.outcome != Outcome::Ok)
            .find_map(|trial| trial.reason.as_deref().map(|why| (trial.outcome, why)))
        {
            Some((outcome, why)) => format!("{place} has no usable trial: {}: {why}", outcome.as_str()),
            None => match reference {
                Some(r) if self.trials.iter().any(|t| here(&t)) => format!("{place} has no {}", r.metric),
                _ => format!("{place} was not tried"),
            },
        }
    }

    /// How many more requests a trial of this cell needs for the metric. Those trials that have enough are not judged alone:
    /// they are the fast ones.
    fn needs(&self, reference: &Reference) -> Option<u64> {
        let point = &self.run.points[reference.point];
        let of_cell = |t: &&Trial| t.contender == reference.contender && t.point == *point;
        let usable = self.trials.iter().filter(of_cell).filter(|trial| trial.outcome == Outcome::Ok);
        usable.filter_map(|trial| trial.sample.needs.get(&reference.metric).copied()).max()
    }

    /// The cells of these groups that have marked samples, with the marks.
    fn marked(&self, groups: &[Group]) -> Vec<String> {
        let mut cells = BTreeSet::new();
        for group in groups {
            for (reference, _) in group.blocks.iter().flatten() {
                for trial in self.usable(reference) {
                    for mark in &trial.marks {
                        cells.insert(format!(
                            "{MARKED}{} ({})",
                            self.run.cell(&reference.contender, &self.run.points[reference.point]),
                            mark.as_str()
                        ));
                    }
                }
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

/// The blocks at one point in which everything that a comparison needs was measured.
struct Group {
    point: usize,
    blocks: Vec<Vec<(Reference, f64)>>,
    /// Which of the values are lower bounds.
    bounds: Vec<Vec<bool>>,
}

impl Group {
    fn has_bounds(&self) -> bool {
        self.bounds.iter().flatten().any(|bound| *bound)
    }

    /// As if what was not seen to its end had gone on for ages.
    fn with_bounds_far(&self) -> Group {
        let far = |((reference, value), bound): (&(Reference, f64), &bool)| {
            (reference.clone(), if *bound { value.max(1.0) * FAR } else { *value })
        };
        let block = |(values, bounds): (&Vec<_>, &Vec<_>)| values.iter().zip(bounds).map(far).collect();
        let blocks = self.blocks.iter().zip(&self.bounds).map(block).collect();
        Group { point: self.point, blocks, bounds: self.bounds.clone() }
    }
}

enum Trouble {
    TooFew { have: usize, need: usize, kind: EffectKind, estimate: Option<f64> },
    NoValue(String),
}

/// The two sides of a comparison over the blocks they are estimated from.
struct Sides<'a> {
    evidence: &'a Evidence<'a>,
    left: &'a Expr,
    right: &'a Expr,
    scope: &'a Scope,
    groups: &'a [Group],
}

impl Sides<'_> {
    /// `complete` if no trial of its cells was lost.
    fn finding(&self, test: &Test, text: &str, complete: bool) -> Finding {
        let finding = match test {
            Test::Compare(_, Op::Equal, _) => self.equal(text, complete),
            test => self.effect(test).map(|(interval, kind)| {
                let (verdict, clearness) = decide(test, &interval, kind);
                let effect = Some((interval, kind));
                Finding { effect, clearness, ..Finding::new(text, verdict, String::new()) }
            }),
        };
        match finding {
            Ok(finding) => finding,
            Err(Trouble::TooFew { have, need, kind, estimate }) => {
                let noun = if kind == EffectKind::Ratio { "ratio" } else { "difference" };
                let so_far =
                    estimate.map(|estimate| format!(" (the {noun} is {estimate:.3})")).unwrap_or_default();
                let why = format!("a 95 % interval needs {need} blocks, and there are {have}{so_far}");
                Finding::new(text, Verdict::Undecided, why)
            }
            Err(Trouble::NoValue(why)) => Finding::new(text, Verdict::NotTested, why),
        }
    }

    /// Where both sides are from one point, each block gives one effect, and the interval is that of their median: the
    /// comparison is paired. Otherwise each point's blocks are resampled as wholes, and the effect is formed from medians.
    fn effect(&self, test: &Test) -> Result<(Interval, EffectKind), Trouble> {
        let kind = self.kind(test)?;
        let seed = self.evidence.run.seed;
        let interval = match self.groups {
            [] => {
                let (left, right) = self.values(&[])?;
                let exact = effect(left, right, kind);
                Ok(Interval { estimate: exact, low: exact, high: exact, n: 0 })
            }
            [group] => {
                let pairs: Vec<(f64, f64)> =
                    group.blocks.iter().map(|block| self.values(block)).collect::<Result<_, _>>()?;
                let effects: Vec<f64> =
                    pairs.iter().map(|(left, right)| effect(*left, *right, kind)).collect();
                let interval = match kind {
                    EffectKind::Ratio => paired_ratio(&pairs, CONFIDENCE, seed),
                    _ => median_interval(&effects, CONFIDENCE, seed),
                };
                interval.map_err(|error| (error, median(&effects)))
            }
            groups => {
                let sizes: Vec<usize> = groups.iter().map(|group| group.blocks.len()).collect();
                let all: Vec<Vec<usize>> = sizes.iter().map(|size| (0..*size).collect()).collect();
                let of_resample = |chosen: &[Vec<usize>]| {
                    let (left, right) = self.values(&self.medians(chosen)).ok()?;
                    Some(effect(left, right, kind)).filter(|effect| effect.is_finite())
                };
                bootstrap(&sizes, CONFIDENCE, seed, of_resample).map_err(|error| (error, of_resample(&all)))
            }
        };
        match interval {
            Ok(interval) => Ok((interval, kind)),
            Err((kumite_stats::Error::TooFew { have, need }, estimate)) => {
                Err(Trouble::TooFew { have, need, kind, estimate })
            }
            Err((other, _)) => Err(Trouble::NoValue(other.to_string())),
        }
    }

    /// A ratio where both sides are positive in every block, a difference elsewhere.
    fn kind(&self, test: &Test) -> Result<EffectKind, Trouble> {
        // Compared with 0, or an exponent with its value, a ratio would say nothing.
        let is_plain = |expr: &Expr| matches!(expr, Expr::Fold(Fold::Slope | Fold::Spread, ..));
        let is_band = matches!(test, Test::Within(..));
        if !is_band && (is_plain(self.left) || is_plain(self.right)) {
            return Ok(EffectKind::Difference);
        }
        let longest = self.groups.iter().map(|group| group.blocks.len()).max().unwrap_or(0);
        for nth in 0..longest.max(1) {
            let (left, right) = self.nth(nth)?;
            if left <= 0.0 || right <= 0.0 {
                return match is_band {
                    true => Err(Trouble::NoValue(
                        "'within' compares by ratio, and a side of it is not above 0".into(),
                    )),
                    false => Ok(EffectKind::Difference),
                };
            }
        }
        Ok(EffectKind::Ratio)
    }

    /// An exact value has no interval: it is equal in every block, or it is not. A block that is missing is not equal.
    fn equal(&self, text: &str, complete: bool) -> Result<Finding, Trouble> {
        let blocks = self.groups.iter().map(|group| group.blocks.len()).max().unwrap_or(0);
        let mut worst: Option<(f64, f64)> = None;
        for nth in 0..blocks.max(1) {
            let (left, right) = self.nth(nth)?;
            if worst.is_none_or(|(l, r)| (left - right).abs() > (l - r).abs()) {
                worst = Some((left, right));
            }
        }
        let (left, right) = worst.unwrap_or_default();
        let verdict = if left == right && complete { Verdict::Holds } else { Verdict::Fails };
        let effect = Some((exactly(left, blocks), EffectKind::Exact));
        Ok(Finding { effect, clearness: 1.0, ..Finding::new(text, verdict, String::new()) })
    }

    /// Both sides in the n-th block of each point, or its last.
    fn nth(&self, nth: usize) -> Result<(f64, f64), Trouble> {
        let chosen: Vec<Vec<usize>> =
            self.groups.iter().map(|group| vec![nth.min(group.blocks.len() - 1)]).collect();
        self.values(&self.medians(&chosen))
    }

    fn medians(&self, chosen: &[Vec<usize>]) -> Vec<(Reference, f64)> {
        let mut values = Vec::new();
        for (group, chosen) in self.groups.iter().zip(chosen) {
            for (position, (reference, _)) in group.blocks[0].iter().enumerate() {
                let of_blocks: Vec<f64> =
                    chosen.iter().map(|&block| group.blocks[block][position].1).collect();
                if let Some(median) = median(&of_blocks) {
                    values.push((reference.clone(), median));
                }
            }
        }
        values
    }

    fn values(&self, metrics: &[(Reference, f64)]) -> Result<(f64, f64), Trouble> {
        let side = |expr| match self.value(expr, self.scope, metrics) {
            Some(value) if value.is_finite() => Ok(value),
            _ => Err(Trouble::NoValue(
                "a side of it has no value: a division by zero or a metric that is missing".into(),
            )),
        };
        Ok((side(self.left)?, side(self.right)?))
    }

    fn value(&self, expr: &Expr, scope: &Scope, metrics: &[(Reference, f64)]) -> Option<f64> {
        match expr {
            Expr::Number(number) => Some(*number),
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
            Expr::Binary(left, operator, right) => {
                let (left, right) = (self.value(left, scope, metrics)?, self.value(right, scope, metrics)?);
                Some(match operator {
                    Arithmetic::Add => left + right,
                    Arithmetic::Subtract => left - right,
                    Arithmetic::Multiply => left * right,
                    Arithmetic::Divide => left / right,
                })
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

fn exactly(value: f64, n: usize) -> Interval {
    Interval { estimate: value, low: value, high: value, n }
}

/// An inequality holds when the whole interval is on its side, an equivalence when it lies inside the band; each fails
/// when the whole interval is outside. With the verdict comes its clearness.
fn decide(test: &Test, interval: &Interval, kind: EffectKind) -> (Verdict, f64) {
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
            let neutral = if kind == EffectKind::Ratio { 1.0 } else { 0.0 };
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
/// not tested; else one that is undecided; and among those that hold, the least clear.
fn deciding(findings: &[Finding]) -> Option<&Finding> {
    let rank = |finding: &Finding| match finding.verdict {
        Verdict::Fails => (0, -finding.clearness),
        Verdict::NotTested => (1, 0.0),
        Verdict::Undecided => (2, 0.0),
        Verdict::Holds => (3, finding.clearness),
    };
    findings.iter().min_by(|a, b| {
        let ((a, by_a), (b, by_b)) = (rank(a), rank(b));
        a.cmp(&b).then(by_a.total_cmp(&by_b))
    })
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
