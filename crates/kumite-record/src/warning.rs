//! Doubts about a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A doubt that travels with the numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// The thing that is doubtful: a contender, a cell, the machine.
    #[serde(rename = "where")]
    pub place: String,
    /// The doubt, in a sentence.
    pub what: String,
}
