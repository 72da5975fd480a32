//! Warnings: doubts about a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A doubt about a run or a comparison, or a part of it, which reports show with the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// The subject of the doubt: for example a contender, a cell or the machine.
    #[serde(rename = "where")]
    pub place: String,
    /// The doubt, in a sentence.
    pub what: String,
}
