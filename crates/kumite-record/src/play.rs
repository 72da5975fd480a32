//! The document of `kumite play`: how exactly a macro was played.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The accuracy with which a macro was played: the document that `kumite play --json` writes. Errors are null if no
/// state was played.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlayResult {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command line that repeats the play.
    pub command: String,
    /// The output device: `log`, `uinput` or `gcapi`.
    pub device: String,
    /// The frame rate of the schedule, in frames a second.
    pub fps: f64,
    /// The number of states of the macro, the release at its end included.
    pub states: usize,
    /// The length of the schedule, in frames.
    pub frames: u64,
    /// The number of states that were played.
    pub played_states: usize,
    /// The way in which the play ended: `whole`, `stopped` or `failed`.
    pub ended: String,
    /// The reason why the device failed. Null if it did not.
    pub why: Option<String>,
    /// The reason why something may still be pressed. Null if all was released.
    pub unreleased: Option<String>,
    /// True if the player's thread had real-time priority.
    pub real_time: bool,
    /// The error that 50 % of the played states do not exceed, early or late, in microseconds; null if no state was
    /// played. A state counts as played once the device has taken it.
    pub error_p50_us: Option<f64>,
    /// The error that 90 % of the played states do not exceed, early or late, in microseconds; null if no state was
    /// played.
    pub error_p90_us: Option<f64>,
    /// The error that 99 % of the played states do not exceed, early or late, in microseconds; null if no state was
    /// played.
    pub error_p99_us: Option<f64>,
    /// The error that 99.9 % of the played states do not exceed, early or late, in microseconds; null if no state was
    /// played.
    pub error_p99_9_us: Option<f64>,
    /// The largest error of a played state, early or late, in microseconds; null if no state was played.
    pub error_max_us: Option<f64>,
    /// The mean error of the states that were due in the first 60 frames, in microseconds; below 0 if they were
    /// early. Null if no state was played.
    pub error_first_60_frames_mean_us: Option<f64>,
    /// The mean error of the states that were due in the last 60 frames, in microseconds; below 0 if they were early.
    /// Null if no state was played.
    pub error_last_60_frames_mean_us: Option<f64>,
    /// The mean error of the last 60 frames less that of the first 60, in microseconds; above 0 if the player fell
    /// behind. Null if no state was played.
    pub drift_us: Option<f64>,
    /// The number of states that were early or late by a frame or more; null if no state was played.
    pub missed_frames: Option<usize>,
}
