//! The machine that a run was executed on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine that a run was executed on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Kernel name and release.
    pub kernel: String,
    /// The distribution's own name for itself.
    pub os: String,
    /// The model of the processor, as the kernel names it; empty where it names none.
    pub cpu: String,
    /// Number of logical CPUs that kumite may use.
    pub cpus: usize,
    /// Groups of those CPUs that share a physical core (only groups of two or more).
    pub smt_siblings: Vec<Vec<usize>>,
    /// Physical memory, in bytes.
    pub memory_bytes: u64,
    /// True if the kernel says that it runs under a hypervisor.
    pub virtual_machine: bool,
    /// The frequency governor, where there is one.
    pub governor: Option<String>,
    /// The CPUs of each role.
    pub cores: Cores,
}

/// The CPUs that the contender and the engine were given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cores {
    /// CPUs of the contender.
    pub contender: Vec<usize>,
    /// CPUs of the load engine.
    pub engine: Vec<usize>,
    /// True if these are on different machines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}
