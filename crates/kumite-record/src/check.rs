//! A check, with what a run found of it. It is about the measurement; no contender passes or fails it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EffectKind, Reason, Unit};

/// A property that must hold whatever the contenders are, and the run's answer. A red check is a doubt about every
/// verdict that rests on the same cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Unique among the claims and checks of the experiment.
    pub id: String,
    /// The check in the claim grammar.
    pub assert: String,
    /// The check in plain words, where the experiment gives them.
    pub title: Option<String>,
    /// The quantity it is compared with.
    pub binds: Binds,
    /// Why the check must hold, and why within its band if it has one, as the experiment says it.
    pub because: String,
    /// The run's answer, over all comparisons.
    pub outcome: CheckOutcome,
    /// The number of comparisons that are so.
    pub green: usize,
    /// The number of all comparisons of the check.
    pub of: usize,
    /// The comparisons that are not so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red: Vec<RedComparison>,
    /// Why the first of those that were not tested was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// The quantity a check is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Binds {
    /// The trials of every round: counts, floors.
    Trials,
    /// The median over blocks of the effect: two ways to measure that agree.
    Median,
}

/// A run's answer to a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// The check is met.
    Green,
    /// It is not so: a finding, and a doubt about verdicts that rest on the same cells.
    Red,
    /// Something that it needs was not measured.
    NotTested,
}

impl CheckOutcome {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            CheckOutcome::Green => "green",
            CheckOutcome::Red => "red",
            CheckOutcome::NotTested => "not-tested",
        }
    }
}

/// A comparison of a check that is not so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RedComparison {
    /// In the words of the check, with what its `every`s have set.
    pub comparison: String,
    /// The number of rounds in which the comparison is not so.
    pub violated: usize,
    /// The rounds in which the comparison was measured at all.
    pub rounds: usize,
    /// How far off it is: in the round that is furthest off where trials are bound, else by the median.
    pub effect: f64,
    /// The form of the effect: left over right, or left less right.
    pub effect_kind: EffectKind,
    /// The unit of `effect` where it is a difference; without meaning where it is a ratio.
    pub effect_unit: Unit,
}
