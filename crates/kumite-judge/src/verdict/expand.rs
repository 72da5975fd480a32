//! The expansion of a claim to its comparisons, one for each value that an `every` gives it, and from these to the
//! cells that they need.
//!
//! Expansion needs the plan and no trials. So the number of comparisons, on which the price of a verdict depends, is
//! fixed before the first trial.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{AxisValue, CellName, Point, Reason};

use super::Evidence;
use crate::claim::{
    Claim, ClaimPart, ClaimSpec, Comparison, EACH_CONTENDER, Every, Expr, MetricOf, Name, Number, Op, Test,
    scale_of_name,
};

/// A comparison with the values that the `every`s around it have set.
pub(super) type Scoped<'a> = (&'a Comparison, Scope);

/// The contender and the values of axes that `every`s and folds around an expression have set.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    contender: Option<String>,
    pub axes: BTreeMap<String, AxisValue>,
}

impl Scope {
    pub fn name<'a>(&'a self, name: &'a str) -> &'a str {
        match &self.contender {
            Some(contender) if name == EACH_CONTENDER => contender,
            _ => name,
        }
    }

    pub fn with(&self, axis: &str, value: &AxisValue) -> Scope {
        let mut scope = self.clone();
        scope.axes.insert(axis.to_owned(), value.clone());
        scope
    }

    pub fn holds_at(&self, point: &Point) -> bool {
        self.axes.iter().all(|(axis, value)| point.get(axis) == Some(value))
    }

    /// The contender that an `every` has set. None if none has.
    pub fn contender(&self) -> Option<&str> {
        self.contender.as_deref()
    }

    pub fn describe(&self, text: &str) -> String {
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

/// A metric of a cell, as a comparison needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The name of the contender.
    pub contender: String,
    /// The position of the point: in `run.points` for a point of the plan. Points within trials follow after all of
    /// these.
    pub point: usize,
    /// The name of the metric; empty if wrong answers are counted.
    pub metric: String,
}

/// Cells of the plan: contenders with the positions of points.
pub(super) type Cells = BTreeSet<(String, usize)>;

/// The points over which an `every` is expanded.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    /// Only the points that this machine can measure.
    Measurable,
    /// All points that the profile has.
    Planned,
}

