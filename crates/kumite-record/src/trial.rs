//! One trial, and the choice of the trials that count.
//!
//! Every trial is kept, however it ended. [`standing`] chooses those that count: of a block that was measured again
//! only the last attempt, and no trial of a void attempt.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Arrival, AxisValue, Call, Mark, Phase, Point, Role, Void, Written};

/// One measured execution of a cell, from fresh start to stop. The default is an `ok` trial of nothing, without
/// figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Position in the run, from 0, in the order in which trials began; unique.
    pub seq: u32,
    /// The index of the trial's block at its point, from 0. Trials of one block are compared with each other.
    pub block: u32,
    /// The attempt at the block, from 0. A block is measured again if a trial of it is void; only the last attempt
    /// counts, and only if none of its trials is void.
    #[serde(default, skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// The reason why this trial is void, so that no trial of its attempt counts. `None` if the trial itself is not
    /// void; another trial of its attempt may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<Void>,
    /// The contender's name.
    pub contender: String,
    /// True if this is the second trial of the run's control in the block.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    /// The point at which the contender was measured.
    pub point: Point,
    /// The time at which the trial began.
    pub started: Timestamp,
    /// The outcome of the trial, which decides whether its figures are used.
    pub outcome: Outcome,
    /// The reason for an outcome other than `ok`, often with the end of the contender's log. If the outcome is `ok`,
    /// a fault that changes no figure, such as processes that the contender left behind. None without either.
    pub reason: Option<String>,
    /// The trial's figures; empty if nothing was measured.
    pub sample: Sample,
    /// The doubts about the sample; empty where there are none.
    pub marks: Vec<Mark>,
    /// The time from the contender's start until it was ready, in milliseconds; of a function, the init phase of the
    /// first call. None if it never was ready, if the trial measured nothing, and for a command or a benchmark that
    /// measures by itself, which have no such moment.
    pub ready_ms: Option<f64>,
    /// The time that the contender was under load, warm-up and watching included, in milliseconds. None if there was
    /// no load, or if the trial measured nothing.
    #[serde(default)]
    pub load_ms: Option<f64>,
    /// The time from the end of the trial before, or from the run's beginning, to the end of this trial, in
    /// milliseconds. The sum over all trials is the time for which the run was executed. None if an older kumite made
    /// the trial.
    #[serde(default)]
    pub took_ms: Option<f64>,
    /// The node that the trial was executed on. None unless the run has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The path of the contender's log, or of the folder of its logs, relative to the folder of the store. None if
    /// none was kept.
    pub log: Option<String>,
}

impl Trial {
    /// True if the trial's figure for this metric is a lower bound.
    pub fn is_lower_bound(&self, metric: &str) -> bool {
        self.sample.lower_bounds.contains(metric)
    }
}

fn is_first(attempt: &u32) -> bool {
    *attempt == 0
}

/// The trials that count: of each block those of its last attempt, if none of them is void. An attempt that an early
/// end of the run left incomplete counts, too.
pub fn standing<'a>(trials: impl IntoIterator<Item = &'a Trial> + Clone) -> impl Iterator<Item = &'a Trial> {
    let mut last = HashMap::<(&Point, u32), (u32, bool)>::new();
    for trial in trials.clone() {
        let (attempt, is_void) = last.entry((&trial.point, trial.block)).or_default();
        if trial.attempt >= *attempt {
            *is_void = trial.void.is_some() || (*is_void && trial.attempt == *attempt);
            *attempt = trial.attempt;
        }
    }
    trials.into_iter().filter(move |trial| last[&(&trial.point, trial.block)] == (trial.attempt, false))
}

/// The outcome of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The contender was measured, and presented no wrong answer as right.
    #[default]
    Ok,
    /// The contender presented a wrong answer as right, so its figures do not count.
    Disqualified,
    /// The contender did not start or get ready, died, went silent, or failed at what it was given.
    Failed,
}

impl Outcome {
    /// The word for the outcome in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Disqualified => "disqualified",
            Outcome::Failed => "failed",
        }
    }
}

