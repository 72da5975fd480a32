//! The metrics of `kumite compare` for commands, under the names that hyperfine 2.0 has for them.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Unit, there_are};

/// The error for a text that is no metric's name. It suggests a name that is near, and lists the names that there are.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no metric '{0}'{known}", known = there_are(.0, &CommandMetric::ALL.map(CommandMetric::short)))]
pub struct NoCommandMetric(String);

/// A metric of a run of a command, under the name that hyperfine 2.0 has for it. Smaller values are better for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandMetric {
    /// Time from the start of the process to its end, in seconds.
    TimeWallClock,
    /// User and system time together, in seconds.
    TimeCpu,
    /// CPU time that was spent in the programs themselves, in seconds.
    TimeUser,
    /// CPU time that the kernel spent on the programs' behalf, in seconds.
    TimeSystem,
    /// The largest resident set of any one process, in bytes.
    MemoryPeakResident,
    /// Cycles of the processor in user mode.
    CpuCycles,
    /// Instructions that the processor completed in user mode.
    Instructions,
    /// Accesses to the last cache in user mode, as far as the processor tells.
    CacheReferences,
    /// Accesses to memory in user mode that the last cache did not have.
    CacheMisses,
    /// Branches in user mode that the processor predicted wrong.
    BranchMisses,
    /// Pages that were not there when they were accessed in user mode. The kernel counts them.
    PageFaults,
}

impl CommandMetric {
    /// All metrics of commands.
    pub const ALL: [CommandMetric; 11] = [
        CommandMetric::TimeWallClock,
        CommandMetric::TimeCpu,
        CommandMetric::TimeUser,
        CommandMetric::TimeSystem,
        CommandMetric::MemoryPeakResident,
        CommandMetric::CpuCycles,
        CommandMetric::Instructions,
        CommandMetric::CacheReferences,
        CommandMetric::CacheMisses,
        CommandMetric::BranchMisses,
        CommandMetric::PageFaults,
    ];

    /// The metric's name, as it is typed and written.
    pub fn as_str(self) -> &'static str {
        match self {
            CommandMetric::TimeWallClock => "time_wall_clock",
            CommandMetric::TimeCpu => "time_cpu",
            CommandMetric::TimeUser => "time_user",
            CommandMetric::TimeSystem => "time_system",
            CommandMetric::MemoryPeakResident => "memory_peak_resident",
            CommandMetric::CpuCycles => "cpu_cycles",
            CommandMetric::Instructions => "instructions",
            CommandMetric::CacheReferences => "cache_references",
            CommandMetric::CacheMisses => "cache_misses",
            CommandMetric::BranchMisses => "branch_misses",
            CommandMetric::PageFaults => "page_faults",
        }
    }

    /// The metric's short name: in heads of CSV columns, and as `--gate-on` takes it.
    pub fn short(self) -> &'static str {
        match self {
            CommandMetric::TimeWallClock => "wall",
            CommandMetric::TimeCpu => "cpu",
            CommandMetric::TimeUser => "user",
            CommandMetric::TimeSystem => "system",
            CommandMetric::MemoryPeakResident => "memory",
            _ => self.as_str(),
        }
    }

    /// The metric's unit.
    pub fn unit(self) -> Unit {
        match self {
            CommandMetric::MemoryPeakResident => Unit::Bytes,
            CommandMetric::TimeWallClock
            | CommandMetric::TimeCpu
            | CommandMetric::TimeUser
            | CommandMetric::TimeSystem => Unit::Seconds,
            CommandMetric::CpuCycles
            | CommandMetric::Instructions
            | CommandMetric::CacheReferences
            | CommandMetric::CacheMisses
            | CommandMetric::BranchMisses
            | CommandMetric::PageFaults => Unit::Count,
        }
    }
}

/// From a metric's name, or its short name.
impl FromStr for CommandMetric {
    type Err = NoCommandMetric;

    fn from_str(text: &str) -> Result<CommandMetric, NoCommandMetric> {
        let of = |metric: &CommandMetric| [metric.as_str(), metric.short()].contains(&text);
        CommandMetric::ALL.into_iter().find(of).ok_or_else(|| NoCommandMetric(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_written_as_it_is_typed() {
        for metric in CommandMetric::ALL {
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.as_str());
            for name in [metric.as_str(), metric.short()] {
                assert_eq!(name.parse(), Ok(metric));
            }
        }
    }
}
