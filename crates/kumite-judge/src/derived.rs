//! Metrics that an experiment declares itself: metrics that workers give, and metrics derived from others.
//!
//! They are checked when the file is read, and computed in each trial when it ends. A trial that lacks an input of a
//! metric does not have that metric. No derived metric is derived from another derived one.

use std::collections::BTreeMap;

use kumite_record::{AxisValue, Metric, Probe, Unit};
use thiserror::Error;

use crate::claim::{self, ClaimError, Dimension, Expr, Own, own_dimension, scale_of_name};

/// A metric that an experiment declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The metric as the run's record declares it: its name, unit, better end and meaning.
    pub metric: Metric,
    /// The expression from which the metric is computed, in the claim grammar. None if the metric comes with a worker's
    /// answers.
    pub value: Option<String>,
}

/// The reason why an expression over one trial cannot be used.
#[derive(Debug, Error, PartialEq)]
pub enum ExpressionError {
    /// The text is no expression, divides by 0, adds unlike quantities, or has an unknown name, a contender or a fold.
    #[error("column {} of its text: {}", .0.column, .0.what)]
    Text(ClaimError),
    /// The dimension of the expression is not that of the unit of the figure for which it stands.
    #[error("it is {found}, and its name says that it is {named}")]
    Dimension {
        /// The dimension of the expression.
        found: Dimension,
        /// The dimension of the figure's unit.
        named: Dimension,
    },
    /// A parameter in the expression is a text or a truth value, or has no value.
    #[error("a parameter of it is no number")]
    NoNumber,
}

/// The reason why the declaration of a metric is refused.
#[derive(Debug, Error, PartialEq)]
pub enum MetricError {
    /// The metric's name does not have the form that claims can use: lower-case letters, digits and `_`, with a
    /// letter at the beginning.
    #[error("'{0}' is not a metric's name: use lower-case letters, digits and _")]
    Name(String),
    /// The name is that of a metric that trials have anyway: of the kind of workload, of a service, or of a probe.
    #[error("every trial has the metric '{0}' already")]
    Known(String),
    /// The metric's expression cannot be used.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// The declared unit contradicts the metric's name.
    #[error("its unit is {unit}, and its name says {named}")]
    Unit {
        /// The unit that the experiment declares.
        unit: Unit,
        /// The unit that the name says.
        named: Unit,
    },
    /// The declared unit has a symbol, and the end of the metric's name does not say it.
    #[error("its unit is {0}, which the end of its name must say")]
    UnitUnsaid(Unit),
}

/// The metrics that an experiment declares itself, beside those of its kind of workload.
#[derive(Clone, Debug, Default)]
pub struct Derived {
    /// The metrics in the order of the file, each with the expression that it is derived by. None if it comes with a
    /// worker's answers.
    metrics: Vec<(Metric, Option<Expr>)>,
}

impl Derived {
    /// Parses and checks the declared metrics. Their expressions may use the `known` metrics, the declared ones that
    /// come with a worker's answers, and the names in `parameters`, which have the units given there. The error has the
    /// name of the refused metric. A declared unit is not compared with its metric's name here.
    pub fn new(
        declared: &[Declared],
        known: &[Metric],
        parameters: &BTreeMap<String, Unit>,
    ) -> Result<Derived, (String, MetricError)> {
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        let workers = declared.iter().filter(|declared| declared.value.is_none());
        let usable: Vec<&Metric> = known.iter().chain(workers.map(|declared| &declared.metric)).collect();
        let mut derived = Derived::default();
        for Declared { metric, value } in declared {
            let name = &metric.name;
            if !is_name(name) {
                return Err((name.clone(), MetricError::Name(name.clone())));
            }
            if Probe::of_name(name).is_some() || known.iter().any(|known| known.name == *name) {
                return Err((name.clone(), MetricError::Known(name.clone())));
            }
            let parsed = value.as_ref().map(|text| expression(text, &usable, parameters, metric.unit));
            let parsed = parsed.transpose().map_err(|why| (name.clone(), why.into()))?;
            derived.metrics.push((metric.clone(), parsed));
        }
        Ok(derived)
    }

