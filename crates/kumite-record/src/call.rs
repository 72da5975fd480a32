//! The calls of a function within a trial, and the lives of the instances that served them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A call of a function. Times count from when the first call of the trial was offered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// When it was offered.
    pub offered_ms: f64,
    /// From then to its answer: what a caller waits.
    pub wall_ms: f64,
    /// The instance it went to, counted from 1 in the order of their start; none if the host refused the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<u32>,
    /// True if the instance was started for this call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// How often the function's initialization was begun for it: twice where the first was cut off or failed.
    #[serde(default)]
    pub inits: u32,
    /// The init phase, as far as it went before it was done or cut off; 0 for a warm call.
    #[serde(default)]
    pub init_ms: f64,
    /// The invoke phase: from the event to the next request for one. A second initialization is part of it.
    pub duration_ms: f64,
    /// The bill by the rule until 2025: the invoke phase, rounded up to steps of 100 ms.
    pub billed_2016_ms: f64,
    /// The bill by the rule since 2025: init and invoke phase, rounded up to steps of 1 ms.
    pub billed_2025_ms: f64,
    /// CPU time of the instance in the invoke phase; none where it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<f64>,
    /// The most memory that the instance has had resident until then.
    pub max_memory_bytes: u64,
    /// The kind of error and its message, as the caller gets them; none of a call that succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A stretch of the life of an instance. Times count from when the first call of the trial was offered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    /// The instance, counted from 1; the same number as in `calls`.
    pub instance: u32,
    /// The activity, which is the same from `from_ms` to `to_ms`.
    pub kind: PhaseKind,
    /// When it began to.
    pub from_ms: f64,
    /// When it ended, in milliseconds.
    pub to_ms: f64,
    /// How it ended, where that is not what it should be: `cut off after 10 s`, `time-out`, `exit status 1` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
}

/// An activity of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// It starts, with a whole core: until it asks for its first event.
    Init,
    /// It starts once more, within a call and with the share of that.
    Reinit,
    /// It has an event.
    Invoke,
    /// It stands still between two calls.
    Frozen,
    /// It is being ended, or has been: by the host, or by itself.
    Killed,
}

impl PhaseKind {
    /// The word used in files and reports.
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
