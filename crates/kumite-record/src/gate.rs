//! The answer of `--gate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::left_out::is_false;
use crate::{CommandMetric, Ratio, Remaining};

/// The bar of a gate: how much must be shown for it to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateBar {
    /// The gate passes unless something was shown to fail: unless it is shut.
    Fails,
    /// The gate passes only if everything was shown to hold: only if it is open.
    Holds,
}

impl GateBar {
    /// True if a gate in this state passes by this bar.
    pub fn passes(self, state: GateState) -> bool {
        match self {
            GateBar::Fails => state != GateState::Shut,
            GateBar::Holds => state == GateState::Open,
        }
    }
}

/// The state of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateState {
    /// Everything was shown to be as it should be.
    Open,
    /// Something was shown not to be as it should be.
    Shut,
    /// Neither was shown.
    Undecided,
}

impl GateState {
    /// The word for the state in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            GateState::Open => "open",
            GateState::Shut => "shut",
            GateState::Undecided => "undecided",
        }
    }

    /// The state of several gates together: shut if one is, open if all are or there are none, else undecided.
    pub fn of_all(states: impl IntoIterator<Item = GateState>) -> GateState {
        states.into_iter().fold(GateState::Open, |all, one| match (all, one) {
            (GateState::Shut, _) | (_, GateState::Shut) => GateState::Shut,
            (GateState::Open, GateState::Open) => GateState::Open,
            _ => GateState::Undecided,
        })
    }
}

/// The gate of a comparison. It asks whether every command or server is no slower than the reference by more than the
/// margin; if metrics were named, whether none is worse by more than the margin in any of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonGate {
    /// The bar that `--gate` chose: how much must be shown to pass.
    pub passes: GateBar,
    /// Shut if one of `pairs[i].gate` is, or with `by_failures` if one of `pairs[i].failures` has the verdict `more`.
    /// Open if all gates are, and the comparison neither failed nor was interrupted.
    /// Else undecided.
    pub state: GateState,
    /// The allowed probability, from 0 to 1, that the gate is shut by mistake, and likewise that it is opened by
    /// mistake: over all pairs, metrics and looks together. `None` if an older kumite wrote the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The one metric that `--gate-on` named. None if the gate is by each of `metrics` or, if none was named, by wall
    /// time or throughput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<CommandMetric>,
    /// True if the gate is decided by instruction counts alone. Then `alpha` is the level of `by_failures`, because
    /// counts have no probability of error.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_counts: bool,
    /// True if a command that fails more often than the reference shuts the gate, too. This question shares the level.
    /// False without `--ignore-failure`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_failures: bool,
}

/// The gate of one pair: by one metric, or by all metrics that the gate is on. With several metrics each has a gate of
/// its own, too.
///
/// The reference stands in each block twice, except with `--duet`. A state of the gate has to be shown against each of
/// its two runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairGate {
    /// Shut if `a` is shown to be slower than each run of the reference by more than the margin. Open if `a` is shown
    /// not to be slower than either by more than the margin. Undecided otherwise, and if the two runs of the reference
    /// differ so much that the gate cannot be decided (see `doubt`). If the gate is by several metrics: shut if the
    /// gate of one is, open if all are, else undecided.
    pub state: GateState,
    /// The reason why the gate cannot be decided, or the doubt that remains although it is shut. `None` without such a
    /// reason or doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<GateDoubt>,
    /// The value of `b` divided by that of `a`, by the run of the reference that is nearest to the margin. Each end of
    /// the interval is wrong with at most the probability that the gate allows for one pair and metric. `None` if the
    /// gate is by several metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// The number of blocks in which the ratio may lie on either side of the margin, because a reading is only a bound.
    /// If these are at least half of the blocks, the comparison does not wait for the gate. 0 if the gate is by several
    /// metrics.
    #[serde(default, skip_serializing_if = "is_nought")]
    pub untold: usize,
    /// The estimated further effort until the gate is decided. None if it is decided, or if no realistic number of
    /// blocks would decide it.
    pub remaining: Option<Remaining>,
}

fn is_nought(count: &usize) -> bool {
    *count == 0
}

/// The doubt that the reference's two runs in each block leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateDoubt {
    /// The gate cannot be decided: the reference's two runs differ from each other by more than chance (tested at 1 %),
    /// and `a` is not slower by clearly more than that.
    ControlIsOff,
    /// The gate cannot be decided: `a` is slower by more than the margin than one of the reference's two runs, and is
    /// not shown to be slower than the other.
    SlowerThanOneOnly,
    /// The gate is shut, because `a` is slower than each run of the reference. But by their 95 % interval, the
    /// reference's two runs may be as far from each other.
    NotClearOfControl,
}

impl PairGate {
    /// A gate in this state, without doubt, ratio or estimate of the further effort.
    pub fn of(state: GateState) -> PairGate {
        PairGate { state, doubt: None, ratio: None, untold: 0, remaining: None }
    }
}

/// The gate of a run. It asks that the run's claims, checks and contenders pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunGate {
    /// The bar that `--gate` chose: how much must be shown to pass.
    pub passes: GateBar,
    /// Shut by a claim that fails or was not tested; with the bar `holds` by one that shows no difference; by a check
    /// that is red or was not tested; and by a contender that is missing, failed in a trial, or gave a wrong answer
    /// that no claim foretold. Else undecided if a claim is undecided, depends on the sitting, or has a verdict that
    /// this kumite does not know. Else open. Names in `--gate-allow` are passed over.
    pub state: GateState,
    /// The reasons that the gate is shut or, if it is not, undecided; empty if it is open.
    pub because: Vec<GateReason>,
    /// The reasons that would have shut the gate or left it undecided, and that `--gate-allow` passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<GateReason>,
}

/// A claim, a check or a contender that does not pass a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateReason {
    /// The id of the claim or check, or the name of the contender.
    pub name: String,
    /// The reason in a sentence.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::GateState::{Open, Shut, Undecided};
    use super::*;

    #[test]
    fn one_that_is_shut_shuts_all_and_all_open_it() {
        for (states, all) in [
            (&[][..], Open),
            (&[Open, Open], Open),
            (&[Open, Undecided], Undecided),
            (&[Undecided, Open], Undecided),
            (&[Undecided, Shut], Shut),
            (&[Shut, Undecided, Open], Shut),
        ] {
            assert_eq!(GateState::of_all(states.iter().copied()), all, "{states:?}");
        }
        let passing = |bar: GateBar| [Open, Shut, Undecided].map(|state| bar.passes(state));
        assert_eq!(passing(GateBar::Fails), [true, false, true]);
        assert_eq!(passing(GateBar::Holds), [true, false, false]);
    }
}
