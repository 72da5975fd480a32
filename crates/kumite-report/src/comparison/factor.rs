//! A ratio as it is shown.

use crate::words::number::significant;

/// A ratio to a thousandth: with fewer decimals, a difference of a thousandth would look like none. A ratio that
/// would look like 1 and is not gets up to six decimals; one from 10 on gets four digits.
pub(super) fn factor(value: f64) -> String {
    if value >= 10.0 {
        return significant(value, 4);
    }
    let text = |decimals: usize| format!("{value:.decimals$}");
    let is_one = |text: &str| text.parse() == Ok(1.0);
    (3..6).map(text).find(|text| value == 1.0 || !is_one(text)).unwrap_or_else(|| text(6))
}
