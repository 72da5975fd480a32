//! The document that `kumite compare --json` writes.
//!
//! A verdict is about `a`, a command or server, against the reference `b`. `pairs[i].verdict` is `faster`, `slower`,
//! `no-difference` or `undecided`: for commands by wall time, for servers by throughput. The verdicts of
//! `pairs[i].cpu`, of `pairs[i].memory` and of each of `pairs[i].metrics` are `less`, `more`, `no-difference` or
//! `undecided`. A ratio above 1 is in favour of `a`: it is value(b) / value(a) or, of throughput, value(a) /
//! value(b).

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, CommandCounts, CommandMetric, ComparedBaseline, ComparedCounts, ComparedFailures, ComparisonGate,
    Control, Counting, CountsSince, Doubt, Estimate, LeftOut, Machine, NoiseFloor, PairGate, Ratio,
    Remaining, SteadyClass, Warning,
};

/// A comparison of commands or servers in interleaved blocks, with its verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command line that repeats the comparison.
    pub command: String,
    /// The version of kumite that made the comparison.
    pub kumite: String,
    /// The time at which the comparison began.
    pub started: Timestamp,
    /// The machine that the comparison was executed on.
    pub machine: Machine,
    /// The seed of the order within blocks. The same seed repeats the order.
    pub seed: u64,
    /// The allowed probability of a false verdict, from 0 to 1, over all pairs and all looks together. Without named
    /// metrics it holds for each metric alone; with named metrics, for all of these together. With `--gate` it is twice
    /// the gate's level, because the gate asks about one end of each interval.
    pub alpha: f64,
    /// The allowed probability that a single verdict is false, from 0 to 1: `alpha` divided by the number of pairs and,
    /// if metrics were named, by the number of metrics (Bonferroni).
    pub alpha_per_pair: f64,
    /// The metrics that were named, in the order of naming: they are judged and shown. Empty if none was named: then
    /// commands are judged by wall time, with CPU time and memory beside it, and servers by throughput, with response
    /// times beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<CommandMetric>,
    /// The margin, as a share: a ratio from 1 / (1 + margin) to 1 + margin is no difference.
    pub margin: f64,
    /// The reason why the comparison ended.
    pub ended: ComparisonEnd,
    /// The error that ended the measuring of times, in words. `None` if no error ended it. Errors of `--counts` and
    /// `--cleanup`, which come later, are not in the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Every command, in the order given; a reference that was added comes first. Empty if servers were compared.
    pub commands: Vec<ComparedCommand>,
    /// Every server, in the order given. Empty if commands were compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ComparedServer>,
    /// Every command or server but the reference, each compared with the reference.
    pub pairs: Vec<ComparedPair>,
    /// The answer of `--gate`. None without that flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<ComparisonGate>,
    /// The command or server that was run twice in each block, with the ratio of the second runs to the first. Its
    /// second runs stand in neither `commands` nor `servers`. None with neither `--control` nor `--gate`, and with
    /// `--duet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// The time that the comparison took, and what the measuring itself cost.
    pub costs: Costs,
    /// Disturbances from outside. None if servers were compared, or if the blocks took less than a second.
    pub noise: Option<ComparedNoise>,
    /// The probes of the machine between blocks, in their order. Empty if the comparison was too short for one, if
    /// the machine could not be probed, or if a single command was compared with nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ComparedProbe>,
    /// Doubts about single verdicts, whose effects changed in the course of the comparison. They change no verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<ComparedDoubt>,
    /// The last result of `kumite selfcheck` on this machine. None if the results store has none, or cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<NoiseFloor>,
    /// The gain or loss in the width of intervals if two commands run at the same time and not in turn. `None` without
    /// `--duet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<Duet>,
    /// The steadiness and outliers of a single command, which is compared with nothing. `None` if several commands, or
    /// servers, are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Alone>,
    /// The way in which instructions were counted. None without `--counts`, and if the comparison was interrupted or
    /// failed before the counting, or a command has no runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counting>,
    /// The commands' instruction counts, compared with those of a baseline that cannot be measured again. None if there
    /// is no such baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<CountsSince>,
    /// Doubts about the comparison, or about one of its commands or servers; empty if there are none.
    pub warnings: Vec<Warning>,
}

/// Steadiness and outliers of the runs of a single command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alone {
    /// The class of the series of wall times, from run to run. None if there are fewer than 15 runs.
    pub steadiness: Option<SteadyClass>,
    /// The number of runs before the wall times were steady. None if they never were, or if there are fewer than 15
    /// runs.
    pub warm_up_runs: Option<usize>,
    /// Runs that differ from the median wall time by more than ten standard deviations, as estimated from the median
    /// absolute deviation. Empty if that is 0.
    pub outliers: Vec<Outlier>,
}

