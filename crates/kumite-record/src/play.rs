//! The document of `kumite play`: how exactly a macro was played.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How exactly a macro was played: the document that `kumite play --json` writes. Errors are null if no state was played.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlayResult {
    /// The version of this form.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command that repeats it.
    pub command: String,
    /// The output device: `log`, `uinput` or `gcapi`.
    pub device: String,
    /// The frames a second of the schedule.
    pub fps: f64,
    /// States of the macro, the release at the end included.
    pub states: usize,
    /// The length of the schedule, in frames.
    pub frames: u64,
    /// States that were played.
    pub played_states: usize,
    /// How it ended: `whole`, `stopped` or `failed`.
    pub ended: String,
    /// Why the device failed, if it did.
    pub why: Option<String>,
    /// Why what is pressed may stay so, if it may.
    pub unreleased: Option<String>,
    /// True if the player's thread had real-time priority.
    pub real_time: bool,
    /// Half of the states were off by no more. A state is there when the device has taken it.
    pub error_p50_us: Option<f64>,
    /// The size of the error that 90 % of states keep within, in microseconds; null if no state was played.
    pub error_p90_us: Option<f64>,
    /// The size of the error that 99 % of states keep within, in microseconds; null if no state was played.
    pub error_p99_us: Option<f64>,
    /// The size of the error that 99.9 % of states keep within, in microseconds; null if no state was played.
    pub error_p99_9_us: Option<f64>,
    /// The greatest size of an error, in microseconds; null if no state was played.
    pub error_max_us: Option<f64>,
    /// The mean error of the states that were due in the first 60 frames; below 0 if they were early.
    pub error_first_60_frames_mean_us: Option<f64>,
    /// The mean error of the states that were due in the last 60 frames, in microseconds.
    pub error_last_60_frames_mean_us: Option<f64>,
    /// The second of these means less the first, in microseconds; above 0 if the player fell behind.
    pub drift_us: Option<f64>,
    /// States that were off by a frame or more.
    pub missed_frames: Option<usize>,
}
