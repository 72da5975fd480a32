//! Whether a claim speaks only of what the experiment has.

use std::collections::BTreeSet;

use super::{Claim, ClaimError, Comparison, EACH_CONTENDER, Every, Expr, Metric, Name, Names, Part, Test};

pub(crate) fn check(claim: &Claim, names: &Names) -> Result<(), ClaimError> {
    Scope { names, each_contender: false, set: BTreeSet::new() }.claim(claim)
}

/// What the claims around an expression have set.
#[derive(Clone)]
struct Scope<'a> {
    names: &'a Names<'a>,
    each_contender: bool,
    set: BTreeSet<String>,
}

impl Scope<'_> {
    fn claim(&self, claim: &Claim) -> Result<(), ClaimError> {
        claim.parts.iter().try_for_each(|part| match part {
            Part::Comparison(comparison) => self.comparison(comparison),
            Part::Every(every, claim) => self.every(every)?.claim(claim),
        })
    }

    fn every(&self, every: &Every) -> Result<Self, ClaimError> {
        let mut inner = self.clone();
        match every {
            Every::Contender { except } => {
                except.iter().try_for_each(|name| self.contender(name))?;
                inner.each_contender = true;
            }
            Every::Axis { axis, .. } => {
                self.axis(axis)?;
                if !inner.set.insert(axis.text.clone()) {
                    let what = format!(
                        "${} is set by another `every` already; give one both bounds: >= 1 and <= 9",
                        axis.text
                    );
                    return Err(ClaimError { column: axis.column, what });
                }
            }
        }
        Ok(inner)
    }

    fn comparison(&self, comparison: &Comparison) -> Result<(), ClaimError> {
        match &comparison.test {
            Test::Compare(left, _, right) | Test::Within(left, _, right) => {
                self.expr(left)?;
                self.expr(right)
            }
            Test::Disqualified(name) => self.contender(name),
        }
    }

    fn expr(&self, expr: &Expr) -> Result<(), ClaimError> {
        match expr {
            Expr::Number(_) => Ok(()),
            Expr::Parameter(name) => self.parameter(name),
            Expr::Metric(metric) => self.metric(metric),
            Expr::Own(name) => fail(name, format!("'{0}' needs a contender, as in {0}(NAME)", name.text)),
            Expr::Binary(left, _, right) => {
                self.expr(left)?;
                self.expr(right)
            }
            Expr::Fold(_, inner, axis) => {
                self.axis(axis)?;
                let mut scope = self.clone();
                scope.set.insert(axis.text.clone());
                scope.expr(inner)
            }
        }
    }

    fn metric(&self, metric: &Metric) -> Result<(), ClaimError> {
        let name = metric.name.text.as_str();
        let (of_trials, of_parts) =
            (self.names.metrics.contains(&name), self.names.part_metrics.contains(&name));
        if !of_trials && !of_parts {
            let mut known = self.names.metrics.to_vec();
            known.extend(self.names.part_metrics.iter().filter(|name| !self.names.metrics.contains(name)));
            return fail(&metric.name, format!("no metric '{name}'; there are: {}", known.join(", ")));
        }
        self.contender(&metric.contender)?;
        for (axis, value) in &metric.at {
            let values = self.axis(axis)?;
            if !values.contains(value) {
                let known: Vec<String> = values.iter().map(ToString::to_string).collect();
                let what = format!("axis '{}' has no value {value}; it has {}", axis.text, known.join(", "));
                return fail(axis, what);
            }
        }
        let told =
            |axis: &String| self.set.contains(axis) || metric.at.iter().any(|(name, _)| name.text == *axis);
        let within = self.names.within.filter(|axis| told(&(*axis).to_owned()));
        if let (Some(axis), false) = (within, of_parts) {
            return fail(
                &metric.name,
                format!("'{name}' is of whole trials, and {axis} changes within them"),
            );
        }
        // An axis that is a workload parameter too has a default.
        let open = |(axis, values): &(&String, &Vec<_>)| {
            let whole = self.names.within == Some(axis) && of_trials;
            let is_choice = values.len() > 1 || self.names.within == Some(axis);
            is_choice && !told(axis) && !whole && !self.names.workload.contains_key(*axis)
        };
        match self.names.axes.iter().find(open) {
            Some((axis, _)) => {
                let what = format!("{}({}) needs 'at {axis}=…'", metric.name.text, metric.contender.text);
                fail(&metric.name, what)
            }
            None => Ok(()),
        }
    }

    fn contender(&self, name: &Name) -> Result<(), ClaimError> {
        let each = self.each_contender && name.text == EACH_CONTENDER;
        if each || self.names.contenders.contains(&name.text) {
            return Ok(());
        }
        let known: Vec<&str> = self.names.contenders.iter().map(String::as_str).collect();
        fail(name, format!("no contender '{}'; there are: {}", name.text, known.join(", ")))
    }

    fn parameter(&self, name: &Name) -> Result<(), ClaimError> {
        let number = self.names.workload.get(&name.text).and_then(|value| value.number());
        if number.is_some() || self.set.contains(&name.text) {
            return Ok(());
        }
        let mut known: Vec<&str> = self
            .names
            .workload
            .iter()
            .filter(|(_, value)| value.number().is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        known.extend(self.set.iter().map(String::as_str));
        fail(
            name,
            format!(
                "no workload parameter '${}' that is a number; there are: {}",
                name.text,
                known.join(", ")
            ),
        )
    }

    fn axis(&self, name: &Name) -> Result<&Vec<kumite_record::AxisValue>, ClaimError> {
        self.names.axes.get(&name.text).ok_or_else(|| {
            let known: Vec<&str> = self.names.axes.keys().map(String::as_str).collect();
            ClaimError {
                column: name.column,
                what: format!("no axis '{}'; there are: {}", name.text, known.join(", ")),
            }
        })
    }
}

fn fail(name: &Name, what: String) -> Result<(), ClaimError> {
    Err(ClaimError { column: name.column, what })
}
