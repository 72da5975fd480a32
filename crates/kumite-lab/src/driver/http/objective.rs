//! The objective under which the capacity of a server is drawn, and the time that a draw takes.

use std::time::Duration;

use kumite_rate::Slo;

use crate::parameter::Params;
use crate::unfit::Unfit;

/// The longest time of a draw. No load is begun that would likely end later.
pub(super) const LONGEST: Duration = Duration::from_secs(20);
/// The shortest time of a draw: a few loads that all go as guessed.
pub(super) const SHORTEST: Duration = Duration::from_secs(5);

/// Reads the objective. None if there is none; an error if it cannot be read, or cannot be judged within the time-out.
pub(super) fn read(take: &Params, timeout: Duration) -> Result<Option<Slo>, Unfit> {
    let text = take.text("objective")?;
    if text.is_empty() {
        return Ok(None);
    }
    let slo = Slo::parse(text).map_err(|error| Unfit::new(format!("objective: {error}")))?;
    match slo.longest().filter(|longest| *longest >= timeout) {
        Some(longest) => Err(Unfit::new(format!(
            "objective allows {longest:?}, and timeout_ms is {}: raise it above that, for what is not answered by then may \
             take any time",
            timeout.as_millis()
        ))),
        None => Ok(Some(slo)),
    }
}
