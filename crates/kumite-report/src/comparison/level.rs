//! The level of verdicts, in words.

use crate::words::number::significant;

/// The words of a level for this number of verdicts, which share the probability of error `alpha`.
pub(super) fn level_of(alpha: f64, verdicts: usize) -> String {
    let simultaneous = if verdicts > 1 { "simultaneous " } else { "" };
    format!("{simultaneous}{}", percent(1.0 - alpha))
}

pub(super) fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}
