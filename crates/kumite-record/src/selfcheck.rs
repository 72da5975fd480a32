//! The document of `kumite selfcheck`: how far kumite can be trusted on a machine.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Machine, Mark, Probe, Ratio};

/// The result of one `kumite selfcheck`. A part is absent if there was too little time or no second CPU for it, or if
/// the check was interrupted before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfCheck {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command line that repeats the check.
    pub command: String,
    /// The version of kumite that checked itself.
    pub kumite: String,
    /// The time at which the check began.
    pub started: Timestamp,
    /// The time that the check took, in seconds.
    pub seconds: f64,
    /// The seed of orders and of resampling. The same seed repeats both.
    pub seed: u64,
    /// True if the check was interrupted. Then it is not kept.
    pub cut_short: bool,
    /// The machine that was checked.
    pub machine: Machine,
    /// A command compared with itself. None if it was not measured.
    pub commands: Option<SameTwice>,
    /// An HTTP server compared with itself. None if it was not measured.
    pub server: Option<SameTwice>,
    /// The clock's resolution, cost and drift. None if the check was interrupted before the CPUs were checked, or if
    /// the system names no CPU.
    pub clock: Option<ClockCheck>,
    /// The CPUs that kumite may use, the first 16 at most. Empty if the check was interrupted before they were
    /// checked.
    pub cpus: Vec<CpuCheck>,
    /// The times that the probes before a trial take on the calm machine, by probe. Empty if there was too little time,
    /// if a probe failed, or if the check was interrupted before their end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probes: BTreeMap<Probe, CalmProbe>,
    /// The load engine compared with servers that count what they do, a check for each server. Empty if none was made.
    pub engine: Vec<EngineCheck>,
    /// The gain from running two commands at once. None if kumite may use one CPU alone, if no round had a gain that
    /// could be told, or if the check was interrupted before the end of this part.
    pub duet: Option<DuetCheck>,
    /// The things that are worse than promised; empty if all is as it should be.
    pub problems: Vec<Problem>,
}

/// Comparisons of something with itself (A/A), and the smallest difference that such comparisons can find.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SameTwice {
    /// The command or server that was compared with itself.
    pub what: String,
    /// The number of comparisons.
    pub comparisons: usize,
    /// The largest number of pairs that a comparison was allowed.
    pub most_pairs: usize,
    /// The number of pairs in all comparisons together.
    pub pairs: usize,
    /// The mean time from the beginning of a pair to that of the next, in seconds.
    pub seconds_per_pair: f64,
    /// The number of false verdicts, for each metric in which any comparison had a verdict.
    pub false_verdicts: Vec<FalseVerdicts>,
    /// The smallest difference that a comparison of one minute would find. None if there are too few pairs to tell.
    pub smallest: Option<SmallestDifference>,
}

/// The number of comparisons in which a thing was said to differ from itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FalseVerdicts {
    /// The metric: `wall time`, `CPU time`, `memory` or `throughput`.
    pub metric: String,
    /// The number of comparisons that gave a false verdict.
    pub false_verdicts: usize,
    /// The number of comparisons that could have given a false verdict.
    pub comparisons: usize,
    /// `false_verdicts` / `comparisons`, from 0 to 1.
    pub share: f64,
    /// The lower end of the exact 95 % interval of `share` (Clopper and Pearson).
    pub low: f64,
    /// The upper end of the exact 95 % interval of `share` (Clopper and Pearson).
    pub high: f64,
    /// The largest share that was promised, from 0 to 1.
    pub promised: f64,
}

/// The smallest difference that nine of ten comparisons of one minute would find, extrapolated by resampling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SmallestDifference {
    /// The smallest difference, in percent.
    pub percent: f64,
    /// Half the width of the confidence sequence of a comparison of one minute, in percent: the median over the
    /// resampled comparisons.
    pub half_width_percent: f64,
    /// The number of measured pairs, which are resampled.
    pub from_pairs: usize,
    /// The number of pairs that are measured in a minute, counted up to 20,000.
    pub pairs_a_minute: usize,
}

/// The clock that all times are differences of: its resolution, its cost and its drift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockCheck {
    /// The time that one reading takes, in nanoseconds.
    pub cost_ns: f64,
    /// The smallest step between two readings, in nanoseconds.
    pub resolution_ns: f64,
    /// The time that the time of day gained on the monotonic clock during the check, in microseconds; below 0 if it
    /// fell behind.
    pub realtime_ahead_us: f64,
    /// The time over which `realtime_ahead_us` was gained, in seconds.
    pub over_s: f64,
}

/// A CPU, and how much of it a thread that is bound to it gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuCheck {
    /// The kernel's number of the CPU.
    pub cpu: usize,
    /// The number of times that a thread bound to the CPU asked which CPU it ran on.
    pub looks: u64,
    /// The number of `looks` at which the thread ran on another CPU than the one that it was bound to.
    pub elsewhere: u64,
    /// The longest time that the thread was held up while it only read the clock, in microseconds.
    pub worst_gap_us: f64,
    /// The share of time in which the thread was held up for 5 µs or more, in percent.
    pub held_up_percent: f64,
    /// The time in which the thread was watched for being held up, in milliseconds.
    pub looked_ms: f64,
    /// The time of the same work on this CPU over that on the first CPU, measured in turn. None for the first CPU,
    /// and if there were too few rounds.
    pub slower: Option<Ratio>,
    /// The median difference between neighbouring rounds on this CPU, in percent. None if there were too few rounds.
    pub scatter_percent: Option<f64>,
    /// The number of rounds of the work that `slower` compares.
    pub rounds: usize,
}

