//! The parts of a run that hold for all of its trials: the question, how it was measured, and how the run ended.
//!
//! They are all that is needed to resume a run, to judge it again, and to refuse runs that cannot be joined with it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AxisValue, Control, FileDigests, Kind, Labels, Merged, Metric, NoiseFloor, OtherVersion, Point,
    RoleElsewhere, Rule, Shard, Sitting, Unit,
};

/// One execution of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The run's id, which is unique. It begins with the date and the second, so that ids sort by age.
    #[serde(deserialize_with = "crate::id::id")]
    pub id: String,
    /// The experiment's name, which is that of its folder.
    pub experiment: String,
    /// The experiment as it was typed: a name, or the path of a folder.
    #[serde(default)]
    pub experiment_given: String,
    /// The kind of workload of all trials: `http`, `task`, …
    pub kind: Kind,
    /// The profile that was chosen.
    pub profile: String,
    /// The value of kumite's `MEASURES` when the trials were made. Figures of two runs belong together only if theirs
    /// are equal. None for a run of a kumite that did not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<u32>,
    /// The seed of the blocks' order and of resampling. The same seed repeats both.
    pub seed: u64,
    /// The time at which the run began.
    pub started: Timestamp,
    /// The time at which the run ended. None while it goes on, and if it was killed.
    pub finished: Option<Timestamp>,
    /// The reason why the run ended early, such as its budget or an interruption. `None` if it did not end early; a run
    /// whose verdicts came early did not.
    pub cut_short: Option<String>,
    /// The times at which the run was resumed after an early end. The trials of the block that was interrupted are not
    /// back to back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<Timestamp>,
    /// The command line that repeats the run.
    pub command: String,
    /// The version of kumite that made the run.
    pub kumite: String,
    /// The versions in later parts of the run that differ from those of its first part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_versions: Vec<OtherVersion>,
    /// The question, and the published argument that it comes from.
    pub question: Question,
    /// The parameters of the workload, with the profile's changes. The value of one that is an axis, too, is that
    /// axis's default.
    pub workload: BTreeMap<String, AxisValue>,
    /// The texts that labels of axis values stand for, by axis and label. Points and claims have the labels. Empty if
    /// no axis has labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: Labels,
    /// The digests of the files with the bodies and the rows that requests send. Empty if there are no such files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: FileDigests,
    /// The points of the plan, in the order of the axes.
    pub points: Vec<Point>,
    /// For each of `points`, in their order, the names of the contenders that are tried there. Empty if all are tried
    /// everywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contenders_at: Vec<Vec<String>>,
    /// The points that this machine cannot measure, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
    /// The services beside the contenders, which are the same in each trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// The axis that each trial sweeps within itself. None if trials sweep none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// For each of `points`, in their order, how many of the values in `within` a trial there sweeps, counted from
    /// the first value. Empty if all trials sweep all values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within_at: Vec<usize>,
    /// The limits and counts that this machine refused to kumite, such as a limit on a contender's memory, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<String>,
    /// The metrics of trials, in the order in which they are shown. A figure whose metric is not among them is shown
    /// last, in the unit that its name ends in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// The metrics of parts of trials. Empty if no axis is swept within trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub part_metrics: Vec<Metric>,
    /// The largest number of blocks that was planned at each point.
    pub blocks: u32,
    /// The number of blocks that each point gets even if no verdict needs them.
    #[serde(default)]
    pub min_blocks: u32,
    /// The margin, in percent: sides that differ by no more are no different.
    #[serde(default)]
    pub margin_percent: f64,
    /// The ids of the experiment's claims that the profile does not judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_judged: Vec<String>,
    /// The rule by which the claims are judged.
    #[serde(default)]
    pub rule: Rule,
    /// The contender that has two trials in each block. None if the run has no control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// The two revisions of the contenders in a run of `--rev`, the earlier one first. The name of each contender ends
    /// in that of its revision. Empty if the contenders were those of the working tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<RunRevision>,
    /// The trials that were not made because verdicts came early. None if there are none, or if the run was cut
    /// short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<Saved>,
    /// The last self-check of this machine when the run began. None if there was none in the results store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<NoiseFloor>,
    /// The text of the experiment file, word for word.
    pub spec: String,
    /// Published figures, to be shown beside the estimates and never compared with them. None if the experiment gives
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// The roles that other nodes have in the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleElsewhere>,
    /// The share of the plan that this run is. None for a whole run. Claims are judged when all shards are merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The sittings that the run is judged by. Empty if the run is not judged by sittings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sittings: Vec<Sitting>,
    /// The runs that this one was merged from. None for a run that was measured as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Merged>,
}

