//! What is missing to a verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// About what it would take to reach a verdict, if it went on like this.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remaining {
    /// That many more blocks.
    pub blocks: usize,
    /// That much more time.
    pub seconds: f64,
}
