//! The estimated further effort until a verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The estimated further effort until a verdict, if the blocks to come are like those so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remaining {
    /// The number of further blocks that would likely decide.
    pub blocks: usize,
    /// The further time in seconds, if blocks go on to take as long.
    pub seconds: f64,
}