/// A git revision of all contenders of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRevision {
    /// The revision as it was typed: `main`, `HEAD~1`, `main...HEAD`, `.`.
    pub name: String,
    /// The commit, in hexadecimal digits. For a working tree it is the commit on top of which the changes are.
    pub commit: String,
    /// The digest of the files of a working tree that differs from its commit. `None` for a commit, and for a working
    /// tree without changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
}

impl RunRevision {
    /// The revision in words: `main, commit 1f0c9d2ab03e`. If the working tree has changes, it says so.
    pub fn in_words(&self) -> String {
        let changed = if self.changed.is_some() { " with changes" } else { "" };
        format!("{}, commit {}{changed}", self.name, short_commit(&self.commit))
    }
}

/// The first 12 digits of a commit, for people; all of them if there are fewer. Two commits of one repository hardly
/// ever share them.
pub fn short_commit(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

impl Run {
    /// The name of a cell for people: the contender's name, and those values of the point that are not their axes'
    /// defaults: `a at connections=100`.
    pub fn cell(&self, contender: &str, point: &Point) -> String {
        let place = self.place(point);
        if place.is_empty() { contender.to_owned() } else { format!("{contender} at {place}") }
    }

    /// The part of a point that is worth telling: the values that are not their axes' defaults. Empty if all are.
    pub fn place(&self, point: &Point) -> Point {
        let told = point.0.iter().filter(|(axis, value)| self.parameter(axis) != Some(value));
        Point(told.map(|(axis, value)| (axis.clone(), value.clone())).collect())
    }

    /// The value of a parameter; for an axis, its default. None for a parameter without a value, and for an axis
    /// within trials.
    pub fn parameter(&self, name: &str) -> Option<&AxisValue> {
        let is_inner = self.within.as_ref().is_some_and(|within| within.axis == name);
        self.workload.get(name).filter(|_| !is_inner)
    }

    /// The unit of a metric: the declared one or, for an undeclared metric, the one that its name ends in, if any,
    /// else a plain number.
    pub fn unit(&self, metric: &str) -> Unit {
        let declared = self.metrics.iter().chain(&self.part_metrics).find(|of| of.name == metric);
        declared.map_or_else(|| Unit::of_name(metric).unwrap_or(Unit::Number), |of| of.unit)
    }

    /// The margin, as a share: 0.05 for 5 %.
    pub fn margin(&self) -> f64 {
        self.margin_percent / 100.0
    }

    /// True if the plan has this contender at the point with this position in `points`, counted from 0. True for any
    /// name if `contenders_at` is empty.
    pub fn plans(&self, contender: &str, point: usize) -> bool {
        self.contenders_at.get(point).is_none_or(|names| names.iter().any(|name| name == contender))
    }

    /// The reason why this machine cannot measure a point. None if it can.
    pub fn unavailable(&self, point: &Point) -> Option<&str> {
        self.unavailable.iter().find(|other| other.point == *point).map(|other| other.why.as_str())
    }

    /// Makes the id of a run that begins at this time: the date and the second, and four hexadecimal digits of the
    /// microsecond, so that two runs of one second hardly ever have the same.
    pub fn new_id(started: Timestamp) -> String {
        format!("{}-{:04x}", started.strftime("%Y%m%d-%H%M%S"), (started.subsec_nanosecond() / 1000) & 0xffff)
    }
}

/// An axis that is swept within each trial, one value after the other, such as the rates of a load in steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Within {
    /// The axis's name, as claims use it.
    pub axis: String,
    /// The axis's values, in the order in which they are swept.
    pub values: Vec<AxisValue>,
}