impl Evidence<'_> {
    /// The comparisons of each part of a claim, expanded over the points within `reach`.
    pub(super) fn parts<'a>(&self, spec: &'a ClaimSpec, reach: Reach) -> Vec<Vec<Scoped<'a>>> {
        let of_part = |part| {
            let mut comparisons = Vec::new();
            self.expand(std::slice::from_ref(part), &Scope::default(), reach, &mut comparisons);
            comparisons
        };
        spec.parsed.parts.iter().map(of_part).collect()
    }

    fn expand<'a>(&self, parts: &'a [ClaimPart], scope: &Scope, reach: Reach, found: &mut Vec<Scoped<'a>>) {
        for part in parts {
            match part {
                ClaimPart::Comparison(comparison) => found.push((comparison, scope.clone())),
                ClaimPart::Every(Every::Contender { except }, claim) => {
                    let named = |name: &str| except.iter().any(|other| other.text == name);
                    for contender in self.contenders.iter().filter(|contender| !named(&contender.name)) {
                        let scope = Scope { contender: Some(contender.name.clone()), ..scope.clone() };
                        if self.is_planned(claim, &scope, reach) {
                            self.expand(&claim.parts, &scope, reach, found);
                        }
                    }
                }
                ClaimPart::Every(Every::Axis { axis, bounds }, claim) => {
                    for value in self.axis_values(&axis.text) {
                        let inside = |(op, bound): &(Op, Number)| {
                            let value = value.number().map(|value| value * scale_of_name(&axis.text));
                            value.is_some_and(|value| op.holds(value, bound.value))
                        };
                        let scope = scope.with(&axis.text, value);
                        if bounds.iter().all(inside) && self.is_planned(claim, &scope, reach) {
                            self.expand(&claim.parts, &scope, reach, found);
                        }
                    }
                }
            }
        }
    }

    /// True if the plan has all cells that a claim compares, and all of them are within reach. An `every` speaks only
    /// of what the profile tries, so a value that lacks a cell is left out and does not make the claim untestable.
    fn is_planned(&self, claim: &Claim, scope: &Scope, reach: Reach) -> bool {
        let can_be = |cell: &Reference| match reach {
            Reach::Measurable => self.grid.unavailable(cell.point).is_none(),
            Reach::Planned => true,
        };
        claim.parts.iter().all(|part| match part {
            ClaimPart::Comparison(comparison) => {
                self.of_comparison(comparison, scope).is_ok_and(|cells| cells.iter().all(can_be))
            }
            // An `every` inside asks for itself.
            ClaimPart::Every(..) => true,
        })
    }

    fn axis_values(&self, axis: &str) -> &[AxisValue] {
        self.axes.get(axis).map_or(&[], |values| values)
    }

    /// The metrics that a comparison needs, each at its cell. An error if the plan lacks one of the cells.
    pub(super) fn of_comparison(
        &self,
        comparison: &Comparison,
        scope: &Scope,
    ) -> Result<Vec<Reference>, Reason> {
        let mut references = Vec::new();
        match &comparison.test {
            Test::Compare(left, _, right) | Test::Within(left, _, right) => {
                self.references(left, scope, &mut references)?;
                self.references(right, scope, &mut references)?;
            }
            Test::Disqualified(name) => {
                let contender = scope.name(&name.text);
                let planned = |&(nth, point): &(usize, &Point)| {
                    scope.holds_at(point) && self.grid.plans(contender, nth)
                };
                let cell =
                    |(point, _)| Reference { contender: contender.to_owned(), point, metric: String::new() };
                references.extend(self.grid.points.iter().enumerate().filter(planned).map(cell));
                if references.is_empty() {
                    let point = Point(scope.axes.clone());
                    let cell = CellName { contender: contender.to_owned(), point };
                    return Err(Reason::NotPlanned { profile: self.profile(), cell });
                }
            }
        }
        Ok(references)
    }

    /// The cells that a claim needs, as cells of the plan.
    pub fn cells(&self, spec: &ClaimSpec) -> Cells {
        self.parts(spec, Reach::Measurable)
            .iter()
            .flatten()
            .flat_map(|scoped| self.cells_of(scoped))
            .collect()
    }

    /// The metrics of whole trials that a claim compares, each at its cell. The metric is empty if wrong answers are
    /// counted.
    pub fn references_of_trials(&self, spec: &ClaimSpec) -> Vec<Reference> {
        let all = self.all_references(spec).into_iter();
        all.filter(|of| of.point < self.grid.run.points.len()).collect()
    }

    fn all_references(&self, spec: &ClaimSpec) -> Vec<Reference> {
        let parts = self.parts(spec, Reach::Measurable);
        let of_one = |(comparison, scope): &Scoped| self.of_comparison(comparison, scope).unwrap_or_default();
        parts.iter().flatten().flat_map(of_one).collect()
    }

    /// The metrics of parts of trials that a claim compares, each with the value of the axis within trials. Their
    /// points are those of the plan.
    pub fn references_of_parts(&self, spec: &ClaimSpec) -> Vec<(Reference, AxisValue)> {
        let Some(axis) = self.grid.run.within.as_ref().map(|within| &within.axis) else { return Vec::new() };
        let of_part = |of: Reference| {
            let value = self.grid.points[of.point].get(axis)?.clone();
            Some((Reference { point: self.grid.folded(of.point), ..of }, value))
        };
        self.all_references(spec).into_iter().filter_map(of_part).collect()
    }

    /// The cells that a comparison needs, as cells of the plan; empty if the plan lacks one of them.
    pub(super) fn cells_of(&self, (comparison, scope): &Scoped) -> Cells {
        let references = self.of_comparison(comparison, scope).unwrap_or_default();
        let cell = |reference: Reference| (reference.contender, self.grid.folded(reference.point));
        references.into_iter().map(cell).collect()
    }

    fn profile(&self) -> String {
        self.grid.run.profile.clone()
    }

    fn references(&self, expr: &Expr, scope: &Scope, found: &mut Vec<Reference>) -> Result<(), Reason> {
        match expr {
            Expr::Number(_) | Expr::Parameter(_) | Expr::Own(_) => Ok(()),
            Expr::Binary(left, _, _, right) => {
                self.references(left, scope, found)?;
                self.references(right, scope, found)
            }
            Expr::Fold(_, inner, axis) => {
                let values = self.fold_values(inner, axis, scope);
                if values.len() < 2 {
                    return Err(Reason::FewValues { profile: self.profile(), axis: axis.text.clone() });
                }
                values
                    .iter()
                    .try_for_each(|value| self.references(inner, &scope.with(&axis.text, value), found))
            }
            Expr::Metric(metric) => {
                let contender = scope.name(&metric.contender.text).to_owned();
                let point = self
                    .point(metric, scope)
                    .map_err(|point| Reason::NoPoint { profile: self.profile(), point })?;
                if !self.grid.plans(&contender, point) {
                    let cell = self.grid.cell(&contender, point);
                    return Err(Reason::NotPlanned { profile: self.profile(), cell });
                }
                let reference = Reference { contender, point, metric: metric.name.text.clone() };
                if !found.contains(&reference) {
                    found.push(reference);
                }
                Ok(())
            }
        }
    }

    /// The values of an axis at which all cells of a fold are planned and can be measured.
    pub(super) fn fold_values(&self, inner: &Expr, axis: &Name, scope: &Scope) -> Vec<AxisValue> {
        let has_all = |value: &&AxisValue| {
            let mut cells = Vec::new();
            self.references(inner, &scope.with(&axis.text, value), &mut cells).is_ok()
                && cells.iter().all(|cell| self.grid.unavailable(cell.point).is_none())
        };
        self.axis_values(&axis.text).iter().filter(has_all).cloned().collect()
    }

    /// The position of the point for which a claim names a metric. The error is the point that the claim asks for, if
    /// the run has no such point.
    pub(super) fn point(&self, metric: &MetricOf, scope: &Scope) -> Result<usize, Point> {
        let mut wanted = Point::default();
        for axis in self.axes.keys() {
            let set = metric.at.iter().find(|(name, _)| name.text == *axis).map(|(_, value)| value);
            if let Some(value) =
                set.or_else(|| scope.axes.get(axis)).or_else(|| self.grid.run.parameter(axis))
            {
                wanted.0.insert(axis.clone(), value.clone());
            }
        }
        let fits = |point: &Point| wanted.0.iter().all(|(axis, value)| point.get(axis) == Some(value));
        let whole = self.grid.position(&wanted);
        whole.or_else(|| self.grid.points.iter().position(fits)).ok_or(wanted)
    }
}
