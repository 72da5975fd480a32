//! An estimate as text, in its own unit.

use kumite_record::{Estimate, Unit};

use crate::words::quantity::Measured;

pub(super) fn plain(unit: Unit, estimate: &Option<Estimate>) -> String {
    estimate.as_ref().map_or("–".to_owned(), |estimate| unit.text(estimate.estimate))
}

/// `18.71 ms [18.69–18.78]`; the value alone without an interval, and `–` without an estimate.
pub(super) fn bounded(unit: Unit, estimate: &Option<Estimate>) -> String {
    let Some(estimate) = estimate else { return "–".to_owned() };
    let (value, interval) = unit.estimate(estimate);
    match (interval, estimate.low.zip(estimate.high)) {
        (Some(interval), Some(_)) => format!("{value} [{interval}]"),
        _ => value,
    }
}
