//! The document of `kumite load --slo`: whether a server meets an objective at a rate, judged over whole loads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{GateBar, GateState, RateTrial};

/// The result of judging an objective at a rate: the document that `kumite load --slo --json` writes.
///
/// The claim is *more than half of such loads meet the objective*. Each load is one observation, however many requests
/// it has: slices of one load have their slow moments in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SloResult {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command line that repeats the loads.
    pub command: String,
    /// The URLs of the requests, as they were typed, with a space between two.
    pub url: String,
    /// The objective that a load had to meet, as it was typed.
    pub slo: String,
    /// The rate of each load, in requests a second; with `of_sessions` in sessions.
    pub rate_rps: f64,
    /// True if rates are in sessions a second, and not in requests: a session has several steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_sessions: bool,
    /// The number of connections of each load.
    pub connections: u64,
    /// The length of each load, in seconds.
    pub load_s: f64,
    /// The time of all loads together and of what was between them, in seconds.
    pub seconds: f64,
    /// The most loads that were to be made.
    pub repeat: u64,
    /// The allowed probability of a false verdict, from 0 to 1, however often the verdict is looked at. A verdict is
    /// given once the wealth that speaks for it is 1 / alpha or more.
    pub alpha: f64,
    /// The verdict on the claim that more than half of such loads meet the objective.
    pub verdict: SloVerdict,
    /// The reason why no further load was made.
    pub ended: SloEnd,
    /// The number of loads that met the objective.
    pub met: u64,
    /// The number of loads that did not meet the objective, by the server's fault.
    pub unmet: u64,
    /// The number of loads that say nothing about the server, for the reasons in `loads[i].void`. They count against
    /// either verdict.
    pub void: u64,
    /// The wealth of a gambler who began with 1 and bet, load after load, that more than half of the loads meet the
    /// objective.
    pub wealth_holds: f64,
    /// The wealth of a gambler who began with 1 and bet, load after load, that more than half of the loads do not meet
    /// the objective.
    pub wealth_fails: f64,
    /// The gate, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<SloGate>,
    /// Every load, in the order in which they were made.
    pub loads: Vec<RateTrial>,
}

/// The verdict on the claim that more than half of the loads meet an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SloVerdict {
    /// More than half of such loads are shown to meet the objective.
    Holds,
    /// No more than half of such loads are shown to meet the objective.
    Fails,
    /// Neither is shown: there were too few loads, or they did not agree.
    Undecided,
}

/// The reason why no further load was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SloEnd {
    /// The verdict is shown.
    Decided,
    /// The loads that were left, if any, could not have led to a verdict, even if all of them had gone alike.
    OutOfLoads,
    /// The command was told to stop.
    Interrupted,
}

/// The gate of an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SloGate {
    /// The bar that `--gate` chose: how much must be shown to pass.
    pub passes: GateBar,
    /// Open if the verdict is `holds`, shut if it is `fails`, else undecided.
    pub state: GateState,
}

impl SloVerdict {
    /// The state of a gate with this verdict: open if it holds, shut if it fails, else undecided.
    pub fn gate(self) -> GateState {
        match self {
            SloVerdict::Holds => GateState::Open,
            SloVerdict::Fails => GateState::Shut,
            SloVerdict::Undecided => GateState::Undecided,
        }
    }
}
