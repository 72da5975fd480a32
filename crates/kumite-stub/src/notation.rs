//! The notation for a stub's delays, failures and stalls on a command line.

use std::time::Duration;

use jiff::SignedDuration;

/// The longest time that the notation allows.
pub(crate) const LONGEST: Duration = Duration::from_secs(3600);

/// A text that is not in the notation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {what}: {expected}")]
pub struct NotationError {
    /// The text that was given.
    pub text: String,
    /// The name of what the text should be, such as `delay`.
    pub what: &'static str,
    /// The notation that was expected, with examples.
    pub expected: &'static str,
}

/// A time, such as `5ms`, `1.5 s` or `0`; none if it is no time, or above [`LONGEST`].
pub(crate) fn duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let parsed: SignedDuration = text.parse().ok()?;
    Duration::try_from(parsed).ok().filter(|parsed| *parsed <= LONGEST)
}

/// A probability from 0 to 1, such as `0.1`; none if the text is no such number.
pub(crate) fn share(text: &str) -> Option<f64> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share))
}

/// A time in ns. It is less than 2^63, since a stub knows no time above [`LONGEST`] and does not run for centuries.
pub(crate) fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
