//! The document that `kumite compare --json` writes.
//!
//! The verdicts: `pairs[i].verdict` (`faster`, `slower`, `no-difference`, `undecided`: of wall time),
//! `pairs[i].cpu.verdict` and `pairs[i].memory.verdict` (`less`, `more`, `no-difference`, `undecided`), each of
//! command `a` against the reference `b`; the ratios beside them are value(b) / value(a), so that more than 1 is in
//! favour of `a`. Where metrics were named, those in `pairs[i].metrics` were judged together, in the same words.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, CommandMetric, ComparisonGate, Control, Estimate, Machine, NoiseFloor, PairGate, Ratio,
    Remaining, SteadyClass, Warning,
};

/// Commands that were compared in interleaved blocks, and the verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The version of this form.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command that repeats it.
    pub command: String,
    /// The version of kumite that made the comparison.
    pub kumite: String,
    /// When the comparison began.
    pub started: Timestamp,
    /// The machine that all of it ran on.
    pub machine: Machine,
    /// Orders the runs within the blocks; the same seed repeats the order.
    pub seed: u64,
    /// How often a verdict of one metric may be wrong, all pairs taken together and however often it was looked; if metrics
    /// were named, how often one of all their verdicts may be.
    pub alpha: f64,
    /// The same for each verdict: alpha divided by the number of pairs, and by that of `metrics` (Bonferroni).
    pub alpha_per_pair: f64,
    /// The metrics that were named, in the order of naming: they are judged and shown. Empty if none was named: then
    /// commands are judged by wall time, with CPU time and memory beside it, and servers by throughput, with response
    /// times beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<CommandMetric>,
    /// A ratio from 1 / (1 + margin) to 1 + margin is no difference.
    pub margin: f64,
    /// The reason that no more pairs were measured.
    pub ended: ComparisonEnd,
    /// Every command, in the order given, a reference that was added first; none if servers were compared.
    pub commands: Vec<ComparedCommand>,
    /// Every server, in the order given; none if commands were compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ComparedServer>,
    /// Everyone but the reference, against the reference.
    pub pairs: Vec<ComparedPair>,
    /// The answer of `--gate`; none without that flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<ComparisonGate>,
    /// Who stood in each block twice: its second runs are among those of no command; none without `--control`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// The cost of measuring itself, so that a reader can judge how much of a short command's time it is.
    pub costs: Costs,
    /// Disturbances from outside; none if the comparison was too short to tell.
    pub noise: Option<ComparedNoise>,
    /// The last result of `kumite selfcheck` on this machine; none if no results store here has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<NoiseFloor>,
    /// The gain or loss by running two at once; none without `--duet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<Duet>,
    /// Steadiness and outliers of a single command, which is compared with nothing; none of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Alone>,
    /// Doubts about the comparison as a whole; empty where there are none.
    pub warnings: Vec<Warning>,
}

/// The times of one command that is compared with nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alone {
    /// How its times go, from run to run; none of fewer than 15.
    pub steadiness: Option<SteadyClass>,
    /// How many runs came before they were steady; none if they never were.
    pub warm_up_runs: Option<usize>,
    /// Runs that took much longer, or shorter, than the median: by more than ten standard deviations, as the median
    /// absolute deviation estimates them.
    pub outliers: Vec<Outlier>,
}

/// A run that is far from the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlier {
    /// The position of the run in `times`, from 0.
    pub run: usize,
    /// Its wall time in seconds.
    pub wall_s: f64,
    /// How often it had to give way to another process.
    pub involuntary_switches: u64,
}

/// Why a comparison ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonEnd {
    /// Everything asked for was decided: every verdict; or the gate, where there was one. A verdict that cannot be
    /// reached (see `untold`) was not waited for.
    Decided,
    /// The most runs that were allowed had been made.
    MaxRuns,
    /// The time that was allowed had been spent.
    Budget,
    /// The user ended it.
    Interrupted,
    /// A command or a server failed, which ends the comparison.
    Failed,
}

/// A command and what its runs took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCommand {
    /// The name in reports: that of `--command-name`, or the command; unique.
    pub name: String,
    /// The command as it was typed, with parameters filled in.
    pub command: String,
    /// The shell it was run through; none if it was started directly.
    pub shell: Option<String>,
    /// The parameters that were filled in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// Median of the wall times. None of these four if it has no runs.
    pub wall_s: Option<Estimate>,
    /// Median of the user times.
    pub user_s: Option<Estimate>,
    /// Median of the system times.
    pub system_s: Option<Estimate>,
    /// Median of the highest resident sets.
    pub peak_rss_bytes: Option<Estimate>,
    /// In how many of the runs in `peak_rss` the peak was no higher than what kumite's helper needs itself, so that it is
    /// an upper bound.
    pub peak_rss_is_floor: usize,
    /// Wall time of every run, in seconds, by block.
    pub times: Vec<f64>,
    /// User time of every run, in seconds.
    pub user_times: Vec<f64>,
    /// System time of every run, in seconds.
    pub system_times: Vec<f64>,
    /// Highest resident set of every run.
    pub peak_rss: Vec<u64>,
    /// How every run ended: its exit code, or 128 and the signal.
    pub exit_codes: Vec<i32>,
    /// How often it had to give way to another process, in all runs.
    pub involuntary_switches: u64,
}

