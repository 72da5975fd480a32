//! The estimated way to a verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// About what it would take to reach a verdict, if it went on like this.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remaining {
    /// The number of blocks, beside those there are, that would likely decide.
    pub blocks: usize,
    /// Further time in seconds, if blocks go on to take as long.
    pub seconds: f64,
}
