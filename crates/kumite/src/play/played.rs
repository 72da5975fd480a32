//! The result of a play: how exactly the macro was played.

use kumite_play::{PlayEnd, Played, Schedule};
use kumite_record::PlayResult;

use super::Args;
use super::device::DeviceKind;
use crate::exit::Failure;
use crate::output;

pub struct Whole {
    device: DeviceKind,
    fps: f64,
    /// The number of states, the release included.
    states: usize,
    frames: u64,
}

impl Whole {
    pub fn of(args: &Args, schedule: &Schedule) -> Whole {
        Whole {
            device: args.device.kind,
            fps: args.fps,
            states: schedule.0.len() + 1,
            frames: schedule.frames(),
        }
    }

    /// Prints the document to standard output if `json` is true, else the closing lines to standard error. An error if
    /// standard output cannot be written.
    pub fn print(&self, played: &Played, json: bool) -> Result<(), Failure> {
        if json {
            return output::document(&output::json(&self.document(played))?);
        }
        output::note(&kumite_report::play_lines(&self.document(played)));
        Ok(())
    }

    fn document(&self, played: &Played) -> PlayResult {
        let pacing = played.pacing.as_ref();
        let (ended, why) = match &played.ended {
            PlayEnd::Whole => ("whole", None),
            PlayEnd::Stopped => ("stopped", None),
            PlayEnd::Failed(error) => ("failed", Some(error.to_string())),
        };
        PlayResult {
            schema: kumite_record::SCHEMA,
            command: output::command_line(),
            device: self.device.as_str().to_owned(),
            fps: self.fps,
            states: self.states,
            frames: self.frames,
            played_states: pacing.map_or(0, |pacing| pacing.states),
            ended: ended.to_owned(),
            why,
            unreleased: played.unreleased.as_ref().map(ToString::to_string),
            real_time: played.real_time,
            error_p50_us: pacing.map(|pacing| pacing.p50_us),
            error_p90_us: pacing.map(|pacing| pacing.p90_us),
            error_p99_us: pacing.map(|pacing| pacing.p99_us),
            error_p99_9_us: pacing.map(|pacing| pacing.p99_9_us),
            error_max_us: pacing.map(|pacing| pacing.max_us),
            error_first_60_frames_mean_us: pacing.map(|pacing| pacing.first_mean_us),
            error_last_60_frames_mean_us: pacing.map(|pacing| pacing.last_mean_us),
            drift_us: pacing.map(|pacing| pacing.last_mean_us - pacing.first_mean_us),
            missed_frames: pacing.map(|pacing| pacing.missed_frames),
        }
    }
}
