//! One trial, and which trials count.
//!
//! A trial is kept however it ended. [`standing`] chooses those that count: of a block that was measured again the last
//! attempt alone, and no trial that is void.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Arrival, AxisValue, Call, Mark, Phase, Point, Role, Void, Written};

/// One measured execution of a cell, from fresh start to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Position in the run, from 0, in the order in which trials began; unique.
    pub seq: u32,
    /// The block it belongs to, counted from 0 at each point: the unit of pairing.
    pub block: u32,
    /// Counts from 0 how often the block was measured again, because a trial of it was void. The last counts,
    /// if it is not void; the others are only shown.
    #[serde(default, skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// Why this trial is void, so that no trial of its attempt counts. None if it is not void itself, though another
    /// of its attempt may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<Void>,
    /// The contender's name.
    pub contender: String,
    /// True if it is the second trial of the run's control in its block.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    /// The point at which the contender was measured.
    pub point: Point,
    /// When it began.
    pub started: Timestamp,
    /// How the trial ended, which decides whether its figures are used.
    pub outcome: Outcome,
    /// Why, where the outcome is not `ok`; with the end of the contender's log.
    pub reason: Option<String>,
    /// The measurements; empty where there was nothing to measure.
    pub sample: Sample,
    /// The doubts about the sample; empty where there are none.
    pub marks: Vec<Mark>,
    /// From the contender's start until it was ready, in milliseconds; of a function the first call's init phase. None
    /// where it never was, and of a command, which has no such moment.
    pub ready_ms: Option<f64>,
    /// The time it was under load, warm-up and watching included, in milliseconds; none where it did not come to that.
    #[serde(default)]
    pub load_ms: Option<f64>,
    /// From the end of the trial before it, or the run's beginning, to its own end, in milliseconds: the sum over a run is
    /// how long it took.
    #[serde(default)]
    pub took_ms: Option<f64>,
    /// The node that it was executed on, where a run has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The file of the contender's output, relative to the folder of the store; none where none was kept.
    pub log: Option<String>,
}

impl Trial {
    /// True if its figure for a metric is the least it can be.
    pub fn is_lower_bound(&self, metric: &str) -> bool {
        self.sample.lower_bounds.contains(metric)
    }
}

fn is_first(attempt: &u32) -> bool {
    *attempt == 0
}

/// The trials that count: of each block those of its last attempt, if none of them is void. The last attempt of a run that
/// was cut short is all there is, and counts.
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

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Measured, and every answer that was counted was right.
    Ok,
    /// A wrong answer; its figures count for nothing.
    Disqualified,
    /// It did not start, did not get ready, or died.
    Failed,
}

impl Outcome {
    /// The word used in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Disqualified => "disqualified",
            Outcome::Failed => "failed",
        }
    }
}

/// The measurements of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Metrics by name; the unit is the end of the name.
    pub metrics: BTreeMap<String, f64>,
    /// The metrics whose figure is the least it can be: watching ended before it was known, or nobody counted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub lower_bounds: BTreeSet<String>,
    /// Failures by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: Errors,
    /// The words of failed answers, as `status body`, and how often each came; of a load in steps, the drop after it
    /// included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, u64>,
    /// Metrics that it has too few requests for, and how many more those would take.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub needs: Needs,
    /// The parameters that would give it these, by metric; absent where nobody knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub enough: BTreeMap<String, Enough>,
    /// The noise from outside while it was measured, by name; the unit is the end of the name. A figure that the
    /// machine does not tell is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub noise: BTreeMap<String, f64>,
    /// The doubts that came from a node with a role of its own, by that role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub marked: BTreeMap<Role, Vec<Mark>>,
    /// The parts of the trial, where it sweeps an axis within itself: one for each of its values that was reached, in
    /// their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TrialPart>,
    /// Counts and percentiles over time; empty where the kind of workload keeps none.
    #[serde(default, skip_serializing_if = "Series::is_empty")]
    pub series: Series,
    /// The jobs of a task, in the order in which they were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
    /// The events within the last of the jobs that told any, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<JobEvent>,
    /// The calls of a function, in the order in which they were offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// The lives of its instances, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// The states of a player, in the order in which they were due.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<Arrival>,
    /// The steadiness of throughput, and the part of the window that the figures are of; none if it is too short to
    /// tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<Steadiness>,
    /// The disturbance after the window; none where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbance: Option<Disturbance>,
    /// The output of its runs, where all contenders are to write the same; none elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Written>,
    /// Histograms by name; in the store only.
    #[serde(skip)]
    pub histograms: BTreeMap<String, Histogram>,
}