/// The figures of a trial, with all that was recorded beside them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// The figures by metric. The run's `metrics` have their units.
    pub metrics: BTreeMap<String, f64>,
    /// The metrics whose figure is a lower bound, because watching ended before the value was known or nothing could
    /// count all of it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub lower_bounds: BTreeSet<String>,
    /// The number of failures of each kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: Errors,
    /// The answers with a wrong status in a load in steps: each text, as `status body`, with the number of such
    /// answers. Answers in the drop after the steps count, too. Empty for other trials.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, u64>,
    /// The metrics that the trial has too few values for, such as requests, with the number of further values that
    /// each would take.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub needs: Needs,
    /// For the metrics in `needs`, the parameter that would give the trial enough values. A metric is absent if no
    /// such parameter is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub enough: BTreeMap<String, Enough>,
    /// The noise from outside during the measurement, by name; the unit is the end of the name, and counts have none.
    /// A figure that the machine does not tell is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub noise: BTreeMap<String, f64>,
    /// The marks that came from a node with a role of its own, by that role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marked: BTreeMap<Role, Vec<Mark>>,
    /// The parts of a trial that sweeps an axis within itself: one for each value that was reached, in the order of
    /// the values. Empty if the trial sweeps none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TrialPart>,
    /// Counts and percentiles over time, interval by interval. Empty if the kind of workload keeps none.
    #[serde(default, skip_serializing_if = "Series::is_empty")]
    pub series: Series,
    /// The jobs of a task, or the runs of a command, in the order in which they were given. Empty for other kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
    /// The events of a task's last job that reported any, in the order of time. Empty if no job reported any, and for
    /// other kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<JobEvent>,
    /// The calls of a function, in the order in which they were offered. Empty for other kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// The phases in the lives of a function's instances, in the order of time. Empty for other kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// The states of a player, in the order in which they were due. Empty for other kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<Arrival>,
    /// The steadiness of throughput in a closed loop, or of the times of a task's jobs, and the part that the figures
    /// are from. None if the series is too short to tell, and for other trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<Steadiness>,
    /// The disturbance after the window. None if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
    /// The output that each run of the trial wrote, to be compared with that of other contenders. None if contenders
    /// need not write the same, if the runs of this trial differ, or if the output was found wrong by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Written>,
    /// HDR histograms of times, in nanoseconds, by name. Only the store has them, not the document.
    #[serde(skip)]
    pub histograms: BTreeMap<String, Histogram>,
}

/// A part of a trial, such as a step of its load or a call of a function, with figures of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialPart {
    /// The value of the axis that is swept within the trial.
    pub at: AxisValue,
    /// The figures of the part, by metric.
    pub metrics: BTreeMap<String, f64>,
    /// The metrics that the part has too few values for, such as requests, with the number of further values that
    /// each would take.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub needs: Needs,
}

/// A job of a task, which is a repetition within one process, or a run of a command, which has a process of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// The time from the writing of the request to the worker's word that the job is done, by kumite's clock, in
    /// milliseconds; of a command the wall time of the run.
    pub elapsed_ms: f64,
    /// The time of the job by the worker's own clock, in milliseconds; of a command the same as `elapsed_ms`.
    pub worker_elapsed_ms: f64,
    /// True if the job was part of the warm-up. Then it counts in no figure but a task's `first_elapsed_ms` and
    /// `jobs_given`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// The metrics that came with the worker's answer, or that the command wrote, by name. Empty for a task's job of
    /// the warm-up.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
}

/// An event within a job: the time since the job's beginning by the worker's clock, in ns; the thread; the kind
/// (`subscribe`, `next`, `complete`, `tick` …); and the object that it happened to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobEvent(pub u64, pub String, pub String, pub String);

/// The number of failures of each kind.
pub type Errors = BTreeMap<String, u64>;

/// Metrics that cannot be given, with the number of further values, such as requests, that a trial would need for
/// each.
pub type Needs = BTreeMap<String, u64>;

/// The parameter that would give a trial enough values for a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Enough {
    /// The number of values that the trial has.
    pub have: u64,
    /// The name of the parameter that would have to be larger.
    pub parameter: String,
    /// The value that the parameter would need: in proportion to the values that the trial has, with a fifth in
    /// reserve.
    pub value: f64,
}

