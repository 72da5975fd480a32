//! Metrics that an experiment declares in its table `[metrics]`.

use std::collections::BTreeMap;

use kumite_judge::{Declared, MetricError};
use kumite_record::{Better, Metric, Unit};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// The `value` of a metric that comes with the answers of a worker or a function, or with a command's output.
const WORKER: &str = "worker";

/// A metric of an experiment's own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { value = \"worker\", about = \"…\" }")]
#[schemars(rename = "Metric")]
pub(crate) struct OwnMetric {
    /// `worker` if the metric comes with a worker's answers, or is a member of a function's answer or of the last
    /// line of a command's output; else an expression over metrics of the same trial and `$parameters`.
    value: String,
    /// The meaning of the metric, in a sentence.
    about: String,
    /// The better end of the metric's values; if it is not given, smaller times and bytes and larger rates are
    /// better.
    better: Option<Better>,
    /// The unit, if the end of the name does not say it: `count`, `ratio`, or nothing for a plain number.
    unit: Option<Unit>,
    /// True if the metric is left out of the main table.
    #[serde(default)]
    detail: bool,
}

/// The declared metrics, in the order of the file. An error comes with the name of the metric.
pub(crate) fn declared(
    file: &BTreeMap<Spanned<String>, OwnMetric>,
) -> Result<Vec<Declared>, (String, MetricError)> {
    let mut own: Vec<_> = file.iter().collect();
    own.sort_by_key(|(name, _)| name.span().start);
    own.into_iter().map(|(name, own)| one(name.get_ref(), own)).collect()
}

fn one(name: &str, own: &OwnMetric) -> Result<Declared, (String, MetricError)> {
    let mut metric = Metric::new(name, &own.about);
    metric.is_detail = own.detail;
    match (own.unit, Unit::of_name(name)) {
        (Some(unit), Some(named)) if unit != named => {
            return Err((name.to_owned(), MetricError::Unit { unit, named }));
        }
        (Some(unit), None) if !unit.symbol().is_empty() => {
            return Err((name.to_owned(), MetricError::UnitUnsaid(unit)));
        }
        _ => {}
    }
    metric.unit = own.unit.unwrap_or(metric.unit);
    metric.better = own.better.or(metric.better);
    let value = (own.value != WORKER).then(|| own.value.clone());
    Ok(Declared { metric, value })
}
