//! One state that a player acted out, and how far off it came.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A state that a player acted out, as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrival {
    /// When it was due, from the start of the play.
    pub due_ms: f64,
    /// By how much it came later than that; below 0 if it was early.
    pub error_us: f64,
}
