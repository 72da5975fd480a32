//! Metrics that an experiment declares itself: those that workers give, and those that follow from others.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::AxisValue;

use crate::claim::{self, ClaimError, Expr, scale_of_name};

/// Means that a metric comes with a worker's answers.
const WORKER: &str = "worker";

/// The metrics that an experiment has beside those of its kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derived {
    worker: BTreeSet<String>,
    /// In the order of their names; none uses another.
    expressions: Vec<(String, Expr)>,
}

impl Derived {
    /// What `[metrics]` declares beside `known` metrics, with these parameters. An error comes with the name it is about.
    pub fn parse(
        declared: &BTreeMap<String, String>,
        known: &[&str],
        parameters: &BTreeSet<String>,
    ) -> Result<Derived, (String, String)> {
        let mut derived = Derived::default();
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        for (name, what) in declared {
            let wrong = |what: String| Err((name.clone(), what));
            if !is_name(name) {
                return wrong(format!(
                    "'{name}' is not a metric's name: use lower-case letters, digits and _"
                ));
            }
            if known.contains(&name.as_str()) {
                return wrong(format!("every trial has the metric '{name}' already"));
            }
            if what == WORKER {
                derived.worker.insert(name.clone());
            }
        }
        let mut usable: BTreeSet<&str> = known.iter().copied().collect();
        usable.extend(derived.worker.iter().map(String::as_str));
        for (name, what) in declared.iter().filter(|(_, what)| *what != WORKER) {
            let parsed = expression(what, &usable, parameters);
            derived.expressions.push((name.clone(), parsed.map_err(|what| (name.clone(), what))?));
        }
        Ok(derived)
    }

    /// Whether a worker is to give it.
    pub fn is_worker_s(&self, name: &str) -> bool {
        self.worker.contains(name)
    }

    /// Those that come with answers.
    pub fn of_answers(&self) -> impl Iterator<Item = &str> {
        self.worker.iter().map(String::as_str)
    }

    /// Those of parts of a trial that have these metrics, and each the answer's own.
    pub fn of_parts<'a>(&'a self, known: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let is_known = |name: &str| known.contains(&name) || self.is_worker_s(name);
        let follow = self.expressions.iter().filter(move |(_, expression)| uses_only(expression, &is_known));
        self.of_answers().chain(follow.map(|(name, _)| name.as_str()))
    }

    /// All that are declared.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.worker.iter().chain(self.expressions.iter().map(|(name, _)| name)).map(String::as_str)
    }

    /// Adds what follows from the metrics of a trial, where it has all that is needed.
    pub fn add(&self, metrics: &mut BTreeMap<String, f64>, parameters: &BTreeMap<String, AxisValue>) {
        for (name, expression) in &self.expressions {
            let found = value(expression, metrics, parameters).map(|value| value / scale_of_name(name));
            if let Some(value) = found.filter(|value| value.is_finite()) {
                metrics.insert(name.clone(), value);
            }
        }
    }
}

/// An expression over parameters alone, in bytes, seconds or plain numbers.
pub(crate) fn of_parameters(text: &str, parameters: &BTreeMap<String, AxisValue>) -> Result<f64, String> {
    let names = parameters.keys().cloned().collect();
    let parsed = expression(text, &BTreeSet::new(), &names)?;
    value(&parsed, &BTreeMap::new(), parameters).ok_or_else(|| "a parameter of it is no number".to_owned())
}

fn expression(text: &str, metrics: &BTreeSet<&str>, parameters: &BTreeSet<String>) -> Result<Expr, String> {
    let at = |ClaimError { column, what }| format!("column {column} of its text: {what}");
    let parsed = claim::parse_expression(text).map_err(at)?;
    check(&parsed, metrics, parameters).map_err(at)?;
    Ok(parsed)
}

fn check(expr: &Expr, metrics: &BTreeSet<&str>, parameters: &BTreeSet<String>) -> Result<(), ClaimError> {
    let unknown = |name: &claim::Name, what: &str, known: String| {
        let what = format!("no {what} '{}'; there are: {known}", name.text);
        Err(ClaimError { column: name.column, what })
    };
    match expr {
        Expr::Number(_) => Ok(()),
        Expr::Parameter(name) if parameters.contains(&name.text) => Ok(()),
        Expr::Parameter(name) => {
            unknown(name, "parameter", parameters.iter().cloned().collect::<Vec<_>>().join(", "))
        }
        Expr::Own(name) if metrics.contains(name.text.as_str()) => Ok(()),
        Expr::Own(name) => unknown(name, "metric", metrics.iter().copied().collect::<Vec<_>>().join(", ")),
        Expr::Binary(left, _, right) => {
            check(left, metrics, parameters)?;
            check(right, metrics, parameters)
        }
        Expr::Metric(claim::Metric { name, .. }) | Expr::Fold(_, _, name) => Err(ClaimError {
            column: name.column,
            what: "a metric of one trial knows no contender and no axis: name metrics alone".to_owned(),
        }),
    }
}

