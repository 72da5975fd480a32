//! The marks of a trial, and the words for each, which every report takes from here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Word;

/// A doubt about a trial's figures. A verdict that rests on marked trials says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The load engine had no CPU headroom: the figure is a bound on the contender, not a measure of it.
    GeneratorBound,
    /// Contender and kumite itself, such as its load engine, ran on the same CPUs.
    SharedCores,
    /// Throughput times mean response time is less than the number of connections (Little's law): some connections
    /// waited for failures, or had nothing to do, while the others had the server for themselves.
    IdleConnections,
    /// The figures are not those of a steady state. Throughput changed until too near the window's end; or throughput
    /// times mean response time is more than the number of connections, because response times fell during the time
    /// that the figures cover; or a warm-up that was to become steady reached its limit.
    Unsteady,
    /// Answers were not steady again when watching ended, so that `recovery_ms` is a lower bound.
    NotRecovered,
    /// The recorder was not looking when a player's states came: they may have come earlier than it saw them, by more
    /// than a tenth of the error that is reported, and by more than 10 µs.
    RecorderLate,
    /// The hypervisor took CPU time from this machine.
    Stolen,
    /// The worker's own times are shorter than kumite's clock says, by more than 5 % and the cost of the pipe.
    TimesDisagree,
    /// The machine did not let kumite limit the function's CPU share or its memory: the figures are those of a whole
    /// core.
    NotThrottled,
    /// The machine did not let kumite count the function's memory: `max_memory_bytes` is the most that was seen, a
    /// lower bound.
    MemoryUncounted,
    /// Processes that are not of this trial used its CPUs.
    OtherProcesses,
    /// The time of day was set, the machine slept, or the clock was made to run faster or slower.
    ClockJumped,
    /// CPUs were slowed down because they were hot, or the CPU limit of a cgroup stopped all of kumite for a time.
    Throttled,
    /// A CPU that worked was faster or slower at the trial's end than at its beginning.
    FrequencyChanged,
    /// Before the trial, a loop, a wake-up, a load from memory or a fresh page cost more than on the calm machine of
    /// the self-check.
    MachineChanged,
    /// A mark that a later kumite set. It is shown and decides nothing.
    #[serde(untagged)]
    #[schemars(skip)]
    Other(Word),
}

impl Mark {
    /// All marks that this kumite knows, in the order in which reports list them.
    pub const ALL: [Mark; 15] = [
        Mark::GeneratorBound,
        Mark::SharedCores,
        Mark::IdleConnections,
        Mark::Unsteady,
        Mark::NotRecovered,
        Mark::TimesDisagree,
        Mark::NotThrottled,
        Mark::MemoryUncounted,
        Mark::RecorderLate,
        Mark::Stolen,
        Mark::OtherProcesses,
        Mark::ClockJumped,
        Mark::Throttled,
        Mark::FrequencyChanged,
        Mark::MachineChanged,
    ];

    /// True for noise from outside, which another trial of the same cell may not have. False for a mark that this
    /// kumite does not know.
    pub fn is_outside(self) -> bool {
        match self {
            Mark::RecorderLate
            | Mark::Stolen
            | Mark::OtherProcesses
            | Mark::ClockJumped
            | Mark::Throttled
            | Mark::FrequencyChanged
            | Mark::MachineChanged => true,
            Mark::GeneratorBound
            | Mark::SharedCores
            | Mark::IdleConnections
            | Mark::Unsteady
            | Mark::NotRecovered
            | Mark::TimesDisagree
            | Mark::NotThrottled
            | Mark::MemoryUncounted
            | Mark::Other(_) => false,
        }
    }

