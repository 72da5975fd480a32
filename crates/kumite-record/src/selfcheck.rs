//! The document of `kumite selfcheck`: how far kumite can be trusted on a machine.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Machine, Mark, Probe, Ratio};

/// One execution of `kumite selfcheck`; a part that there was no time or no second CPU for is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfCheck {
    /// The version of this form.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command that repeats it.
    pub command: String,
    /// The version of kumite that checked itself.
    pub kumite: String,
    /// When the check began.
    pub started: Timestamp,
    /// How long it took.
    pub seconds: f64,
    /// Orders and resampling; the same seed repeats both.
    pub seed: u64,
    /// True if it was interrupted: then it is not kept.
    pub cut_short: bool,
    /// The machine that was checked.
    pub machine: Machine,
    /// A command against itself.
    pub commands: Option<SameTwice>,
    /// An HTTP server compared with itself; none if it was not measured.
    pub server: Option<SameTwice>,
    /// The clock's resolution, cost and steps; none if the check was interrupted before it.
    pub clock: Option<ClockCheck>,
    /// Every CPU that kumite may use, up to 16.
    pub cpus: Vec<CpuCheck>,
    /// What it charges, as the probes before a trial find it; empty where there was too little time for that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probes: BTreeMap<Probe, CalmProbe>,
    /// The load engine against servers that know what they did.
    pub engine: Vec<EngineCheck>,
    /// The gain by running two at once; none without `--duet`.
    pub duet: Option<DuetCheck>,
    /// The things that are worse than promised; empty if all is as it should be.
    pub problems: Vec<Problem>,
}

/// Comparisons of something with itself (A/A), and what follows from their pairs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SameTwice {
    /// The command or server that was compared with itself.
    pub what: String,
    /// How many comparisons were made.
    pub comparisons: usize,
    /// The most pairs that one of them was allowed.
    pub most_pairs: usize,
    /// Of all of them.
    pub pairs: usize,
    /// From the beginning of a pair to that of the next, in the mean.
    pub seconds_per_pair: f64,
    /// Of each metric, how often the two were said to differ.
    pub false_verdicts: Vec<FalseVerdicts>,
    /// None if there are too few pairs.
    pub smallest: Option<SmallestDifference>,
}

/// How often a thing was said to differ from itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FalseVerdicts {
    /// `wall time`, `CPU time`, `memory` or `throughput`.
    pub metric: String,
    /// The number of comparisons that gave a false verdict.
    pub false_verdicts: usize,
    /// Comparisons that could have.
    pub comparisons: usize,
    /// `false_verdicts` / `comparisons`, from 0 to 1.
    pub share: f64,
    /// The exact 95 % interval of the share (Clopper and Pearson).
    pub low: f64,
    /// The upper end of the 95 % interval of that share.
    pub high: f64,
    /// The share that was promised as a maximum.
    pub promised: f64,
}

/// The smallest difference that nine of ten comparisons of one minute would see: extrapolated by resampling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SmallestDifference {
    /// The difference, in percent.
    pub percent: f64,
    /// Half the width of the confidence sequence of such a minute, in percent; the median.
    pub half_width_percent: f64,
    /// The pairs that were measured, which are resampled.
    pub from_pairs: usize,
    /// The pairs that a minute would have.
    pub pairs_a_minute: usize,
}

/// The clock that all times are differences of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockCheck {
    /// The time of a reading, in nanoseconds.
    pub cost_ns: f64,
    /// The smallest step between two readings.
    pub resolution_ns: f64,
    /// By how much the time of day got ahead of the monotonic clock during the check (behind it, if negative).
    pub realtime_ahead_us: f64,
    /// The time in which it did.
    pub over_s: f64,
}