/// A point that this machine cannot measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unavailable {
    /// The point.
    pub point: Point,
    /// The reason, in words.
    pub why: String,
}

/// A service: a program beside the contenders, which all of them use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Service {
    /// The name that the experiment gives the service.
    pub name: String,
    /// The kind of service: `postgresql`, `stub`, …
    pub kind: String,
    /// The version of the service's program.
    pub version: String,
}

/// Trials that were not made because no verdict needed them any more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saved {
    /// The number of planned trials that were not needed.
    pub trials: usize,
    /// The estimated time that the trials would have taken, in seconds.
    pub seconds: f64,
    /// True if every claim that can be decided was. False if the run went on to its last block.
    pub decided: bool,
}

/// An experiment's question, and where it was argued.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question, one sentence.
    pub text: String,
    /// The published argument. None if nobody published one.
    pub source: Option<Source>,
}

/// The published argument that the experiment examines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Title of the article or talk.
    pub title: String,
    /// The author's name, as published.
    pub author: String,
    /// The year of publication. None if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
    /// The parameters that the source had, if they are known and make a difference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workload: BTreeMap<String, AxisValue>,
}

/// Published figures, measured on other machines. They are shown, and never compared with a run's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// The origin of the figures, and what is doubtful about them.
    pub note: String,
    /// The names of the axes by which cells of the run are put beside the figures.
    pub beside: Vec<String>,
    /// The names of the series that reports use for their main table and pictures. Empty for all series.
    pub main: Vec<String>,
    /// The published figures, a row for each series, contender and point.
    pub rows: Vec<PublishedRow>,
}

/// The published figures of one contender at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRow {
    /// The name of the series: the source's measurement that the figures are from.
    pub series: String,
    /// The name of the contender of the run that the figures are set beside.
    pub contender: String,
    /// The values of the axes in `beside` that the figures belong to.
    pub point: Point,
    /// The figures, by the names that kumite's metrics have.
    pub metrics: BTreeMap<String, f64>,
}

/// A contender as the run found it. The default is a contender without a name, with the status `ran`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contender {
    /// The contender's name, unique within the experiment.
    pub name: String,
    /// The contender's concurrency model, one of the list in docs/contenders.md.
    pub model: String,
    /// The output of the contender's `version` command: the receipt that it is built and runs. None if the contender
    /// took no part.
    pub version: Option<String>,
    /// Digests of the contender's files and tools. None if the contender took no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digests: Option<Digests>,
    /// The contender's part in the run.
    pub status: ContenderStatus,
    /// The reason why the contender took no part. None if it did.
    pub reason: Option<String>,
}

/// The digests of a contender's files and tools. Two runs have the same contender only if `source` is equal in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Digests {
    /// The digest of the contender's files and its build command. It is the same on every machine.
    pub source: String,
    /// The digest of the versions that the contender's tools print.
    pub tools: String,
}

/// The part that a contender had in the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContenderStatus {
    /// The contender was ready, and was given trials unless the run ended before.
    #[default]
    Ran,
    /// The contender was left out, by a flag, by the profile, or because it needs a tool that is missing.
    Skipped,
    /// The contender could not be built, or its version command failed.
    Failed,
}

impl ContenderStatus {
    /// The word for the part in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            ContenderStatus::Ran => "ran",
            ContenderStatus::Skipped => "skipped",
            ContenderStatus::Failed => "failed",
        }
    }
}
