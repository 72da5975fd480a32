//! How a stub is told what to do, in words short enough for a command line.

use std::time::Duration;

use jiff::SignedDuration;

/// The longest time that a stub can be told.
pub(crate) const LONGEST: Duration = Duration::from_secs(3600);

/// Words that do not say what a stub should do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {what}: {expected}")]
pub struct NotationError {
    /// The text that was given.
    pub text: String,
    /// The name of what it should be.
    pub what: &'static str,
    /// How that is written, with examples.
    pub expected: &'static str,
}

/// `5ms`, `1.5 s`, `0`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let parsed: SignedDuration = text.parse().ok()?;
    Duration::try_from(parsed).ok().filter(|parsed| *parsed <= LONGEST)
}

/// A probability, such as `0.1`.
pub(crate) fn share(text: &str) -> Option<f64> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share))
}

/// In ns; less than 2^63, for a stub knows no time that is longer than [`LONGEST`], nor runs for centuries.
pub(crate) fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
