//! Durations as people type them: `10s`, `500ms`, `1m 30s`.

use std::time::Duration;

use jiff::SignedDuration;

/// The longest duration that can be given. Added to any instant, it gives an instant that a clock can tell.
const LONGEST: Duration = Duration::from_secs(1_000 * 86_400);

/// Parses a duration above zero. The error is a message for clap.
pub fn parse(text: &str) -> Result<Duration, &'static str> {
    let parsed: SignedDuration = text.parse().map_err(|_| "expected a duration such as 10s, 500ms or 2m")?;
    let duration = Duration::try_from(parsed).map_err(|_| "a duration cannot be negative")?;
    if duration.is_zero() {
        return Err("a duration cannot be zero");
    }
    if duration > LONGEST {
        return Err("a duration is at most 24000h");
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_clock_could_tell_is_refused() {
        assert_eq!(parse("24000h"), Ok(LONGEST));
        for wrong in
            ["24001h", "2562047788015215h", "9223372036854775807s", "99999999999999999999s", "-1s", "0s"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
