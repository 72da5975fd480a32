//! A whole run in one document, which is all that a report reads.
//!
//! Its form has the version [`SCHEMA`](crate::SCHEMA). Within a version fields are only added, and each of those is optional.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Check, Claim, Contender, Estimate, Machine, Needs, Point, Run, RunGate, SCHEMA, SteadyClass, Trial,
    Warning,
};

/// A whole run as one document: what `kumite export` writes and what every report is made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Export {
    /// The version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The question, and how it was measured.
    pub run: Run,
    /// The machine that the run was executed on; of a merged run `run.merged` has all of them.
    pub machine: Machine,
    /// Every contender of the experiment, those that did not take part included.
    pub contenders: Vec<Contender>,
    /// Estimates for each contender at each point.
    pub cells: Vec<Cell>,
    /// Estimates for the parts of trials, where an axis is swept within them: for each contender at each point with each
    /// value of that axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Cell>,
    /// The claims with their verdicts, in the order of the experiment.
    pub claims: Vec<Claim>,
    /// The checks with the run's answers, in the order of the experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The answer of `--gate`; none without that flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<RunGate>,
    /// Doubts about the run or its cells; empty where there are none.
    pub warnings: Vec<Warning>,
    /// The raw record that all of the above can be computed from again.
    pub trials: Vec<Trial>,
}

/// A contender at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The contender's name.
    pub contender: String,
    /// The point; each cell of a contender has another.
    pub point: Point,
    /// How many trials it was given.
    pub trials: u32,
    /// How many of them gave a wrong answer.
    pub disqualified: u32,
    /// How many of them failed to run.
    pub failed: u32,
    /// How many of the others carry a mark.
    pub marked: u32,
    /// Estimates over blocks by metric.
    pub metrics: BTreeMap<String, Estimate>,
    /// Metrics that some of its trials have too few requests for, and how many more the one with the fewest would have to
    /// have. They have no estimate: a median over those trials that have enough would favour the fast ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub needs: Needs,
    /// Steadiness over its trials; none if no trial tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<CellSteadiness>,
}

/// The steadiness of a cell's trials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellSteadiness {
    /// The class that all of them have, or `inconsistent`.
    pub class: SteadyClass,
    /// How many of them have each class.
    pub trials: BTreeMap<SteadyClass, u32>,
}
