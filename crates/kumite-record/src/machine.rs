//! The machine that a run was executed on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine that a run was executed on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Kernel name and release.
    pub kernel: String,
    /// The name of the distribution, as it calls itself; empty if it is not known.
    pub os: String,
    /// The model of the processor, as the kernel names it; empty where it names none.
    pub cpu: String,
    /// The number of logical CPUs that kumite may use.
    pub cpus: usize,
    /// The groups of two or more CPUs that share a physical core, by their numbers. Each has at least one CPU that
    /// kumite may use.
    pub smt_siblings: Vec<Vec<usize>>,
    /// Physical memory, in bytes; 0 if the kernel does not tell.
    pub memory_bytes: u64,
    /// True if the kernel says that the machine is a virtual one.
    pub virtual_machine: bool,
    /// The frequency governor of CPU 0. None if the kernel names none.
    pub governor: Option<String>,
    /// The CPUs that the contender and the load engine were given.
    pub cores: Cores,
}

/// The CPUs that the contender and the load engine were given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cores {
    /// The kernel's numbers of the contender's CPUs.
    pub contender: Vec<usize>,
    /// The kernel's numbers of the load engine's CPUs.
    pub engine: Vec<usize>,
    /// True if contender and load engine are on different machines, so that equal numbers are different CPUs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}
