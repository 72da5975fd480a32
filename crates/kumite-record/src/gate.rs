//! The answer of `--gate`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Remaining;

/// The bar of a gate: the states that it lets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateBar {
    /// Whatever is not shown to fail: the gate passes unless it is shut.
    Fails,
    /// Only what is shown to hold: the gate passes if it is open.
    Holds,
}

impl GateBar {
    /// True if a gate in this state lets pass.
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
    /// All was shown to be well.
    Open,
    /// Something was shown not to be.
    Shut,
    /// Nothing is decided: neither open nor shut.
    Undecided,
}

impl GateState {
    /// The word used in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            GateState::Open => "open",
            GateState::Shut => "shut",
            GateState::Undecided => "undecided",
        }
    }

    /// Of several: shut if one is, open if all are.
    pub fn of_all(states: impl IntoIterator<Item = GateState>) -> GateState {
        states.into_iter().fold(GateState::Open, |all, one| match (all, one) {
            (GateState::Shut, _) | (_, GateState::Shut) => GateState::Shut,
            (GateState::Open, GateState::Open) => GateState::Open,
            _ => GateState::Undecided,
        })
    }
}

/// The gate of a comparison: whether nobody is slower than the reference by more than the margin; or, if metrics were named,
/// uses more of one of them by more than the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonGate {
    /// The bar that was chosen by the flag.
    pub passes: GateBar,
    /// Shut if one of `pairs[i].gate` is; open if all are, and the comparison came to its end.
    pub state: GateState,
}

/// The same of one pair, by its `ratio`; of all its `metrics`, if they were named; or of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairGate {
    /// Shut if the whole interval is below 1 / (1 + margin), open if none of it is.
    pub state: GateState,
    /// The estimated way to a decision; none where the gate is decided, or no realistic number of blocks would decide
    /// it.
    pub remaining: Option<Remaining>,
}

/// The gate of a run: whether its claims, its checks and its contenders pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunGate {
    /// The bar that was chosen by the flag.
    pub passes: GateBar,
    /// Shut by a claim or a check that does not pass, or was not tested, and by a contender that is missing, failed or
    /// answered wrong.
    pub state: GateState,
    /// The reasons that it is shut, or else undecided; empty if it is open.
    pub because: Vec<GateReason>,
    /// The reasons that would have counted, too, and were let pass by their names (`--gate-allow`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<GateReason>,
}

/// Something that does not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateReason {
    /// The claim, the check or the contender.
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
