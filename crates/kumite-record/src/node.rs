//! A machine of several.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Machine;

/// A machine that trials were executed on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Unique among those of a run.
    pub name: String,
    /// Its hardware and kernel, as it said itself.
    pub machine: Machine,
}
