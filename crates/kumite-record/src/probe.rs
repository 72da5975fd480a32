//! The probes of the machine before a trial: their names, units and words.
//!
//! Their figures stand among those of the trial, and are declared alike for all kinds of workload. They describe the
//! machine and not the contender: no claim may name one, and no cell has an estimate of one.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Metric;

/// A probe of the machine before a trial: it measures the time that one kind of work takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// The time of an iteration in a fixed loop of integer arithmetic.
    Loop,
    /// The time that a thread takes to wake another.
    WakeUp,
    /// The time of a load that waits for memory.
    Chase,
    /// The time to touch a page of memory for the first time.
    Page,
}

impl Probe {
    /// All probes, in the order in which they are shown.
    pub const ALL: [Probe; 4] = [Probe::WakeUp, Probe::Loop, Probe::Chase, Probe::Page];

    /// The name of the probe's figure, which ends with its unit.
    pub fn name(self) -> &'static str {
        match self {
            Probe::Loop => "probe_loop_ns",
            Probe::WakeUp => "probe_wake_up_us",
            Probe::Chase => "probe_chase_ns",
            Probe::Page => "probe_page_us",
        }
    }

    /// The probe whose figure has this name. None if no probe's figure has this name.
    pub fn of_name(name: &str) -> Option<Probe> {
        Probe::ALL.into_iter().find(|probe| probe.name() == name)
    }

    /// The declaration of the probe's figure as a metric. Neither high nor low values are better, because they are not
    /// the contender's doing.
    pub fn metric(self) -> Metric {
        let about = match self {
            Probe::Loop => "An iteration of a fixed loop of integer arithmetic.",
            Probe::WakeUp => {
                "Waking a thread by another (futex), on another CPU if the trial has two: the median, half of a round trip."
            }
            Probe::Chase => {
                "A load that depends on the one before it, from 64 MiB in random order: the median."
            }
            Probe::Page => "Touching a page of memory for the first time: the median.",
        };
        Metric::new(self.name(), about).better(None).detail()
    }

    /// The probe's figure among the figures of a trial, in the unit that the probe's name ends in. None if it is not
    /// there.
    pub fn of(self, figures: &BTreeMap<String, f64>) -> Option<f64> {
        figures.get(self.name()).copied()
    }
}

/// Writes the plural of the work that is probed: `wake-ups`.
impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Probe::Loop => "integer loops",
            Probe::WakeUp => "wake-ups",
            Probe::Chase => "loads from memory",
            Probe::Page => "fresh pages",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    #[test]
    fn a_probe_is_known_by_its_name_which_says_its_unit() {
        for probe in Probe::ALL {
            assert_eq!(Probe::of_name(probe.name()), Some(probe));
            assert!(matches!(probe.metric().unit, Unit::Nanoseconds | Unit::Microseconds), "{probe:?}");
            assert_eq!((probe.metric().better, probe.metric().is_detail), (None, true));
        }
        assert_eq!(Probe::of_name("wake_up_us"), None);
    }
}