    /// The word for the mark in files and reports: `generator-bound`. For a mark of a later kumite, the word as it was
    /// read.
    pub fn as_str(self) -> &'static str {
        self.text().name
    }

    /// The predicate of a sentence whose subject is this number of trials: `were disturbed by other processes`.
    pub fn predicate(self, trials: usize) -> String {
        let MarkText { verb, rest, .. } = self.text();
        let verb = if verb == "were" && trials == 1 { "was" } else { verb };
        format!("{verb} {rest}")
    }

    /// The predicate of a warning whose subject is several trials of a cell. It tells what the mark means for their
    /// figures.
    pub fn warning(self) -> &'static str {
        self.text().warning
    }

    fn text(self) -> MarkText {
        let (name, verb, rest, warning) = match self {
            Mark::GeneratorBound => (
                "generator-bound",
                "left",
                "the load engine no room",
                "are generator-bound: the load engine had no headroom, so the server may be faster than this",
            ),
            Mark::SharedCores => (
                "shared-cores",
                "shared",
                "their CPUs with kumite",
                "have kumite itself on the contender's CPUs",
            ),
            Mark::IdleConnections => (
                "idle-connections",
                "had",
                "connections that waited for nothing",
                "have idle connections: throughput × mean response time is less than their number, so what is compared is fewer connections, or others wait for failures",
            ),
            Mark::Unsteady => (
                "unsteady",
                "were",
                "not steady",
                "are unsteady: throughput changed until too near the end of the window, so that the figures are of all of it; or times fell within what they are of (throughput × mean response time is more than the connections), as those of a program do that is still being compiled; or a warm-up reached warm_up_limit_s without a steady state",
            ),
            Mark::NotRecovered => (
                "not-recovered",
                "had",
                "not recovered at the end",
                "had not recovered when watching ended: recovery_ms is a lower bound",
            ),
            Mark::TimesDisagree => (
                "times-disagree",
                "told",
                "times that kumite's clock does not confirm",
                "disagree about time: the worker's own is less than kumite's clock says, by more than 5 % and the pipe's own cost",
            ),
            Mark::NotThrottled => (
                "not-throttled",
                "ran",
                "without their limits",
                "are not throttled: the machine did not let kumite limit their CPU share or their memory, and the figures are those of a whole core",
            ),
            Mark::MemoryUncounted => (
                "memory-uncounted",
                "had",
                "more memory than was seen, perhaps",
                "have their memory looked at and not counted, for want of a control group: max_memory_bytes is a lower bound",
            ),
            Mark::RecorderLate => (
                "recorder-late",
                "were",
                "recorded late",
                "have a recorder that was not looking when states came (unseen_p99_us in their noise): they may have come earlier than it saw them",
            ),
            Mark::Stolen => (
                "stolen",
                "lost",
                "CPU time to the hypervisor",
                "had CPU time taken from them by the hypervisor (stolen_cores in their noise)",
            ),
            Mark::OtherProcesses => (
                "other-processes",
                "were",
                "disturbed by other processes",
                "had other processes on their CPUs (others_cpu_cores in their noise): the contender looks slower than it is",
            ),
            Mark::ClockJumped => (
                "clock-jumped",
                "saw",
                "the clock jump",
                "had the clock set, slept, or made to run at another rate: their times are not to be trusted",
            ),
            Mark::Throttled => (
                "throttled",
                "were",
                "slowed down from outside",
                "were slowed down, by a CPU's heat or by a cgroup's CPU limit",
            ),
            Mark::FrequencyChanged => (
                "frequency-changed",
                "saw",
                "a CPU change its speed",
                "had a busy CPU change its frequency: beginning and end were not measured alike",
            ),
            Mark::MachineChanged => (
                "machine-changed",
                "began",
                "on a machine that charged more than when it is calm",
                "began when the machine charged more than it does when it is calm, for a loop, a wake-up, a load or a page (probe_* in their metrics): what is compared may be the machine",
            ),
            Mark::Other(word) => (word.as_str(), "were", word.as_str(), word.as_str()),
        };
        MarkText { name, verb, rest, warning }
    }
}

/// The words of a mark.
struct MarkText {
    name: &'static str,
    /// The verb in the past tense, plural: `were`.
    verb: &'static str,
    rest: &'static str,
    warning: &'static str,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn a_mark_agrees_in_number_with_its_trials() {
        assert_eq!(Mark::OtherProcesses.predicate(1), "was disturbed by other processes");
        assert_eq!(Mark::OtherProcesses.predicate(2), "were disturbed by other processes");
        assert_eq!(Mark::GeneratorBound.predicate(1), "left the load engine no room");
    }

    #[test]
    fn a_marks_name_is_its_word_in_files() {
        for mark in Mark::ALL {
            assert_eq!(serde_json::to_value(mark).expect("a word"), mark.as_str());
        }
    }

    #[test]
    fn every_mark_is_listed_but_those_of_a_later_kumite() {
        fn words(schema: &Value) -> Vec<String> {
            match schema {
                Value::Object(object) => {
                    let own = object.get("const").and_then(Value::as_str).map(str::to_owned);
                    own.into_iter().chain(object.values().flat_map(words)).collect()
                }
                Value::Array(array) => array.iter().flat_map(words).collect(),
                _ => Vec::new(),
            }
        }
        let of_schema: BTreeSet<String> =
            words(&schemars::schema_for!(Mark).to_value()).into_iter().collect();
        assert_eq!(BTreeSet::from(Mark::ALL.map(|mark| mark.as_str().to_owned())), of_schema);
    }
}
