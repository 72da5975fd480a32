//! The calls of a function within a trial, and the lives of the instances that served them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A call of a function. Times are in milliseconds, and count from when the first call of the trial was due. If the
/// host refused the call, every figure but `offered_ms` is 0 or absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// The time at which the call was offered or, at a given rate, was due: in milliseconds from when the first call of
    /// the trial was due.
    pub offered_ms: f64,
    /// The time that the caller waited, in milliseconds: from `offered_ms` to the answer.
    pub wall_ms: f64,
    /// The instance that served the call, counted from 1 in the order of the instances' start. None if the host
    /// refused the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<u32>,
    /// True if the instance was started for this call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// The number of times that the function's initialization was begun for this call: two if the first was cut off
    /// or failed, none for a warm call.
    #[serde(default)]
    pub inits: u32,
    /// The length of the init phase until it was done, failed or was cut off, in milliseconds; 0 for a warm call.
    #[serde(default)]
    pub init_ms: f64,
    /// The length of the invoke phase in milliseconds: from when the instance was given the event to when it asked for
    /// the next one, ended, or reached the time-out. A second initialization is part of the phase.
    pub duration_ms: f64,
    /// The billed time by the rule of 2016, in milliseconds: the invoke phase, rounded up to steps of 100 ms.
    pub billed_2016_ms: f64,
    /// The billed time by the rule of 2025, in milliseconds: init and invoke phase, rounded up to steps of 1 ms.
    pub billed_2025_ms: f64,
    /// The CPU time of the instance in the invoke phase, in milliseconds. None if it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<f64>,
    /// The most memory that the instance has had at a time up to the end of the call, in bytes: the larger of what
    /// its control group was charged for and what was resident.
    pub max_memory_bytes: u64,
    /// The kind of error and its message, as the caller gets them, or why the host refused the call. None if the call
    /// succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A stretch of the life of an instance. Times are in milliseconds, and count from when the first call of the trial
/// was due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// The instance, counted from 1; the same number as in `calls`.
    pub instance: u32,
    /// The activity of the instance from `from_ms` to `to_ms`.
    pub kind: PhaseKind,
    /// The start of the phase, in milliseconds.
    pub from_ms: f64,
    /// The end of the phase, in milliseconds; if it had no end, the time of the trial's last event.
    pub to_ms: f64,
    /// The irregular way in which the phase ended: `cut off after 10 s`, `time-out`, `exit status 1` …. None if it
    /// ended as it should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
}

/// The activity of an instance in a phase of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// The instance starts, until it asks for its first event. In this phase it has a whole core, even if its share of
    /// a core is smaller.
    Init,
    /// The instance starts once more, within a call and with the CPU share of a call.
    Reinit,
    /// The instance handles an event.
    Invoke,
    /// The instance stands still between two calls, or after the last one.
    Frozen,
    /// The instance is being ended by the host, or has ended, by itself or by the host.
    Killed,
}

impl PhaseKind {
    /// The word for the activity in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            PhaseKind::Init => "init",
            PhaseKind::Reinit => "reinit",
            PhaseKind::Invoke => "invoke",
            PhaseKind::Frozen => "frozen",
            PhaseKind::Killed => "killed",
        }
    }
}