/// A server and what it did under load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedServer {
    /// The name in reports: that of `--command-name`, or the URL; unique.
    pub name: String,
    /// The URL of each request.
    pub url: String,
    /// Median over the blocks. None of these three if there are no blocks.
    pub throughput_rps: Option<Estimate>,
    /// Median of the medians.
    pub response_p50_us: Option<Estimate>,
    /// Median of the 99th percentiles; none if a block has too few requests for one.
    pub response_p99_us: Option<Estimate>,
    /// Requests that got no right answer, in all blocks.
    pub failures: u64,
    /// Requests that were finished, in all blocks.
    pub requests: u64,
    /// Right answers a second, by block.
    pub throughputs: Vec<f64>,
    /// Median response time of each block, in microseconds.
    pub p50s: Vec<f64>,
    /// 99th percentile of each block, in microseconds.
    pub p99s: Vec<f64>,
    /// In how many blocks the load engine had no headroom.
    pub generator_bound: usize,
}

/// Two in the same blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedPair {
    /// The name of the one that is judged.
    pub a: String,
    /// The name of the command that `a` is compared with.
    pub b: String,
    /// How `a` compares by wall time, or by throughput. It is not among what was judged if `metrics` was named without wall
    /// time.
    pub verdict: Speed,
    /// Wall time of b / wall time of a, or throughput of a / that of b: how many times as fast `a` is.
    pub ratio: Ratio,
    /// Blocks that both were measured in.
    pub blocks: usize,
    /// How long it took until then.
    pub seconds: f64,
    /// The estimated way to a verdict; none where there is one, or none is in sight.
    pub remaining: Option<Remaining>,
    /// The answer of `--gate` for `a`; none without that flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<PairGate>,
    /// Each of the metrics that were named, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<JudgedMetric>,
    /// User and system time together; none of servers.
    pub cpu: Option<ComparedUse>,
    /// Highest resident set; none of servers.
    pub memory: Option<ComparedUse>,
    /// Median response time, of servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p50: Option<ComparedTime>,
    /// 99th percentile of the response time, of servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p99: Option<ComparedTime>,
    /// The ratio of the same two in an imported document; none without `--import`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedRatio>,
}

/// How two servers compare by a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedTime {
    /// The verdict on `a`, whose time is compared with that of `b`.
    pub verdict: Speed,
    /// Time of b / time of a.
    pub ratio: Ratio,
}

/// The ratio of an imported document: of means of runs that were made one command after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedRatio {
    /// The file that the ratio was read from, as it was typed.
    pub file: String,
    /// Mean of b / mean of a.
    pub ratio: f64,
    /// One standard deviation of single runs, propagated; none if the document has not both.
    pub stddev: Option<f64>,
}

/// How two commands compare by something they use up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedUse {
    /// The verdict on `a`, whose use is compared with that of `b`.
    pub verdict: Thrift,
    /// Use of b / use of a: above 1, `a` used less.
    pub ratio: Ratio,
    /// Blocks it rests on.
    pub blocks: usize,
}

/// How two commands compare by a metric that was named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedMetric {
    /// The metric that is judged.
    pub metric: CommandMetric,
    /// The better end of it, more or less.
    pub better: Better,
    /// How `a` compares; of wall time, `less` is faster.
    pub verdict: Thrift,
    /// Value of b / value of a.
    pub ratio: Ratio,
    /// In how many blocks it cannot be told who had less: a time was read as 0, which is less than a tick of the kernel, or
    /// memory is known only to be below what kumite's helper needs. Of a metric for which these are half of the blocks no
    /// verdict is in reach.
    #[serde(default)]
    pub untold: usize,
    /// The estimated way to a verdict; none where there is one, or none is in sight.
    pub remaining: Option<Remaining>,
    /// The answer of `--gate` for `a` by this metric; none without that flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<PairGate>,
    /// The ratio of an imported document for this metric; none without `--import`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedRatio>,
}

/// A verdict on time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Speed {
    /// The whole interval of the ratio is above 1.
    Faster,
    /// `a` takes longer: the ratio is below 1.
    Slower,
    /// The ratio is 1, to within the margin.
    NoDifference,
    /// The pairs so far decide nothing.
    Undecided,
}

/// A verdict on what is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Thrift {
    /// The whole interval of the ratio is above 1.
    Less,
    /// `a` uses more: the ratio is below 1.
    More,
    /// The ratio is 1, to within the margin.
    NoDifference,
    /// The pairs so far decide nothing.
    Undecided,
}

/// The cost of measuring, which is in no run's time, and the cost of starting a process, which is in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Costs {
    /// From the first run of the first block to the end of the last, what was run in between included.
    pub seconds: f64,
    /// Time in no run and in no command of the user's (`--prepare` …), for each run.
    pub between_runs_us: f64,
    /// Wall time of a program that does nothing, by the same way; none if there is no such program.
    pub empty_process_s: Option<f64>,
    /// Wall time of the shell with nothing to do, where one was used.
    pub empty_shell_s: Option<f64>,
}

/// Disturbances from outside while it was measured, by stretches of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedNoise {
    /// How many stretches were looked at.
    pub stretches: usize,
    /// How long they were together.
    pub seconds: f64,
    /// How many of them carry a mark, by mark.
    pub marked: BTreeMap<String, usize>,
    /// The worst stretch's figure, by name; the unit is the end of the name.
    pub worst: BTreeMap<String, f64>,
}

/// Pairs of runs at the same time beside pairs of runs in turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Duet {
    /// How many pairs of either kind were set beside each other.
    pub pairs: usize,
    /// How wide the interval from pairs in turn is, as a multiple of that from pairs at the same time, for the same
    /// time of measuring. Below 1, running both at once does not pay. None if it cannot be told.
    pub sequential_width: Option<f64>,
}