/// A run whose wall time is far from the others'.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlier {
    /// The position of the run in the command's `times`, from 0.
    pub run: usize,
    /// The wall time of the run, in seconds.
    pub wall_s: f64,
    /// The number of involuntary context switches of the run, at which another process took its CPU.
    pub involuntary_switches: u64,
}

/// The reason why a comparison ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonEnd {
    /// Everything asked for was decided: each verdict or, with `--gate`, the gate. A verdict that cannot be reached
    /// (see `untold`) was not waited for. A command that is compared with nothing had its runs: at least ten, in at
    /// least three seconds.
    Decided,
    /// The allowed number of runs had been made.
    MaxRuns,
    /// The allowed time was spent, or was too short for another block.
    Budget,
    /// The user ended the comparison.
    Interrupted,
    /// An error ended the measuring, and `failure` tells it: for example, a command, one of its hooks (`--prepare` …)
    /// or a server failed, or two outputs differ that are to be the same.
    Failed,
}

/// A command with the figures of its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCommand {
    /// The name in reports, which is unique: that of `--command-name` or of an imported document, else the command
    /// itself; the revision, if one command is run at several; or `baseline NAME`. A revision, parameters or a number
    /// are added to a name that would be there twice.
    pub name: String,
    /// The command as it was typed, with parameters filled in.
    pub command: String,
    /// The shell that the command was run through. None if it was started directly.
    pub shell: Option<String>,
    /// The parameters that were filled in, by name; empty if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// The git revision that the command was run at. None without `--rev` and `--build`, and for a reference that is
    /// none of the commands at revisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<ComparedRevision>,
    /// The baseline that the command is. None if it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<ComparedBaseline>,
    /// The size of the program, in bytes. None if the command does not begin with the path of its program, or needs a
    /// shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_bytes: Option<u64>,
    /// The median of the wall times. None if the command has no runs.
    pub wall_s: Option<Estimate>,
    /// The median of the user times. None if the command has no runs.
    pub user_s: Option<Estimate>,
    /// The median of the system times. None if the command has no runs.
    pub system_s: Option<Estimate>,
    /// The median of `peak_rss`. None if the command has no runs.
    pub peak_rss_bytes: Option<Estimate>,
    /// The number of runs in `peak_rss` whose peak is only an upper bound, because it was no higher than what
    /// kumite's helper itself needs.
    pub peak_rss_is_floor: usize,
    /// The wall time of every run that counts, in seconds, in the order of the blocks. Runs in `left_out` do not count
    /// and have no entry; nor have second runs of a control.
    pub times: Vec<f64>,
    /// The user time of each run in `times`, in seconds, in the same order.
    pub user_times: Vec<f64>,
    /// The system time of each run in `times`, in seconds, in the same order.
    pub system_times: Vec<f64>,
    /// The highest resident set of each run in `times`, in bytes, in the same order; 0 if the kernel does not count it.
    pub peak_rss: Vec<u64>,
    /// The exit code of each run in `times`, in the same order. If a signal ended the run, it is 128 plus the signal;
    /// −1 if neither is known.
    pub exit_codes: Vec<i32>,
    /// The number of involuntary context switches, at which another process took the CPU, in all runs in `times`
    /// together.
    pub involuntary_switches: u64,
    /// The counts of each run in `times`, in the same order, for each counter among the metrics that were named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<CommandMetric, Vec<u64>>,
    /// The runs that are in no figure, in the order of the blocks: those that failed, and those that were ended because
    /// the other run of a `--duet` took too long. Empty without `--ignore-failure`, because the first failure then ends
    /// the comparison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The instructions that the command executes, or the reason why they were not counted. `None` if nothing was to be
    /// counted; then the `counts` of the comparison is `None`, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<CommandCounts>,
}

/// A git revision that a command was run at, in a tree of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRevision {
    /// The name of the revision, as it was typed: `main`, `HEAD~1`, `main...HEAD`, `.`. If only one revision was typed
    /// for a gate, the reference is the commit at which that revision left the default branch, and has a name that
    /// kumite made.
    pub name: String,
    /// The commit, in hexadecimal digits. For a working tree it is the commit on top of which the changes are.
    pub commit: String,
    /// The digest of the files of a working tree that differs from its commit. `None` for a commit, and for a working
    /// tree without changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// The command that built the revision, as it was typed, with parameters filled in. None if it was not built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The time that the build took when it was made, in seconds. None if the revision was not built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_s: Option<f64>,
    /// True if the tree was in kumite's cache already, made by an earlier comparison.
    pub was_cached: bool,
}

