//! The steadiness of trials, in words.

use kumite_record::{Cell, Steadiness, SteadyClass, Unit};

use crate::record::Record;
use crate::words::number::count;
use crate::words::quantity::Measured;

/// The text in place of a figure that has too few values, such as requests: how many more a trial needs.
pub fn needs(missing: u64) -> String {
    format!("needs {} more", count(missing as f64))
}

/// The steadiness of a cell, such as `warm-up 420 ms`; and the numbers of trials in each class if they differ. None if
/// the cell's steadiness is not known.
pub fn of_cell(record: &Record, cell: &Cell) -> Option<(String, Option<String>)> {
    let steadiness = cell.steadiness.as_ref()?;
    let warm_up = record.metric("warm-up").and_then(|metric| cell.metrics.get(&metric.name));
    let warm_up = warm_up.map(|warm_up| warm_up.estimate);
    let counts = steadiness.trials.iter().map(|(class, count)| format!("{count} {class}"));
    let text = match (steadiness.class, warm_up) {
        (class @ (SteadyClass::WarmUp | SteadyClass::Slowdown), Some(ms)) => {
            format!("{class} {}", time(ms))
        }
        (SteadyClass::NoSteadyState, _) => "never steady".to_owned(),
        (class, _) => class.to_string(),
    };
    let is_several = steadiness.class == SteadyClass::Inconsistent;
    Some((text, is_several.then(|| counts.collect::<Vec<_>>().join(", "))))
}

/// The steadiness of a trial: `flat`, or `warm-up, steady from 420 ms of the load on`.
pub fn of_trial(steadiness: &Steadiness, warm_up_ms: Option<f64>) -> String {
    match (steadiness.class, warm_up_ms) {
        (class @ (SteadyClass::WarmUp | SteadyClass::Slowdown), Some(ms)) => {
            format!("{class}, steady from {} of the load on", time(ms))
        }
        (class, _) => class.to_string(),
    }
}

/// A time in full digits: it was measured in whole tenths of a second.
fn time(ms: f64) -> String {
    Unit::Milliseconds.as_given(ms)
}