/// Whether all metrics that an expression uses are such.
fn uses_only(expr: &Expr, is_known: &dyn Fn(&str) -> bool) -> bool {
    match expr {
        Expr::Number(_) | Expr::Parameter(_) => true,
        Expr::Own(name) => is_known(&name.text),
        Expr::Binary(left, _, right) => uses_only(left, is_known) && uses_only(right, is_known),
        Expr::Metric(_) | Expr::Fold(..) => false,
    }
}

fn value(
    expr: &Expr,
    metrics: &BTreeMap<String, f64>,
    parameters: &BTreeMap<String, AxisValue>,
) -> Option<f64> {
    Some(match expr {
        Expr::Number(number) => *number,
        Expr::Parameter(name) => parameters.get(&name.text)?.number()? * scale_of_name(&name.text),
        Expr::Own(name) => metrics.get(&name.text)? * scale_of_name(&name.text),
        Expr::Binary(left, operator, right) => {
            let (left, right) = (value(left, metrics, parameters)?, value(right, metrics, parameters)?);
            operator.apply(left, right)
        }
        Expr::Metric(_) | Expr::Fold(..) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(name: &str, what: &str) -> Result<Derived, String> {
        let declared = [(name.to_owned(), what.to_owned()), ("file_bytes".to_owned(), "worker".to_owned())];
        let parameters = ["records", "delay_ms"].map(str::to_owned).into();
        Derived::parse(&declared.into(), &["elapsed_ms"], &parameters)
            .map_err(|(name, what)| format!("{name}: {what}"))
    }

    fn found(name: &str, what: &str) -> Option<f64> {
        let mut metrics = [("elapsed_ms".to_owned(), 500.0), ("file_bytes".to_owned(), 3000.0)].into();
        let parameters =
            [("records", 1000), ("delay_ms", 10)].map(|(name, n)| (name.to_owned(), AxisValue::Int(n)));
        derived(name, what).unwrap().add(&mut metrics, &parameters.into());
        metrics.get(name).copied()
    }

    #[test]
    fn they_are_given_in_the_unit_at_the_end_of_their_name() {
        let close =
            |name, what, expected: f64| assert!((found(name, what).unwrap() / expected - 1.0).abs() < 1e-12);
        close("rate_per_s", "$records / elapsed_ms", 2000.0);
        close("record_us", "elapsed_ms / $records", 500.0);
        close("efficiency", "(5 + 20) * $delay_ms / elapsed_ms", 0.5);
        close("record_bytes", "file_bytes / $records", 3.0);
        assert_eq!(found("endless", "elapsed_ms / (elapsed_ms - 500 ms)"), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("x", "speed", "x: column 1 of its text: no metric 'speed'; there are: elapsed_ms, file_bytes"),
            ("x", "1 + $n", "no parameter 'n'; there are: delay_ms, records"),
            ("x", "elapsed_ms(a)", "knows no contender"),
            ("x", "1 +", "expected a metric, a number or a $parameter"),
            ("x", "1 < 2", "expected the end"),
            ("elapsed_ms", "worker", "has the metric 'elapsed_ms' already"),
            ("Speed", "worker", "is not a metric's name"),
        ];
        for (name, what, expected) in cases {
            let found = derived(name, what).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn what_follows_from_metrics_of_parts_is_theirs_too() {
        let declared = [("fib", "worker"), ("per_s", "fib / wall_ms"), ("share", "fib / cold_calls")];
        let declared = declared.map(|(name, what)| (name.to_owned(), what.to_owned())).into();
        let derived = Derived::parse(&declared, &["wall_ms", "cold_calls"], &BTreeSet::new()).unwrap();
        assert_eq!(derived.of_parts(&["wall_ms"]).collect::<Vec<_>>(), ["fib", "per_s"]);
    }

    #[test]
    fn of_parameters_alone() {
        let parameters = [("records".to_owned(), AxisValue::Int(1000))].into();
        assert_eq!(of_parameters("$records * 2 kB", &parameters), Ok(2e6));
        assert!(of_parameters("$records * elapsed_ms", &parameters).unwrap_err().contains("no metric"));
    }
}
