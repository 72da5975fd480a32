//! The check of a parsed claim: it refuses a claim that names what the experiment lacks, or compares unlike with
//! unlike.
//!
//! It runs once, when the file is read, so that judging needs no error for either: an expression that passed has a
//! dimension, and each name in it stands for something. Errors carry the column of the word that is wrong.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{AxisValue, Metric, Unit, it_has, there_are};

use super::units::{Meeting, combined};
use super::{
    Arithmetic, Claim, ClaimError, ClaimPart, Comparison, Dimension, EACH_CONTENDER, Every, Expr, MetricOf,
    Name, Names, Number, Op, Test, scale_of_name,
};

pub(super) fn check(claim: &Claim, names: &Names) -> Result<(), ClaimError> {
    Scope { names, each_contender: false, set: BTreeSet::new() }.claim(claim)
}

/// The settings around an expression: `each_contender` is true inside an `every contender`, and `set` has the axes of
/// the `every`s and folds.
#[derive(Clone)]
struct Scope<'a> {
    names: &'a Names<'a>,
    each_contender: bool,
    set: BTreeSet<String>,
}

impl Scope<'_> {
    fn claim(&self, claim: &Claim) -> Result<(), ClaimError> {
        claim.parts.iter().try_for_each(|part| match part {
            ClaimPart::Comparison(comparison) => self.comparison(comparison),
            ClaimPart::Every(every, claim) => self.every(every)?.claim(claim),
        })
    }

    fn every(&self, every: &Every) -> Result<Self, ClaimError> {
        let mut inner = self.clone();
        match every {
            Every::Contender { except } => {
                except.iter().try_for_each(|name| self.contender(name))?;
                let is_left = |name: &String| except.iter().all(|other| other.text != *name);
                if let (Some(first), false) = (except.first(), self.names.contenders.iter().any(is_left)) {
                    return fail(first, "that leaves no contender to speak of".to_owned());
                }
                inner.each_contender = true;
            }
            Every::Axis { axis, bounds } => {
                self.axis(axis)?;
                for (_, bound) in bounds {
                    let of_axis = Expr::Parameter(axis.clone());
                    let sides = [
                        (&of_axis, self.names.unit(&axis.text).into()),
                        (&Expr::Number(bound.clone()), bound.dimension),
                    ];
                    self.meet(sides, "compared", bound.column)?;
                }
                self.some_value(axis, bounds)?;
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

    /// An error if no value that any profile has is within the bounds of an `every`, so that nothing would test it.
    fn some_value(&self, axis: &Name, bounds: &[(Op, Number)]) -> Result<(), ClaimError> {
        let values = self.axis(axis)?;
        let is_inside = |value: &AxisValue| {
            let value = value.number().map(|value| value * scale_of_name(&axis.text));
            bounds.iter().all(|(op, bound)| value.is_some_and(|value| op.holds(value, bound.value)))
        };
        match bounds.first() {
            Some((_, bound)) if !values.iter().any(is_inside) => {
                let known: Vec<String> = values.iter().map(ToString::to_string).collect();
                let what = format!("no value of ${} is so: it has {}", axis.text, known.join(", "));
                Err(ClaimError { column: bound.column, what })
            }
            _ => Ok(()),
        }
    }

    fn comparison(&self, comparison: &Comparison) -> Result<(), ClaimError> {
        let (left, right) = match &comparison.test {
            Test::Compare(left, _, right) | Test::Within(left, _, right) => (left, right),
            Test::Disqualified(name) => return self.contender(name),
        };
        let sides = [(left, self.expr(left)?), (right, self.expr(right)?)];
        self.meet(sides, "compared", comparison.column)?;
        if !measures(left) && !measures(right) {
            let what = "nothing in it is measured: name a metric, as in throughput_rps(NAME)".to_owned();
            return Err(ClaimError { column: comparison.column, what });
        }
        Ok(())
    }

    /// The dimension of an expression. An error if a name or a unit in it is wrong.
    fn expr(&self, expr: &Expr) -> Result<Dimension, ClaimError> {
        match expr {
            Expr::Number(number) => Ok(number.dimension),
            Expr::Parameter(name) => {
                self.parameter(name)?;
                Ok(self.names.unit(&name.text).into())
            }
            Expr::Metric(metric) => Ok(self.metric(metric)?.unit.into()),
            Expr::Own(name) => fail(name, format!("'{0}' needs a contender, as in {0}(NAME)", name.text)),
            Expr::Binary(left, operator, column, right) => {
                let sides = [(&**left, self.expr(left)?), (&**right, self.expr(right)?)];
                match operator {
                    Arithmetic::Add | Arithmetic::Subtract => self.meet(sides, "added", *column),
                    _ => Ok(combined(sides[0].1, *operator, sides[1].1)),
                }
            }
            Expr::Fold(fold, inner, axis) => {
                self.axis(axis)?;
                let mut scope = self.clone();
                scope.set.insert(axis.text.clone());
                let inner = scope.expr(inner)?;
                Ok(if fold.is_ratio() { Dimension::RATIO } else { inner })
            }
        }
    }

    fn meet(
        &self,
        sides: [(&Expr, Dimension); 2],
        how: &'static str,
        column: usize,
    ) -> Result<Dimension, ClaimError> {
        Meeting { sides, how, column }.check(&|expr| self.symbol(expr))
    }

    /// The symbol in which an expression's figures are written: that of the first metric or parameter in it. None if
    /// it has none.
    fn symbol(&self, expr: &Expr) -> Option<&'static str> {
        let unit = match expr {
            Expr::Metric(metric) => self.names.metric(&metric.name.text)?.unit,
            Expr::Parameter(name) => self.names.unit(&name.text),
            Expr::Fold(fold, inner, _) if !fold.is_ratio() => return self.symbol(inner),
            Expr::Binary(left, Arithmetic::Add | Arithmetic::Subtract, _, right) => {
                return self.symbol(left).or_else(|| self.symbol(right));
            }
            _ => return None,
        };
        Some(unit.symbol()).filter(|symbol| !symbol.is_empty())
    }

    fn metric(&self, metric: &MetricOf) -> Result<&Metric, ClaimError> {
        let name = metric.name.text.as_str();
        let has = |metrics: &[Metric]| metrics.iter().any(|metric| metric.name == name);
        let (of_trials, of_parts) = (has(self.names.metrics), has(self.names.part_metrics));
        let Some(declared) = self.names.metric(name) else {
            let mut known: Vec<&str> = Vec::new();
            for metric in self.names.metrics.iter().chain(self.names.part_metrics) {
                if !known.contains(&metric.name.as_str()) {
                    known.push(&metric.name);
                }
            }
            return fail(&metric.name, format!("no metric '{name}'{}", there_are(name, &known)));
        };
        self.contender(&metric.contender)?;
        for (axis, value) in &metric.at {
            let values = self.axis(axis)?;
            if !values.contains(value) {
                let known: Vec<String> = values.iter().map(ToString::to_string).collect();
                let it_has = it_has(&value.to_string(), &known);
                let what = format!("axis '{}' has no value {value}{it_has}", axis.text);
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
            is_choice && !told(axis) && !whole && !self.names.fixed.contains_key(*axis)
        };
        match self.names.axes.iter().find(open) {
            Some((axis, _)) => {
                let what = format!("{}({}) needs 'at {axis}=…'", metric.name.text, metric.contender.text);
                fail(&metric.name, what)
            }
            None => Ok(declared),
        }
    }

    fn contender(&self, name: &Name) -> Result<(), ClaimError> {
        let each = self.each_contender && name.text == EACH_CONTENDER;
        if each || self.names.contenders.contains(&name.text) {
            return Ok(());
        }
        let known: Vec<&str> = self.names.contenders.iter().map(String::as_str).collect();
        fail(name, format!("no contender '{}'{}", name.text, there_are(&name.text, &known)))
    }

    fn parameter(&self, name: &Name) -> Result<(), ClaimError> {
        let number = self.names.fixed.get(&name.text).and_then(|value| value.number());
        if number.is_some() || self.set.contains(&name.text) {
            return Ok(());
        }
        let mut known: Vec<&str> = self
            .names
            .fixed
            .iter()
            .filter(|(_, value)| value.number().is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        known.extend(self.set.iter().map(String::as_str));
        fail(
            name,
            format!(
                "no workload parameter '${}' that is a number{}",
                name.text,
                there_are(&name.text, &known)
            ),
        )
    }

    fn axis(&self, name: &Name) -> Result<&Vec<AxisValue>, ClaimError> {
        self.names.axes.get(&name.text).ok_or_else(|| {
            let known: Vec<&str> = self.names.axes.keys().map(String::as_str).collect();
            ClaimError {
                column: name.column,
                what: format!("no axis '{}'{}", name.text, there_are(&name.text, &known)),
            }
        })
    }
}

/// The names that an expression over one trial may use.
pub struct Own<'a> {
    /// The metrics of the trial.
    pub metrics: &'a [&'a Metric],
    /// The units of the parameters, by name.
    pub parameters: &'a BTreeMap<String, Unit>,
}

/// The dimension of an expression over one trial. An error if the expression has an unknown name, a contender or a
/// fold, or adds unlike quantities.
pub fn own_dimension(expr: &Expr, names: &Own) -> Result<Dimension, ClaimError> {
    let unknown = |name: &Name, what: &str, known: Vec<&str>| {
        fail(name, format!("no {what} '{}'{}", name.text, there_are(&name.text, &known)))
    };
    let metric = |name: &str| names.metrics.iter().find(|metric| metric.name == name);
    match expr {
        Expr::Number(number) => Ok(number.dimension),
        Expr::Parameter(name) => match names.parameters.get(&name.text) {
            Some(unit) => Ok((*unit).into()),
            None => unknown(name, "parameter", names.parameters.keys().map(String::as_str).collect()),
        },
        Expr::Own(name) => match metric(&name.text) {
            Some(metric) => Ok(metric.unit.into()),
            None => unknown(name, "metric", names.metrics.iter().map(|it| it.name.as_str()).collect()),
        },
        Expr::Binary(left, operator, column, right) => {
            let sides = [(&**left, own_dimension(left, names)?), (&**right, own_dimension(right, names)?)];
            let symbol = |expr: &Expr| match expr {
                Expr::Own(name) => metric(&name.text).map(|metric| metric.unit.symbol()),
                Expr::Parameter(name) => names.parameters.get(&name.text).map(|unit| unit.symbol()),
                _ => None,
            };
            match operator {
                Arithmetic::Add | Arithmetic::Subtract => {
                    let meeting = Meeting { sides, how: "added", column: *column };
                    meeting.check(&|expr| symbol(expr).filter(|symbol| !symbol.is_empty()))
                }
                _ => Ok(combined(sides[0].1, *operator, sides[1].1)),
            }
        }
        Expr::Metric(MetricOf { name, .. }) | Expr::Fold(_, _, name) => {
            fail(name, "a metric of one trial knows no contender and no axis: name metrics alone".to_owned())
        }
    }
}

impl Names<'_> {
    /// The metric of this name, of whole trials or else of their parts. Both have the same unit. None if neither has
    /// such a metric.
    fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().chain(self.part_metrics).find(|metric| metric.name == name)
    }

    fn unit(&self, name: &str) -> Unit {
        self.units.get(name).copied().or(Unit::of_name(name)).unwrap_or(Unit::Number)
    }
}

/// True if the expression has a metric in it, so that it says something of a trial.
pub(crate) fn measures(expr: &Expr) -> bool {
    match expr {
        Expr::Metric(_) => true,
        Expr::Number(_) | Expr::Parameter(_) | Expr::Own(_) => false,
        Expr::Binary(left, _, _, right) => measures(left) || measures(right),
        Expr::Fold(_, inner, _) => measures(inner),
    }
}

fn fail<T>(name: &Name, what: String) -> Result<T, ClaimError> {
    Err(ClaimError { column: name.column, what })
}
