//! Durations as people type them: `10s`, `500ms`, `1m 30s`.

use std::time::Duration;

use jiff::SignedDuration;

/// For clap.
pub fn parse(text: &str) -> Result<Duration, String> {
    let parsed: SignedDuration =
        text.parse().map_err(|_| "expected a duration such as 10s, 500ms or 2m".to_owned())?;
    let duration = Duration::try_from(parsed).map_err(|_| "a duration cannot be negative".to_owned())?;
    if duration.is_zero() {
        return Err("a duration cannot be zero".to_owned());
    }
    Ok(duration)
}
