//! The output of a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The output of all runs of a trial, which nothing else calls wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// The BLAKE3 digest of it.
    pub digest: String,
    /// The file that has it.
    pub file: String,
}