/// A server with its figures under load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedServer {
    /// The name in reports, which is unique: that of `--command-name`, or the URL itself.
    pub name: String,
    /// The URL of each request.
    pub url: String,
    /// The median over blocks of right answers a second. None if there are no blocks.
    pub throughput_rps: Option<Estimate>,
    /// The median over blocks of the median response time. None if there are no blocks.
    pub response_p50_us: Option<Estimate>,
    /// The median over blocks of the 99th percentile of the response time. None if a block has fewer than 1,000 right
    /// answers, or there are no blocks.
    pub response_p99_us: Option<Estimate>,
    /// The number of requests that got no right answer, in all blocks.
    pub failures: u64,
    /// The number of requests that were finished, in all blocks.
    pub requests: u64,
    /// Right answers a second in each block.
    pub throughputs: Vec<f64>,
    /// Median response time of each block, in microseconds.
    pub p50s: Vec<f64>,
    /// 99th percentile of the response time in each block, in microseconds; also of a block that has too few right
    /// answers for `response_p99_us`.
    pub p99s: Vec<f64>,
    /// The number of blocks in which the load engine had no headroom.
    pub generator_bound: usize,
}

/// A command or server and the reference, measured in the same blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedPair {
    /// The name of the command or server that is judged.
    pub a: String,
    /// The name of the reference, with which `a` is compared.
    pub b: String,
    /// The verdict on `a` by wall time, or by throughput for servers. If metrics were named and wall time is not one
    /// of them, or if `--gate-on` names another metric, this verdict is for information: the comparison did not wait
    /// for it, and the gate ignores it.
    pub verdict: Speed,
    /// The wall time of `b` over that of `a`, or the throughput of `a` over that of `b`: how many times as fast `a`
    /// is.
    pub ratio: Ratio,
    /// The number of blocks in which both were measured, and no run of either was left out.
    pub blocks: usize,
    /// The time from the beginning of the first block to the end of the last whole one, in seconds.
    pub seconds: f64,
    /// The estimated further effort until there is a verdict. `None` if there is a verdict, or if no realistic number
    /// of blocks would give one.
    pub remaining: Option<Remaining>,
    /// The answer of `--gate` for `a`. None without that flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<PairGate>,
    /// The verdicts by each of the metrics that were named, in the order of naming; empty if none was named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<JudgedMetric>,
    /// The comparison by user and system time together. None for servers.
    pub cpu: Option<ComparedUse>,
    /// The comparison by highest resident set. None for servers.
    pub memory: Option<ComparedUse>,
    /// The comparison by median response time. None for commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p50: Option<ComparedTime>,
    /// The comparison by the 99th percentile of the response time. None for commands, and if a block of either server
    /// has fewer than 1,000 right answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_p99: Option<ComparedTime>,
    /// The ratio of the two commands by wall time in an imported document. None if one of the two was not imported,
    /// or if its document has no mean above 0 for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedRatio>,
    /// The comparison by instruction counts. `None` if the `counts` of the whole comparison is `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<ComparedCounts>,
    /// The numbers of failed runs of both commands, with a verdict. `None` if no run of either failed, and for servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<ComparedFailures>,
}

/// A comparison of two servers by a response time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedTime {
    /// The verdict on `a`, whose time is compared with that of `b`.
    pub verdict: Speed,
    /// The time of `b` over that of `a`: above 1, `a` was faster.
    pub ratio: Ratio,
}

/// The ratio of two commands in an imported document. It is a ratio of means, of commands that were run one after the
/// other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedRatio {
    /// The file that the ratio was read from, as it was typed.
    pub file: String,
    /// The mean of `b` divided by the mean of `a`: above 0, without a unit.
    pub ratio: f64,
    /// The standard deviation of the ratio for single runs, propagated from those of both commands. None if the
    /// document does not have both.
    pub stddev: Option<f64>,
}

/// A comparison of two commands by CPU time or memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedUse {
    /// The verdict on `a`, whose use is compared with that of `b`.
    pub verdict: Thrift,
    /// The use of `b` over that of `a`: above 1, `a` used less.
    pub ratio: Ratio,
    /// The number of blocks that the verdict rests on.
    pub blocks: usize,
}