/// The figures of one probe, taken over and over on the calm machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalmProbe {
    /// The number of times that the probe was taken.
    pub probes: usize,
    /// The median of the figures, in the unit of the probe.
    pub median: f64,
    /// The largest of the figures, in the unit of the probe.
    pub most: f64,
}

impl CalmProbe {
    /// The figure of a probe above which a trial is marked, in the unit of the probe. It is the largest figure times
    /// the ratio of the largest to the median, because a run takes many more probes than a check; and at least 1.25
    /// times the median.
    pub fn limit(&self) -> f64 {
        (self.most * (self.most / self.median)).max(CalmProbe::LEAST * self.median)
    }

    const LEAST: f64 = 1.25;
}

/// The load engine's figures compared with those of a server that counts what it does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineCheck {
    /// The server's behaviour, in words.
    pub server: String,
    /// The number of tries, 1 to 3. The check is tried again unless all figures agree, because anything may hold up
    /// one answer once.
    pub tries: usize,
    /// The number of requests in the last try.
    pub requests: u64,
    /// True if all of `figures` agree in some try, false if all tries found that they do not. None if it could not be
    /// told: times were too long while something else disturbed the machine.
    pub truthful: Option<bool>,
    /// The marks for disturbances in the last try.
    pub marks: Vec<Mark>,
    /// The figures of the last try, each as the server and the engine found it.
    pub figures: Vec<EngineFigure>,
}

/// One figure, as the server and the engine found it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineFigure {
    /// The name of the figure: `right_answers`, `p50_us`, `p99_us`, `max_us` or `slow_answers`.
    pub name: String,
    /// The figure by the server's own count, in the unit of its name.
    pub server: f64,
    /// The figure that the engine found, in the same unit as the server's.
    pub engine: f64,
    /// The least figure that the engine may find.
    pub least: f64,
    /// The largest figure that the engine may find: the server's, and what the way between server and engine may add to
    /// it.
    pub most: f64,
}

impl EngineFigure {
    /// True if the engine's figure is between `least` and `most`.
    pub fn agrees(&self) -> bool {
        (self.least..=self.most).contains(&self.engine)
    }

    /// True if the engine's figure is above `most`. This is the only fault of a figure that a disturbance of the
    /// machine can cause.
    pub fn too_much(&self) -> bool {
        self.engine > self.most
    }
}

/// Pairs of the same command at the same time, compared with pairs in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DuetCheck {
    /// The width of an interval from pairs in turn, as a multiple of that from pairs at the same time, for equal
    /// measuring time: above 1, `--duet` pays. It is the median over the rounds, with an interval if there are enough
    /// of them.
    pub sequential_width: Ratio,
    /// The number of rounds, each of 20 pairs of either kind.
    pub rounds: usize,
    /// True if the whole interval of `sequential_width` is above 1, false if all of it is below 1. `None` if 1 lies in
    /// the interval, or there is no interval.
    pub pays: Option<bool>,
}

/// Something on the machine that is worse than kumite promises.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The fault, in words.
    pub what: String,
    /// The consequence of the fault for results.
    pub means: String,
    /// The remedy, as a sentence without a full stop.
    pub remedy: String,
}

/// The part of a machine's last self-check that runs and comparisons keep. It tells how far results of the machine can
/// be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseFloor {
    /// The time at which the self-check began.
    pub measured: Timestamp,
    /// The numbers of false verdicts, one entry for each metric: first those of commands, then those of servers.
    pub false_verdicts: Vec<FalseVerdicts>,
    /// The smallest difference between commands that a minute would find. None if it is not known.
    pub command: Option<SmallestDifference>,
    /// The smallest difference between servers that a minute would find. None if it is not known.
    pub server: Option<SmallestDifference>,
    /// The figures above which a trial is marked, by the names of the probes' figures, which end with the unit. Empty
    /// if the check had no probes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probe_limits: BTreeMap<String, f64>,
    /// The number of things that were worse than promised.
    pub problems: usize,
}

impl NoiseFloor {
    /// The parts of a self-check that runs and comparisons keep.
    pub fn from_check(check: &SelfCheck) -> NoiseFloor {
        let both = || [&check.commands, &check.server].into_iter().flatten();
        let smallest = |of: &Option<SameTwice>| of.as_ref().and_then(|same| same.smallest);
        NoiseFloor {
            measured: check.started,
            false_verdicts: both().flat_map(|same| same.false_verdicts.iter().cloned()).collect(),
            command: smallest(&check.commands),
            server: smallest(&check.server),
            probe_limits: check
                .probes
                .iter()
                .map(|(probe, of)| (probe.name().to_owned(), of.limit()))
                .collect(),
            problems: check.problems.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_lies_as_far_beyond_the_most_as_that_beyond_the_median() {
        let limit = |median, most| CalmProbe { probes: 40, median, most }.limit();
        assert_eq!(limit(10.0, 15.0), 22.5);
        assert_eq!(limit(8.0, 8.0), 10.0, "a quarter more at least");
    }
}
