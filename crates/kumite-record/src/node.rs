//! A node: one of several machines that trials of a run were executed on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Machine;

/// A machine that trials were executed on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// The node's name, unique within a run.
    pub name: String,
    /// The node's hardware and kernel, by its own account.
    pub machine: Machine,
}