/// A comparison of two commands by a metric that was named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedMetric {
    /// The metric that is judged.
    pub metric: CommandMetric,
    /// The better end of the metric's values, which is the lower one for every metric of commands.
    pub better: Better,
    /// The verdict on `a`; by wall time, `less` means faster.
    pub verdict: Thrift,
    /// The value of `b` over that of `a`.
    pub ratio: Ratio,
    /// The number of blocks in which the order of the two is not known, because a reading is only an upper bound. For
    /// example, a time below a tick of the kernel, or a count, was read as 0; or the memory of a run was not counted,
    /// or is only known to be at most what kumite's helper needs. If at least half of the blocks are like this, no
    /// verdict is possible.
    #[serde(default)]
    pub untold: usize,
    /// The estimated further effort until there is a verdict. `None` if there is a verdict, or if no realistic number
    /// of blocks would give one.
    pub remaining: Option<Remaining>,
    /// The answer of `--gate` for `a` by this metric. None without that flag, and if `--gate-on` names another
    /// metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<PairGate>,
    /// The ratio of the two commands by this metric in an imported document. `None` if one of the two was not imported,
    /// or if its document has no mean above 0 for the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedRatio>,
}

/// A verdict on `a` by time or throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Speed {
    /// `a` is faster: the whole interval of the ratio is above 1, and some of it is beyond the margin.
    Faster,
    /// `a` is slower: the whole interval of the ratio is below 1, and some of it is beyond the margin.
    Slower,
    /// The two differ by no more than the margin: the whole interval is within it.
    NoDifference,
    /// The blocks do not decide, or the control differs from itself by more than the two differ.
    Undecided,
}

/// A verdict on `a` by what it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Thrift {
    /// `a` uses less: the whole interval of the ratio is above 1, and some of it is beyond the margin.
    Less,
    /// `a` uses more: the whole interval of the ratio is below 1, and some of it is beyond the margin.
    More,
    /// The two differ by no more than the margin: the whole interval is within it.
    NoDifference,
    /// The blocks do not decide, or the control differs from itself by more than the two differ.
    Undecided,
}

/// The time of a comparison, the cost of measuring, which is in no run's time, and the cost of starting a process,
/// which is in each run's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Costs {
    /// The time from the beginning of the first block to the end of the last whole one, in seconds. Warm-up runs come
    /// before it.
    pub seconds: f64,
    /// The time that is spent outside of runs (or loads on a server), hooks (`--prepare` …) and probes, divided by the
    /// number of runs or loads: in microseconds.
    pub between_runs_us: f64,
    /// The time that probes of the machine took, with the start of the process that makes them, in seconds. None if
    /// none was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probes_s: Option<f64>,
    /// The median wall time of a program that does nothing, started in the same way as the commands, in seconds. None
    /// for servers.
    pub empty_process_s: Option<f64>,
    /// The median wall time of the shell with nothing to do, in seconds. None if no command was run through a shell.
    pub empty_shell_s: Option<f64>,
}

/// Disturbances from outside during a comparison, in stretches of whole blocks. Each stretch takes a second or more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedNoise {
    /// The number of stretches that were looked at.
    pub stretches: usize,
    /// The length of all stretches together, in seconds.
    pub seconds: f64,
    /// The number of stretches with each mark, by the mark's word.
    pub marked: BTreeMap<String, usize>,
    /// For each kind of noise, by name, the figure that is furthest from 0 of all stretches; the end of the name is
    /// the unit, and counts have none.
    pub worst: BTreeMap<String, f64>,
}

/// A probe of the machine between two blocks: the times that some basic operations took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedProbe {
    /// The number of blocks before the probe.
    pub blocks: usize,
    /// The time from the beginning of the first block to the end of the last block before the probe, in seconds.
    pub after_s: f64,
    /// The figures by name; the end of a name is its unit.
    pub figures: BTreeMap<String, f64>,
}

/// A doubt about the verdict on a pair by one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedDoubt {
    /// The name of the command or server that is judged.
    pub a: String,
    /// The name of the reference.
    pub b: String,
    /// The metric that is judged. None for servers, which are judged by throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<CommandMetric>,
    /// The doubt. Its effects are ratios, each a median over many blocks: as in the pair, more than 1 is in favour of
    /// `a`.
    pub doubt: Doubt,
}

/// A comparison of running two commands at the same time with running them in turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Duet {
    /// The number of pairs of either kind that are compared: the first ones, at most 20. 0 if the number of runs was
    /// given.
    pub pairs: usize,
    /// The width of the interval from pairs in turn, divided by the width from pairs at the same time, for equal
    /// measuring time. Below 1, running both at once does not pay. `None` if there are no pairs of one kind, or all of
    /// them have the same ratio.
    pub sequential_width: Option<f64>,
}
