//! How exactly a macro was played.

use kumite_play::{PlayEnd, Played, Schedule};
use kumite_record::PlayResult;
use kumite_report::plural;

use super::Args;
use super::device::DeviceKind;
use crate::exit::Failure;
use crate::output;

pub struct Whole {
    device: DeviceKind,
    fps: f64,
    /// The release is one too.
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

    /// The document on standard output, or for whoever watches.
    pub fn print(&self, played: &Played, json: bool) -> Result<(), Failure> {
        if json {
            return output::document(&output::json(&self.document(played))?);
        }
        output::note(&self.summary(played));
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

    fn summary(&self, played: &Played) -> String {
        let (states, frames, fps) = (self.states, self.frames, self.fps);
        let done = played.pacing.as_ref().map_or(0, |pacing| pacing.states);
        let mut lines = vec![format!(
            "played {done} of {states} states, the release included; {} at {fps} fps",
            plural(frames as usize, "frame")
        )];
        if let Some(pacing) = &played.pacing {
            let [p50, p90, p99, p99_9, max] =
                [pacing.p50_us, pacing.p90_us, pacing.p99_us, pacing.p99_9_us, pacing.max_us];
            let (first, last) = (pacing.first_mean_us, pacing.last_mean_us);
            lines.push(format!(
                "off by p50 {p50:.1} µs, p90 {p90:.1} µs, p99 {p99:.1} µs, p99.9 {p99_9:.1} µs, max {max:.1} µs; \
                 {} missed frames",
                pacing.missed_frames
            ));
            lines.push(format!(
                "on average {first:+.1} µs in the first 60 frames, {last:+.1} µs in the last 60: drift {:+.1} µs",
                last - first
            ));
        }
        lines.push(match played.real_time {
            true => "with real-time priority".to_owned(),
            false => "without real-time priority, so that other work could delay it: run it as root, or raise the limit \
                      rtprio to 10; `kumite doctor` says what is missing"
                .to_owned(),
        });
        lines.join("\n")
    }
}
