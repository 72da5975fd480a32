//! The level of verdicts, in words.

use kumite_record::{Comparison, ComparisonGate};

use crate::words::number::significant;

/// The words of a level for this number of verdicts, which share the probability of error `alpha`.
pub(super) fn level_of(alpha: f64, verdicts: usize) -> String {
    let simultaneous = if verdicts > 1 { "simultaneous " } else { "" };
    format!("{simultaneous}{}", percent(1.0 - alpha))
}

pub(super) fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}

/// The level of a gate's answer; none in a record that does not have it.
pub(super) fn gate_level(comparison: &Comparison) -> Option<String> {
    let ComparisonGate { alpha, on, by_counts, by_failures, .. } = comparison.gate?;
    let metrics = match (by_counts, on) {
        (true, _) => 0,
        (_, Some(_)) => 1,
        _ => comparison.metrics.len().max(1),
    };
    let questions = metrics + usize::from(by_failures);
    Some(level_of(alpha?, comparison.pairs.len() * questions))
}
