//! The document of `kumite load --find-rate`: the highest rate that a server sustains, and every trial of the search.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Errors;

/// The result of a search for the highest rate that a server sustains: the document that `kumite load --find-rate
/// --json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundRate {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command line that repeats the search.
    pub command: String,
    /// The URLs of the requests, as they were typed, with a space between two.
    pub url: String,
    /// The objective that a trial had to meet, as it was typed.
    pub slo: String,
    /// True if rates are in sessions a second, and not in requests: a session has several steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_sessions: bool,
    /// The number of connections of each trial.
    pub connections: u64,
    /// The shortest length of a trial, in seconds. Trials at low rates are longer, until a percentile has ten
    /// requests beyond it.
    pub trial_s: f64,
    /// The time of the whole search, in seconds.
    pub seconds: f64,
    /// The time that the search was allowed, in seconds.
    pub budget_s: f64,
    /// The seed of all random choices of the search.
    pub seed: u64,
    /// The reason why the search ended.
    pub ended: SearchEnd,
    /// The rate at which half of the trials would meet the SLO. None if `answers_rps` has fewer than six, or if the
    /// load engine was the limit.
    pub rate_rps: Option<RateEstimate>,
    /// The answer of each repetition of the search, in their order, in requests a second. Each is the geometric
    /// middle of a bracket that is at most 2 % wide.
    pub answers_rps: Vec<f64>,
    /// The last rate at which a trial met the SLO, in requests a second. None if none did.
    pub met_rps: Option<f64>,
    /// The last rate at which a trial broke the SLO by the server's fault, in requests a second. None if none did.
    pub unmet_rps: Option<f64>,
    /// The conditions of the SLO that were broken, each with the number of failed trials near the answer that broke it.
    /// Rates up to 1.25 times `rate_rps` are near; without a `rate_rps`, all rates are.
    pub broke: BTreeMap<String, u64>,
    /// The number of failed trials near the answer: all trials that `broke` is about.
    pub failed_near: u64,
    /// The number of failed trials near the answer in which only the waiting for a free connection broke the SLO.
    /// With more connections the server may sustain more.
    pub waited_near: u64,
    /// Every trial, in the order in which they were made.
    pub trials: Vec<RateTrial>,
}

/// The reason why a search for a rate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchEnd {
    /// The search came to an answer, at its end or when the budget was spent.
    Found,
    /// The server does not meet the SLO at the lowest rate that could be tried.
    NeverMet,
    /// The load engine, and not the server, may be the reason why higher rates failed.
    EngineLimit,
    /// The budget was spent before the search had enough answers.
    OutOfTime,
    /// The search was told to stop before it came to its end.
    Interrupted,
}

/// An estimate of a rate, in requests a second; in sessions a second if the search is `of_sessions`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateEstimate {
    /// The median of the answers, in requests a second.
    pub estimate: f64,
    /// The lower end of the 95 % interval, in requests a second.
    pub low: f64,
    /// The upper end of the 95 % interval, in requests a second.
    pub high: f64,
    /// The number of answers that the estimate rests on.
    pub n: u64,
}

/// A trial of the search, at one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateTrial {
    /// The rate that was to be offered, in requests a second; in sessions a second if the search is `of_sessions`.
    pub rate_rps: f64,
    /// The length of the trial, in seconds.
    pub seconds: f64,
    /// The number of the trial's requests: right answers and failures.
    pub requests: u64,
    /// The failures by kind; kinds without any are left out.
    pub errors: Errors,
    /// The first failure in words, also of the warm-up. `None` if nothing failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong: Option<String>,
    /// The figures that the SLO names of all requests, by metric: times in microseconds from when requests were due, and
    /// `error_share`. A request without an answer in time counts as having taken the time-out. A figure for which
    /// there are too few requests is absent.
    pub figures: BTreeMap<String, f64>,
    /// The figures that the SLO names of single requests and of whole sessions, by their name as the SLO has it, then by
    /// metric. A session in which a request had no answer in time counts as one that never ended, and a time that it is
    /// part of is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, BTreeMap<String, f64>>,
    /// The verdict on the trial's rate.
    pub verdict: RateVerdict,
    /// The reason why the trial is void. `None` if it is not void.
    pub void: Option<VoidReason>,
    /// The conditions of the SLO that the trial did not meet.
    pub broke: Vec<String>,
    /// True if only the waiting for a free connection broke the SLO: counted from when requests were sent and not
    /// from when they were due, times would have met it, and their median was at most twice that of single requests
    /// before the search.
    pub waited: bool,
    /// The 99th percentile of how late requests were sent by the engine's own fault, in microseconds.
    pub send_lag_p99_us: f64,
    /// The share of its core that the engine's busiest thread used, from 0 to 1.
    pub engine_busy: f64,
    /// True if the server answered fast again before the trial began, false if it did not within 5 s.
    pub settled: bool,
}

/// The verdict of a trial on its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateVerdict {
    /// The server met the SLO, as far as the trial has enough requests for the figures of the SLO.
    Met,
    /// The server did not meet the SLO: the trial broke a condition of it.
    Unmet,
    /// The trial says nothing about the server, for the reason in `void`.
    Void,
}

/// The reason why a trial says nothing about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VoidReason {
    /// The load engine used all of its CPU.
    NoHeadroom,
    /// The load engine sent late although it had headroom: something else had its CPU.
    SentLate,
    /// The load engine offered too few requests: fewer than 99 % of what the rate asks for, less an allowance for
    /// chance.
    NotOffered,
    /// There were too few right answers for a figure of the objective, because requests failed; the figures that there
    /// were met it. Only loads of `kumite load --slo` have this reason.
    TooFew,
}
