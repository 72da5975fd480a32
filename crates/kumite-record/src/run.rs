//! All that holds for every trial of a run: what was asked, how it was measured, and how the run ended.
//!
//! It is all that is needed to take a run up again, to judge it anew, and to refuse what cannot be joined with it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AxisValue, Control, Kind, Merged, Metric, NoiseFloor, OtherVersion, Point, RoleElsewhere, Rule, Shard,
    Sitting, Unit,
};

/// One execution of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Unique; begins with the date, so that runs sort by age.
    #[serde(deserialize_with = "crate::id::id")]
    pub id: String,
    /// The experiment's name, which is its folder's.
    pub experiment: String,
    /// The experiment as it was typed: a name, or the way to a folder.
    #[serde(default)]
    pub experiment_given: String,
    /// The kind of workload of all trials: `http`, `task`, …
    pub kind: Kind,
    /// The profile that was chosen.
    pub profile: String,
    /// The value of kumite's `MEASURES` when its trials were made: figures of two runs belong together only if theirs
    /// are equal. None in a run from before it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<u32>,
    /// Orders the blocks and seeds the resampling; the same seed repeats both.
    pub seed: u64,
    /// When the run began.
    pub started: Timestamp,
    /// When it ended; none while it runs or if it was killed.
    pub finished: Option<Timestamp>,
    /// The reason that it ended before its plan did; none if it did not.
    pub cut_short: Option<String>,
    /// When it was taken up again after it had ended early: the blocks of these moments are not back to back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Timestamp>,
    /// The command that repeats it.
    pub command: String,
    /// The version of kumite that made the run.
    pub kumite: String,
    /// Versions of parts of it that are not those of its first part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_versions: Vec<OtherVersion>,
    /// The question, and who argued it.
    pub question: Question,
    /// The parameters of the workload after the profile. One that is an axis too is that axis's default.
    pub workload: BTreeMap<String, AxisValue>,
    /// The points of the plan, in the order of the axes.
    pub points: Vec<Point>,
    /// The contenders that are tried at each of `points`; none of this where all are tried everywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contenders_at: Vec<Vec<String>>,
    /// The points among them that this machine cannot measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
    /// The services beside the contenders, the same in each trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// The axis that each trial sweeps within itself, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// How many of its values trials at each of `points` have; none of this where all have all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within_at: Vec<usize>,
    /// The things that this machine did not let kumite do to contenders, such as limit their memory, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<String>,
    /// The metrics of trials, in the order in which they are shown. A metric that is not here is one of an older
    /// kumite: it is shown last, by the unit that its name ends in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// The metrics of parts of trials; empty where no axis is swept within trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub part_metrics: Vec<Metric>,
    /// How many blocks were planned at each point, at most.
    pub blocks: u32,
    /// How many blocks each point gets even if no verdict needs them.
    #[serde(default)]
    pub min_blocks: u32,
    /// Ratios of at most this much are no difference, in percent.
    #[serde(default)]
    pub margin_percent: f64,
    /// The claims of the experiment that its profile does not judge, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_judged: Vec<String>,
    /// The rule by which its claims are judged.
    #[serde(default)]
    pub rule: Rule,
    /// The contender that stands in each block twice; none where there is no such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// The trials that were not made because verdicts came early; none if all were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
    /// The last self-check of this machine when the run began; none if `kumite selfcheck` had not measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<NoiseFloor>,
    /// The experiment file, word for word.
    pub spec: String,
    /// The figures that were published, to be shown beside the estimates; never compared with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// The parts of it that other nodes have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleElsewhere>,
    /// The share of the plan that this run is; none of a whole one. Claims are judged when all shares are merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The sittings that it is judged by; empty where each round counts alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sittings: Vec<Sitting>,
    /// The runs that this one was merged from; none of a run that was measured as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Merged>,
}

impl Run {
    /// How a cell is called: the contender, and where it was tried as far as that is not the default.
    pub fn cell(&self, contender: &str, point: &Point) -> String {
        let place = self.place(point);
        if place.is_empty() { contender.to_owned() } else { format!("{contender} at {place}") }
    }

    /// A point as far as it is not the default.
    pub fn place(&self, point: &Point) -> Point {
        let told = point.0.iter().filter(|(axis, value)| self.parameter(axis) != Some(value));
        Point(told.map(|(axis, value)| (axis.clone(), value.clone())).collect())
    }

    /// The value of a parameter that is no axis here, or the default of one that is. An axis within trials has none.
    pub fn parameter(&self, name: &str) -> Option<&AxisValue> {
        let is_inner = self.within.as_ref().is_some_and(|within| within.axis == name);
        self.workload.get(name).filter(|_| !is_inner)
    }

