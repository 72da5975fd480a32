//! The metrics of `kumite compare` for commands, under the names that hyperfine 2.0 has for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Unit;

/// A metric of a run of a command, by the names of hyperfine 2.0. Less is better of all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandMetric {
    /// Time from the start of the process to its end.
    TimeWallClock,
    /// User and system time together.
    TimeCpu,
    /// CPU time that was spent in the programs themselves.
    TimeUser,
    /// CPU time that the kernel spent on their behalf.
    TimeSystem,
    /// The largest resident set.
    MemoryPeakResident,
}

impl CommandMetric {
    /// All of them.
    pub const ALL: [CommandMetric; 5] = [
        CommandMetric::TimeWallClock,
        CommandMetric::TimeCpu,
        CommandMetric::TimeUser,
        CommandMetric::TimeSystem,
        CommandMetric::MemoryPeakResident,
    ];

    /// The name, as it is typed and written.
    pub fn as_str(self) -> &'static str {
        match self {
            CommandMetric::TimeWallClock => "time_wall_clock",
            CommandMetric::TimeCpu => "time_cpu",
            CommandMetric::TimeUser => "time_user",
            CommandMetric::TimeSystem => "time_system",
            CommandMetric::MemoryPeakResident => "memory_peak_resident",
        }
    }

    /// Its unit, from which follows that less is better.
    pub fn unit(self) -> Unit {
        match self {
            CommandMetric::MemoryPeakResident => Unit::Bytes,
            CommandMetric::TimeWallClock
            | CommandMetric::TimeCpu
            | CommandMetric::TimeUser
            | CommandMetric::TimeSystem => Unit::Seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Better;

    #[test]
    fn a_metric_is_written_as_it_is_typed_and_less_of_it_is_better() {
        for metric in CommandMetric::ALL {
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.as_str());
            assert_eq!(metric.unit().better(), Some(Better::Lower));
        }
    }
}
