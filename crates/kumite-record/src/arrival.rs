//! The arrival of one state that a player played, and its error.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arrival of a state that a player played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrival {
    /// The time at which the state was due, in milliseconds from the start of the play.
    pub due_ms: f64,
    /// The time by which the state came late, in microseconds; below 0 if it came early.
    pub error_us: f64,
}