    /// The unit of a metric: as it was declared, else by the end of its name.
    pub fn unit(&self, metric: &str) -> Unit {
        let declared = self.metrics.iter().chain(&self.part_metrics).find(|of| of.name == metric);
        declared.map_or_else(|| Unit::of_name(metric).unwrap_or(Unit::Number), |of| of.unit)
    }

    /// The margin, as a share.
    pub fn margin(&self) -> f64 {
        self.margin_percent / 100.0
    }

    /// True if the plan has this contender at the point with this position in `points`.
    pub fn plans(&self, contender: &str, point: usize) -> bool {
        self.contenders_at.get(point).is_none_or(|names| names.iter().any(|name| name == contender))
    }

    /// Why this machine cannot measure a point, if it cannot.
    pub fn unavailable(&self, point: &Point) -> Option<&str> {
        self.unavailable.iter().find(|other| other.point == *point).map(|other| other.why.as_str())
    }

    /// Makes the id of a run that begins then: the second, and a few letters so that two of one second differ.
    pub fn new_id(started: Timestamp) -> String {
        format!("{}-{:04x}", started.strftime("%Y%m%d-%H%M%S"), (started.subsec_nanosecond() / 1000) & 0xffff)
    }
}

/// An axis that is swept within each trial, one value after the other, such as the steps of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Within {
    /// Its name, as claims have it.
    pub axis: String,
    /// Its values, in the order in which they come.
    pub values: Vec<AxisValue>,
}

/// A point that this machine cannot measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unavailable {
    /// The point that cannot be measured on this machine.
    pub point: Point,
    /// The thing that is missing, in words.
    pub why: String,
}

/// A program beside the contenders, which all of them use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Service {
    /// The name that the experiment gives it.
    pub name: String,
    /// The kind of service: `postgresql`, `stub`, …
    pub kind: String,
    /// The version of its program.
    pub version: String,
}

/// Trials that were not made because no verdict needed them any more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saved {
    /// The number of planned trials that were not needed.
    pub trials: usize,
    /// About how long they would have taken.
    pub seconds: f64,
    /// True if every claim that can be decided was; else the run went on to its last block.
    pub decided: bool,
}

/// An experiment's question and where it was argued.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question, one sentence.
    pub text: String,
    /// The published argument; none where nobody argued it.
    pub source: Option<Source>,
}

/// The published argument that the experiment settles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Title of the article or talk.
    pub title: String,
    /// The author's name, as published.
    pub author: String,
    /// The year it was published, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    /// Parameters as the source had them, where that is known and makes a difference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workload: BTreeMap<String, AxisValue>,
}

/// Published figures of other machines: they are shown, never compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// How they came about, and what is doubtful about them.
    pub note: String,
    /// The axes by which our cells are put beside them.
    pub beside: Vec<String>,
    /// The series that stand for the others; all, if there are none.
    pub main: Vec<String>,
    /// The published figures, a row for each series, contender and point.
    pub rows: Vec<PublishedRow>,
}

/// The published figures of one contender under one condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRow {
    /// The run of the source that it is from.
    pub series: String,
    /// The contender of ours that it is set beside.
    pub contender: String,
    /// Under which values of `beside`.
    pub point: Point,
    /// The figures, under our names for them.
    pub metrics: BTreeMap<String, f64>,
}

/// A contender as the run found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contender {
    /// Unique within the experiment.
    pub name: String,
    /// The concurrency model, one of the list in docs/contenders.md.
    pub model: String,
    /// The output of its `version` command: the receipt that it is built and runs. None if it gave none.
    pub version: Option<String>,
    /// Digests of its files and tools; none if it was not built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digests: Option<Digests>,
    /// Its part in the run.
    pub status: ContenderStatus,
    /// The reason that the contender took no part; none where it did.
    pub reason: Option<String>,
}

/// Digests of a contender's files and tools. Trials of two runs are of the same contender only if `source` is equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Digests {
    /// Of its files and of the command that builds it: the same on every machine.
    pub source: String,
    /// A digest of the versions that its tools say.
    pub tools: String,
}

/// A contender's part in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContenderStatus {
    /// It was built and given trials.
    Ran,
    /// It was left out, by a flag or for want of a tool.
    Skipped,
    /// Its build or version command failed.
    Failed,
}

impl ContenderStatus {
    /// The word used in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            ContenderStatus::Ran => "ran",
            ContenderStatus::Skipped => "skipped",
            ContenderStatus::Failed => "failed",
        }
    }
}
