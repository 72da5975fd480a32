//! The output of a trial, as a digest and a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The output that all runs of a trial wrote, and that no check of it alone found wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// The BLAKE3 digest of the output, in hexadecimal.
    pub digest: String,
    /// The path of the file that has the output: the trial's own, or that of an earlier trial at the point that wrote
    /// the same.
    pub file: String,
}
