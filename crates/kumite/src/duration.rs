//! Durations as people type them: `10s`, `500ms`, `1m 30s`.

use std::time::Duration;

use jiff::SignedDuration;

/// Parses a duration above zero. The error is a message for clap.
pub fn parse(text: &str) -> Result<Duration, &'static str> {
    let parsed: SignedDuration = text.parse().map_err(|_| "expected a duration such as 10s, 500ms or 2m")?;
    let duration = Duration::try_from(parsed).map_err(|_| "a duration cannot be negative")?;
    if duration.is_zero() {
        return Err("a duration cannot be zero");
    }
    Ok(duration)
}