    /// True if the metric of this name is declared to come with a worker's answers.
    pub fn is_worker_s(&self, name: &str) -> bool {
        self.of_answers().any(|own| own == name)
    }

    /// The names of the metrics that come with a worker's answers.
    pub fn of_answers(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().filter(|(_, value)| value.is_none()).map(|(metric, _)| metric.name.as_str())
    }

    /// The declared metrics that parts of a trial can have: those that come with a worker's answers, and those derived
    /// from such metrics, parameters and the `known` metrics alone. `known` are the metrics that the kind of workload
    /// gives to parts.
    pub fn of_parts(&self, known: &[Metric]) -> Vec<Metric> {
        let is_known = |name: &str| known.iter().any(|it| it.name == name) || self.is_worker_s(name);
        let theirs = |(_, value): &&(Metric, Option<Expr>)| {
            value.as_ref().is_none_or(|expression| uses_only(expression, &is_known))
        };
        self.metrics.iter().filter(theirs).map(|(metric, _)| metric.clone()).collect()
    }

    /// All metrics that the experiment declares.
    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        self.metrics.iter().map(|(metric, _)| metric)
    }

    /// Adds the derived metrics of a trial to its `metrics`. A metric is left out if an input is missing or no number,
    /// or if the metric's value is not finite.
    pub fn add(&self, metrics: &mut BTreeMap<String, f64>, parameters: &BTreeMap<String, AxisValue>) {
        for (Metric { name, .. }, expression) in &self.metrics {
            let Some(expression) = expression else { continue };
            let found = value(expression, metrics, parameters).map(|value| value / scale_of_name(name));
            if let Some(value) = found.filter(|value| value.is_finite()) {
                metrics.insert(name.clone(), value);
            }
        }
    }
}

/// The value of an expression over parameters alone, in seconds, bytes or plain numbers. An error if the text is no
/// expression or has a name without an entry in `units`, if the expression's dimension is not that of `unit`, or if a
/// parameter is no number or has no value. The value may be infinite or NaN if the expression divides by a parameter
/// that is 0.
pub fn of_parameters(
    text: &str,
    parameters: &BTreeMap<String, AxisValue>,
    units: &BTreeMap<String, Unit>,
    unit: Unit,
) -> Result<f64, ExpressionError> {
    let parsed = expression(text, &[], units, unit)?;
    value(&parsed, &BTreeMap::new(), parameters).ok_or(ExpressionError::NoNumber)
}

fn expression(
    text: &str,
    metrics: &[&Metric],
    parameters: &BTreeMap<String, Unit>,
    unit: Unit,
) -> Result<Expr, ExpressionError> {
    let parsed = claim::parse_expression(text).map_err(ExpressionError::Text)?;
    let found = own_dimension(&parsed, &Own { metrics, parameters }).map_err(ExpressionError::Text)?;
    match Dimension::from(unit) {
        named if found.meets(named) => Ok(parsed),
        named => Err(ExpressionError::Dimension { found, named }),
    }
}

fn uses_only(expr: &Expr, is_known: &dyn Fn(&str) -> bool) -> bool {
    match expr {
        Expr::Number(_) | Expr::Parameter(_) => true,
        Expr::Own(name) => is_known(&name.text),
        Expr::Binary(left, _, _, right) => uses_only(left, is_known) && uses_only(right, is_known),
        Expr::Metric(_) | Expr::Fold(..) => false,
    }
}

