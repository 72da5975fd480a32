//! A whole run in one document. Every report is made from it alone.
//!
//! The document's form has the version [`SCHEMA`]. Within a version fields are only added, and each
//! added field is optional.

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
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// The plan of the run, how it was measured, and how it ended.
    pub run: Run,
    /// The machine that the run was executed on. For a merged run, `run.merged` has all of its machines.
    pub machine: Machine,
    /// Every contender of the experiment, those that did not take part included.
    pub contenders: Vec<Contender>,
    /// Estimates for each contender that took part, at each point that is planned for it and can be measured.
    pub cells: Vec<Cell>,
    /// Estimates for the parts of trials, if an axis is swept within them: one cell for each contender, point and
    /// value of that axis. Empty if none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Cell>,
    /// The claims with their verdicts, in the order of the experiment.
    pub claims: Vec<Claim>,
    /// The checks with the run's answers, in the order of the experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The answer of `--gate`. None without that flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<RunGate>,
    /// Doubts about the run or its cells; empty where there are none.
    pub warnings: Vec<Warning>,
    /// The trials: the raw record from which estimates, verdicts and checks can be computed again.
    pub trials: Vec<Trial>,
}

/// A contender at a point, with its estimates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The contender's name.
    pub contender: String,
    /// The point. No two cells of a contender have the same one.
    pub point: Point,
    /// The number of the contender's trials at the point that count: none of a void attempt is among them.
    pub trials: u32,
    /// The number of the cell's trials with a wrong answer.
    pub disqualified: u32,
    /// The number of the cell's trials that failed to run.
    pub failed: u32,
    /// The number of marked trials among those that neither failed nor gave a wrong answer.
    pub marked: u32,
    /// The estimates over blocks, by metric.
    pub metrics: BTreeMap<String, Estimate>,
    /// The metrics for which some of the trials have too few values, such as requests, with the number of further
    /// values that the trial with the fewest needs. They have no estimate: a median over the other trials would
    /// favour fast ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub needs: Needs,
    /// The steadiness of the cell's trials. `None` if no trial has a steadiness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<CellSteadiness>,
}

/// The steadiness of a cell's trials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellSteadiness {
    /// The class that all of the trials have, or `inconsistent`.
    pub class: SteadyClass,
    /// The number of trials in each class.
    pub trials: BTreeMap<SteadyClass, u32>,
}
