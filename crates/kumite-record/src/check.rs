//! A check with the answer that a run found. It is about the measurement; no contender passes or fails it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EffectKind, Reason, Unit};

/// A property of the measurement that must hold whatever the contenders are, with the run's answer. A red check is a
/// doubt about every verdict that rests on the same cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The check's id, unique among the claims and checks of the experiment.
    pub id: String,
    /// The check in the claim grammar.
    pub assert: String,
    /// The check in plain words. None if the experiment gives none.
    pub title: Option<String>,
    /// The figures that the check binds: the trials of every round, or the median over blocks.
    pub binds: Binds,
    /// The reason why the check must hold and, if it has a band (`within 5 % of`), why within this band: in the
    /// experiment's words.
    pub because: String,
    /// The run's answer, over all comparisons of the check.
    pub outcome: CheckOutcome,
    /// The number of comparisons that are true.
    pub green: usize,
    /// The number of all comparisons of the check, without those at points that this machine cannot measure.
    pub of: usize,
    /// The comparisons that are not true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red: Vec<RedComparison>,
    /// The reason why the first of the untested comparisons was not tested, or why a part of the check has no
    /// comparison. None if all were tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// The figures that a check binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Binds {
    /// The check must be true in every round: for example counts, or a physical lower limit.
    Trials,
    /// The median effect over blocks must be as the check says: for example that two ways to measure agree.
    Median,
}

/// A run's answer to a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// Every comparison of the check was tested and is true.
    Green,
    /// Some comparison of the check is not true: a doubt about each verdict that rests on the same cells.
    Red,
    /// No comparison of the check is untrue, but at least one was not tested, or a part of the check has none.
    /// `reason` says why.
    NotTested,
}

impl CheckOutcome {
    /// The word for the outcome in files.
    pub fn as_str(self) -> &'static str {
        match self {
            CheckOutcome::Green => "green",
            CheckOutcome::Red => "red",
            CheckOutcome::NotTested => "not-tested",
        }
    }
}

/// A comparison of a check that is not true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RedComparison {
    /// The comparison in the words of the check, with the values that its `every`s have set.
    pub comparison: String,
    /// The number of rounds in which the comparison is not true.
    pub violated: usize,
    /// The number of rounds in which the comparison was measured.
    pub rounds: usize,
    /// The effect that is furthest from that of equal sides, of the rounds in which the comparison is not true; if
    /// the check binds the median, the median effect of all rounds.
    pub effect: f64,
    /// The form of `effect`: left over right, or left less right.
    pub effect_kind: EffectKind,
    /// The unit of `effect` if it is a difference. Without meaning if it is a ratio.
    pub effect_unit: Unit,
}