/// A CPU, and what a thread that is kept to it gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuCheck {
    /// The kernel's number of it.
    pub cpu: usize,
    /// How often a thread that was to be on it looked where it is.
    pub looks: u64,
    /// The number of those looks at which the thread was on another CPU.
    pub elsewhere: u64,
    /// The longest that the thread was held up while it did nothing but read the clock.
    pub worst_gap_us: f64,
    /// The time in gaps of 5 µs and more, in percent.
    pub held_up_percent: f64,
    /// How long that was looked at.
    pub looked_ms: f64,
    /// Time of the same work here / on the first CPU, in turn; none for the first, and if there were too few rounds.
    pub slower: Option<Ratio>,
    /// Half of the differences between neighbouring rounds here are smaller, in percent.
    pub scatter_percent: Option<f64>,
    /// Rounds of that work.
    pub rounds: usize,
}

/// A probe of a calm machine, over and over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalmProbe {
    /// How often it was taken.
    pub probes: usize,
    /// The median of its figures.
    pub median: f64,
    /// The largest of them.
    pub most: f64,
}

impl CalmProbe {
    /// From where on a trial is marked: as far beyond the most as that is beyond the median, by ratio, and at least this
    /// much beyond the median. A run has many more probes than a check, and the most of a few is soon exceeded.
    pub fn limit(&self) -> f64 {
        (self.most * (self.most / self.median)).max(CalmProbe::LEAST * self.median)
    }

    const LEAST: f64 = 1.25;
}

/// The load engine against a server that knows what it did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineCheck {
    /// The server's behaviour, in words.
    pub server: String,
    /// How often it was tried: what disagrees is tried again, up to three times, for anything may hold up an answer once.
    pub tries: usize,
    /// Requests of the last try.
    pub requests: u64,
    /// True if all of `figures` agree, false if all tries found that they do not. None if it could not be told: times
    /// were too long while something else disturbed the machine.
    pub truthful: Option<bool>,
    /// The disturbances of the last try.
    pub marks: Vec<Mark>,
    /// The figures of the last try.
    pub figures: Vec<EngineFigure>,
}

/// One figure, of both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineFigure {
    /// `requests`, `p50_us`, `p99_us`, `max_us` or `slow_answers`.
    pub name: String,
    /// The figure by the server's own count.
    pub server: f64,
    /// The figure by the engine.
    pub engine: f64,
    /// The least that the engine may see.
    pub least: f64,
    /// The most: what the server did, and what the way there and back may add.
    pub most: f64,
}

impl EngineFigure {
    /// True if the engine's figure is between `least` and `most`.
    pub fn agrees(&self) -> bool {
        (self.least..=self.most).contains(&self.engine)
    }

    /// True if it is above `most`: the only fault that a disturbance of the machine can cause.
    pub fn too_much(&self) -> bool {
        self.engine > self.most
    }
}

/// Pairs of the same command both at once, and in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DuetCheck {
    /// How many times as wide an interval from pairs in turn is, in the same time: above 1, duet pays. The median over
    /// the rounds, with its interval if there are enough of them.
    pub sequential_width: Ratio,
    /// Rounds of 20 pairs of either kind.
    pub rounds: usize,
    /// True if all of the interval is above 1, false if all is below; none if neither, or without an interval.
    pub pays: Option<bool>,
}

/// Something that is worse than promised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The fault, in words.
    pub what: String,
    /// Its consequence for results.
    pub means: String,
    /// The remedy, as a sentence without a full stop.
    pub remedy: String,
}

/// How far a result of a machine could be trusted when that was last measured: what runs and comparisons keep of a
/// self-check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseFloor {
    /// When the floor was measured.
    pub measured: Timestamp,
    /// Of commands and of servers.
    pub false_verdicts: Vec<FalseVerdicts>,
    /// Between commands, in a minute; none if it is not known.
    pub command: Option<SmallestDifference>,
    /// Between servers, in a minute.
    pub server: Option<SmallestDifference>,
    /// From where on a trial is marked, by the names of probes; empty where they were not checked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probe_limits: BTreeMap<String, f64>,
    /// How many things were worse than promised.
    pub problems: usize,
}

impl NoiseFloor {
    /// The floor that a self-check found.
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