/// A part of a trial, such as a step of its load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialPart {
    /// The value of the axis that is swept within the trial.
    pub at: AxisValue,
    /// Metrics of the part by name.
    pub metrics: BTreeMap<String, f64>,
    /// Metrics that it has too few requests for, and how many more those would take.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub needs: Needs,
}

/// A job of a task: the repetitions within a process. The processes are the trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// From the writing of the request to the worker's word that the job is done, by kumite's clock.
    pub elapsed_ms: f64,
    /// The worker's own time.
    pub worker_elapsed_ms: f64,
    /// True if it was given to warm the worker up: then it counts in no figure but `first_elapsed_ms`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// Metrics that the worker gave with its answer, by name; none of a job that was given to warm it up.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
}

/// Something that happened within a job: when, counted from the job's beginning by the worker's clock, in ns; on which
/// thread; of which kind (`subscribe`, `next`, `complete`, `tick` …); to what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobEvent(pub u64, pub String, pub String, pub String);

/// Failures by kind.
pub type Errors = BTreeMap<String, u64>;

/// Metrics that cannot be given, and how many more requests a trial would have to have for them.
pub type Needs = BTreeMap<String, u64>;

/// How a trial would have enough values for a metric that it has too few for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Enough {
    /// How many it has.
    pub have: u64,
    /// The parameter that would have to be larger.
    pub parameter: String,
    /// How large: by what the trial has, with a fifth more in reserve.
    pub value: f64,
}

/// The steadiness of a trial. Times count from the window's opening, in milliseconds; below 0 is the warm-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Steadiness {
    /// The course of throughput, from the start of the load to the window's end.
    pub class: SteadyClass,
    /// When it became steady; none if it did not.
    pub since_ms: Option<i64>,
    /// When its level changed.
    pub changes_ms: Vec<i64>,
    /// From when to the window's end the figures are: `throughput_rps`, `response_*` and `cpu_cores`. The window's opening
    /// or the beginning of what is steady, whichever is later; the opening, if nothing is.
    pub used_from_ms: u64,
}

/// The course of throughput, by the classes of Barrett et al. 2017.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyClass {
    /// Throughput was steady from the start of the load.
    Flat,
    /// It became so, and was never better before.
    WarmUp,
    /// It became so, and had been better before.
    Slowdown,
    /// It changed until too near the window's end.
    NoSteadyState,
    /// Of a cell only: its trials are of several classes.
    Inconsistent,
}

impl SteadyClass {
    /// The word used in files.
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

/// A disturbance after the window, to see how the contender recovers. Times count from the window's opening, in
/// milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// `pause`, `burst`, or `drop`: the load in steps fell to a low rate.
    pub kind: String,
    /// When it began: when the window closed.
    pub began_ms: f64,
    /// When it was over: the contender was resumed, or the last connection of the burst was begun; of a drop at once.
    pub ended_ms: f64,
    /// The moment that recovery counts from: the later of `ended_ms` and the first failure since `began_ms`; of a
    /// drop `began_ms`.
    pub since_ms: f64,
    /// When watching the contender ended.
    pub until_ms: f64,
    /// Right answers from `began_ms` to `until_ms`.
    pub ok: u64,
    /// Failures from `began_ms` to `until_ms`, by kind.
    pub errors: Errors,
    /// Right answers among the requests of a burst's own connections.
    pub burst_ok: u64,
    /// The requests of the burst that failed.
    pub burst_errors: u64,
}

/// Columns of equal length, one row for each interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Length of an interval.
    pub interval_ms: u64,
    /// When the first interval begins, counted from the window's opening: below 0, the warm-up is in it too.
    #[serde(default)]
    pub start_ms: i64,
    /// When the window closes. What comes later is the disturbance and what followed.
    #[serde(default)]
    pub window_ms: f64,
    /// Columns by name (`ok`, `errors`, `response_mean_us`, `cpu_cores` …). An interval without a value has none.
    pub columns: BTreeMap<String, Vec<Option<f64>>>,
}

impl Series {
    /// True if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}
