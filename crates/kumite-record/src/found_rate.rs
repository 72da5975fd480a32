//! The document of `kumite load --find-rate`: the highest rate that a server sustains, and every trial of the search.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Errors;

/// The highest rate that a server sustains: the document that `kumite load --find-rate --json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundRate {
    /// The version of this form.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command that repeats it.
    pub command: String,
    /// The URL of each request.
    pub url: String,
    /// The objective that a trial had to meet, as it was typed.
    pub slo: String,
    /// Connections of each trial.
    pub connections: u64,
    /// The shortest time of a trial; low rates take longer ones, until a percentile has ten requests beyond it.
    pub trial_s: f64,
    /// Time of the whole search.
    pub seconds: f64,
    /// The time that it was given.
    pub budget_s: f64,
    /// The seed of all random choices of the search.
    pub seed: u64,
    /// How the search ended.
    pub ended: SearchEnd,
    /// The rate at which a trial meets the SLO in half of the trials, where it was found.
    pub rate_rps: Option<RateEstimate>,
    /// The answer of each repetition of the search, in their order, in requests a second: the geometric middle of a
    /// bracket of at most 2 %.
    pub answers_rps: Vec<f64>,
    /// The last rate at which a trial met the SLO: what is known where there is no answer.
    pub met_rps: Option<f64>,
    /// The last rate at which one did not, by the server's fault.
    pub unmet_rps: Option<f64>,
    /// The conditions that broke, by in how many of the failed trials near the answer (up to 1.25 times it).
    pub broke: BTreeMap<String, u64>,
    /// The number of failed trials near the answer, which `broke` is counted over.
    pub failed_near: u64,
    /// Those of them in which only the waiting for a free connection broke the SLO: with more connections the server may
    /// sustain more.
    pub waited_near: u64,
    /// Every trial, in the order in which they were made.
    pub trials: Vec<RateTrial>,
}

/// How a search for a rate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchEnd {
    /// The search came to an answer.
    Found,
    /// The server does not meet the SLO at the lowest rate that could be tried.
    NeverMet,
    /// The load engine could not offer more, while the server met the SLO.
    EngineLimit,
    /// The budget was spent before there were enough answers.
    OutOfTime,
    /// The search was told to stop before it had an answer.
    Interrupted,
}

/// An estimate of a rate, in requests a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateEstimate {
    /// The median of the answers.
    pub estimate: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval, in requests a second.
    pub high: f64,
    /// Answers it rests on.
    pub n: u64,
}

/// One trial at one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateTrial {
    /// Requests a second that were offered.
    pub rate_rps: f64,
    /// Length of the trial.
    pub seconds: f64,
    /// Requests that were due in it.
    pub requests: u64,
    /// Failures by kind, those that are not zero.
    pub errors: Errors,
    /// The figures that the SLO is about, by metric: times in µs, from when requests were due, and `error_share`. What was
    /// not answered in time counts as having taken the time-out.
    pub figures: BTreeMap<String, f64>,
    /// The trial's answer about its rate.
    pub verdict: RateVerdict,
    /// Why it is void, if it is.
    pub void: Option<VoidReason>,
    /// The conditions that it did not meet.
    pub broke: Vec<String>,
    /// True if times from when requests were sent, and not due, would have met the SLO, and were about as long as
    /// before the search: requests waited for a free connection.
    pub waited: bool,
    /// How late requests were sent by the engine's own fault: the 99th percentile, in microseconds.
    pub send_lag_p99_us: f64,
    /// The share of its core that the engine's busiest thread used.
    pub engine_busy: f64,
    /// True if the server answered fast again before the trial began.
    pub settled: bool,
}

/// The answer of a trial about its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateVerdict {
    /// The server met the SLO.
    Met,
    /// The trial broke a condition of the SLO.
    Unmet,
    /// The SLO was not met, but the load engine may be the reason.
    Void,
}

/// Why a trial says nothing about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VoidReason {
    /// The load engine used its CPU up.
    NoHeadroom,
    /// The load engine sent late though it had headroom: something else had its CPU.
    SentLate,
    /// Not all requests were offered.
    NotOffered,
}