/// The steadiness of a trial. Times are in milliseconds. Under load they count from the window's opening, and times
/// below 0 are in the warm-up. For a task they are the summed times of its jobs from the first one on, warm-up
/// included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Steadiness {
    /// The class of the course of throughput, from the start of the load to the window's end; of a task that of its
    /// jobs' times.
    pub class: SteadyClass,
    /// The time at which throughput, or the jobs' time, became steady, in milliseconds. None if it did not.
    pub since_ms: Option<i64>,
    /// The times at which the level of throughput, or of the jobs' time, changed, in milliseconds.
    pub changes_ms: Vec<i64>,
    /// The time from which on some figures are taken, in milliseconds: the later of the window's opening (for a task,
    /// of its first measured job) and the beginning of the steady part; the opening, if there is no steady part. The
    /// figures are `throughput_rps`, `response_*` and `cpu_cores`; of a task, the times and metrics of its jobs.
    pub used_from_ms: u64,
}

/// A class of the course of a series, as Barrett et al. define them (2017): of throughput, of the times of jobs, or
/// of the wall times of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyClass {
    /// The series was steady from its start.
    Flat,
    /// The series became steady, and was never better before.
    WarmUp,
    /// The series became steady, and had been better before.
    Slowdown,
    /// The series changed until too near its end.
    NoSteadyState,
    /// The trials of a cell are not all of one class. Only a cell has this class, never a single trial.
    Inconsistent,
}

impl SteadyClass {
    /// The word for the class in files.
    pub fn as_str(self) -> &'static str {
        match self {
            SteadyClass::Flat => "flat",
            SteadyClass::WarmUp => "warm-up",
            SteadyClass::Slowdown => "slowdown",
            SteadyClass::NoSteadyState => "no-steady-state",
            SteadyClass::Inconsistent => "inconsistent",
        }
    }
}

impl fmt::Display for SteadyClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SteadyClass::NoSteadyState => "no steady state",
            other => other.as_str(),
        })
    }
}

/// An HDR histogram of nanoseconds.
pub type Histogram = hdrhistogram::Histogram<u64>;

/// A disturbance after the window, which shows how the contender recovers. Times are in milliseconds and count from
/// the window's opening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// The kind of disturbance: `pause`, `burst`, or `drop`, in which the load in steps fell to a low rate.
    pub kind: String,
    /// The time at which the disturbance began, in milliseconds from the window's opening: the window's close.
    pub began_ms: f64,
    /// The time at which the disturbance was over, in milliseconds from the window's opening: when the contender was
    /// resumed, or the last connection of the burst was begun. For a drop it equals `began_ms`.
    pub ended_ms: f64,
    /// The time that recovery counts from: the later of `ended_ms` and the first failure since `began_ms`; for a
    /// drop, `began_ms`.
    pub since_ms: f64,
    /// The time at which watching the contender ended, in milliseconds from the window's opening.
    pub until_ms: f64,
    /// The number of right answers from `began_ms` to `until_ms`.
    pub ok: u64,
    /// Failures from `began_ms` to `until_ms`, by kind.
    pub errors: Errors,
    /// Right answers among the requests of a burst's own connections.
    pub burst_ok: u64,
    /// Failed requests on a burst's own connections.
    pub burst_errors: u64,
}

/// A table over time: columns of equal length, with one row for each interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The length of an interval, in milliseconds.
    pub interval_ms: u64,
    /// The beginning of the first interval, in milliseconds from the window's opening. It is below 0 if the warm-up
    /// is in the series, too.
    #[serde(default)]
    pub start_ms: i64,
    /// The close of the window, in milliseconds from its opening. Later intervals hold the disturbance and what
    /// followed.
    #[serde(default)]
    pub window_ms: f64,
    /// The columns by name (`ok`, `errors`, `response_mean_us`, `cpu_cores` …). The value of an interval that has
    /// none is null.
    pub columns: BTreeMap<String, Vec<Option<f64>>>,
}

impl Series {
    /// True if nothing was recorded, so that there are no columns.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}