fn value(
    expr: &Expr,
    metrics: &BTreeMap<String, f64>,
    parameters: &BTreeMap<String, AxisValue>,
) -> Option<f64> {
    Some(match expr {
        Expr::Number(number) => number.value,
        Expr::Parameter(name) => parameters.get(&name.text)?.number()? * scale_of_name(&name.text),
        Expr::Own(name) => metrics.get(&name.text)? * scale_of_name(&name.text),
        Expr::Binary(left, operator, _, right) => {
            let (left, right) = (value(left, metrics, parameters)?, value(right, metrics, parameters)?);
            operator.apply(left, right)
        }
        Expr::Metric(_) | Expr::Fold(..) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(all: &[(&str, &str)]) -> Vec<Declared> {
        let one = |(name, what): &(&str, &str)| Declared {
            metric: Metric::named(name),
            value: (*what != "worker").then(|| (*what).to_owned()),
        };
        all.iter().map(one).collect()
    }

    fn derived(name: &str, what: &str) -> Result<Derived, (String, MetricError)> {
        let parameters = [("records", Unit::Number), ("delay_ms", Unit::Milliseconds)];
        let parameters = parameters.map(|(name, unit)| (name.to_owned(), unit)).into();
        let declared = declared(&[(name, what), ("file_bytes", "worker")]);
        Derived::new(&declared, &[Metric::named("elapsed_ms")], &parameters)
    }

    fn found(name: &str, what: &str) -> Option<f64> {
        let mut metrics = [("elapsed_ms".to_owned(), 500.0), ("file_bytes".to_owned(), 3000.0)].into();
        let parameters =
            [("records", 1000), ("delay_ms", 10)].map(|(name, n)| (name.to_owned(), AxisValue::Int(n)));
        derived(name, what).unwrap().add(&mut metrics, &parameters.into());
        metrics.get(name).copied()
    }

    #[test]
    fn a_derived_metric_is_in_the_unit_at_the_end_of_its_name() {
        let close =
            |name, what, expected: f64| assert!((found(name, what).unwrap() / expected - 1.0).abs() < 1e-12);
        close("rate_per_s", "$records / elapsed_ms", 2000.0);
        close("record_us", "elapsed_ms / $records", 500.0);
        close("efficiency", "(5 + 20) * $delay_ms / elapsed_ms", 0.5);
        close("record_bytes", "file_bytes / $records", 3.0);
        assert_eq!(found("endless", "elapsed_ms / (elapsed_ms - 500 ms)"), None);
    }

    #[test]
    fn a_wrong_derived_metric_is_refused_by_its_name() {
        let cases = [
            ("x", "speed", "x: column 1 of its text: no metric 'speed'; there are: elapsed_ms, file_bytes"),
            ("x", "1 + $n", "no parameter 'n'; there are: delay_ms, records"),
            ("x", "elapsed_ms(a)", "knows no contender"),
            ("x", "1 +", "expected a metric, a number or a $parameter"),
            ("x", "1 < 2", "expected the end"),
            ("elapsed_ms", "worker", "has the metric 'elapsed_ms' already"),
            ("Speed", "worker", "is not a metric's name"),
            (
                "x_ms",
                "elapsed_ms + 5",
                "column 14 of its text: 5 is a plain number, and it is added with a time: write 5 ms",
            ),
            ("x_ms", "$records", "it is a plain number, and its name says that it is a time"),
        ];
        for (name, what, expected) in cases {
            let (of, why) = derived(name, what).unwrap_err();
            let found = format!("{of}: {why}");
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn a_metric_derived_of_metrics_of_parts_is_one_of_parts() {
        let all =
            declared(&[("fib", "worker"), ("share", "fib / cold_calls"), ("fib_per_s", "fib / wall_ms")]);
        let known = ["wall_ms", "cold_calls"].map(Metric::named);
        let derived = Derived::new(&all, &known, &BTreeMap::new()).unwrap();
        let names: Vec<String> = derived.of_parts(&known[..1]).into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["fib", "fib_per_s"]);
    }

    #[test]
    fn a_figure_of_parameters_has_no_metric_and_the_right_unit() {
        let parameters = [("records".to_owned(), AxisValue::Int(1000))].into();
        let units = [("records".to_owned(), Unit::Number)].into();
        let bytes = |text| of_parameters(text, &parameters, &units, Unit::Bytes);
        assert_eq!(bytes("$records * 2 kB"), Ok(2e6));
        assert_eq!(
            bytes("$records * elapsed_ms").unwrap_err().to_string(),
            "column 12 of its text: no metric 'elapsed_ms'; there are none here"
        );
        assert_eq!(
            bytes("$records * 60").unwrap_err().to_string(),
            "it is a plain number, and its name says that it is a number of bytes"
        );
    }
}
