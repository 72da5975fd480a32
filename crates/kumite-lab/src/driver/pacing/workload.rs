//! The workload of kind pacing, typed once from its parameters.

use std::path::Path;
use std::time::Duration;

use kumite_host::{AskedCores, WantedCores};
use kumite_play::{Held, Macro, Schedule};

use super::params::PARAMS;
use crate::driver::Workload;
use crate::error::Error;
use crate::parameter::{Parameters, Params};
use crate::unfit::Unfit;

/// The workload of a trial: which macro is played, for how long, and what the machine does beside it.
#[derive(Clone, Debug)]
pub struct PacingWorkload {
    /// The name of the macro's file, in the experiment's folder; `macro.txt` by default.
    pub notation: String,
    /// The number of frames that are played, over and over if the macro has fewer; 600 by default.
    pub frames: usize,
    /// The number of frames of a play before the measured one, which counts in no figure; 60 by default.
    pub warm_up_frames: usize,
    /// The frames a second of the schedule; 59.94 by default.
    pub fps: f64,
    /// The player's way to keep time; the absolute schedule by default.
    pub keeping: Keeping,
    /// True if a busy thread runs on each CPU that is used; false by default.
    pub is_loaded: bool,
    /// The longest time for which the adapter before the recorder keeps a state; 0, the default, for no adapter.
    pub adapter_jitter: Duration,
    /// The longest time until a player is ready; 30 s by default.
    pub ready: Duration,
    /// The number of CPUs that the player is given; 1 by default.
    pub cores: AskedCores,
}

/// A player's way to keep time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// The player goes by when each state is due, counted from the start.
    Absolute,
    /// The player goes by how long each state is held.
    Relative,
}

impl Keeping {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Keeping::Absolute => "absolute",
            Keeping::Relative => "relative",
        }
    }
}

/// A state as the line that the player has to write, with the time from the start of the play at which it is due.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Due {
    pub at: Duration,
    pub state: String,
}

impl PacingWorkload {
    /// Reads the workload from these parameters. An error if one of them has a wrong value, or is unknown to this
    /// kind.
    pub fn new(parameters: &Parameters) -> Result<PacingWorkload, Unfit> {
        let take = Params { given: parameters, declared: PARAMS };
        take.no_others("a pacing workload")?;
        Ok(PacingWorkload {
            notation: take.text("macro")?.to_owned(),
            frames: take.count("frames")?,
            warm_up_frames: take.count("warm_up_frames")?,
            fps: take.number("fps")?,
            keeping: if take.word("schedule")? == 0 { Keeping::Absolute } else { Keeping::Relative },
            is_loaded: take.word("load")? == 1,
            adapter_jitter: take.time("adapter_jitter_ms")?,
            ready: take.time("ready_s")?,
            cores: take.cores("cores")?,
        })
    }

    /// The states of a play of this many frames of the macro, the release at its end included.
    pub(super) fn states(&self, whole: &Schedule, frames: usize) -> Vec<Due> {
        let state = |(at, state): (Duration, kumite_play::PadState)| {
            let values: Vec<String> = state.values().iter().map(i8::to_string).collect();
            Due { at, state: values.join(" ") }
        };
        first(whole, frames as u64).due(self.fps).map(state).collect()
    }

    /// Reads the macro, which has at least one state. An error if it cannot be read, or is no macro.
    pub(crate) fn schedule(&self, folder: &Path) -> Result<Schedule, Error> {
        let path = folder.join(&self.notation);
        let text = std::fs::read(&path).map_err(Error::step(format!("the macro {}", path.display())))?;
        let read = Macro::parse(&text);
        let wrong = |error| Unfit::new(format!("the macro {}:{error}", path.display()));
        Ok(read.map_err(wrong)?.schedule())
    }
}

impl Workload for PacingWorkload {
    /// The recorder never rests while a state may come, so it shares a CPU only if all are asked for, or there is but
    /// one.
    fn cores(&self) -> WantedCores {
        WantedCores { param: "cores", asked: self.cores, may_share: false }
    }

    /// The time of both plays: the warm-up and the measured one.
    fn time(&self) -> Option<Duration> {
        Some(Duration::from_secs_f64((self.frames + self.warm_up_frames) as f64 / self.fps))
    }

    fn check_folder(&self, folder: &Path) -> Result<(), (&'static str, Error)> {
        self.schedule(folder).map(|_| ()).map_err(|why| ("macro", why))
    }
}

/// The first frames of a schedule that is repeated over and over. The schedule must have at least one state.
fn first(whole: &Schedule, frames: u64) -> Schedule {
    let mut left = frames;
    let mut some = Vec::new();
    for held in whole.0.iter().cycle() {
        if left == 0 {
            break;
        }
        let frames = u64::from(held.frames).min(left);
        left -= frames;
        some.push(Held { frames: frames as u32, ..*held });
    }
    Schedule(some)
}

#[cfg(test)]
mod tests {
    use kumite_play::{Control, PadState};
    use kumite_record::AxisValue;

    use super::*;
    use crate::error::chain;

    #[test]
    fn a_macro_is_played_over_and_over_and_cut_where_its_frames_end() {
        let held = |frames, control| Held { frames, state: PadState::from_iter([control]) };
        let whole = Schedule(vec![held(3, Control::Up), held(1, Control::Down)]);
        let frames = |n| first(&whole, n).0.iter().map(|held| held.frames).collect::<Vec<_>>();
        assert_eq!(frames(2), [2]);
        assert_eq!(frames(4), [3, 1]);
        assert_eq!(frames(9), [3, 1, 3, 1, 1]);
        assert_eq!(first(&whole, 9).0[4].state, whole.0[0].state);
    }

    fn workload(given: &[(&str, AxisValue)]) -> Result<PacingWorkload, Unfit> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        PacingWorkload::new(&given.collect())
    }

    #[test]
    fn states_are_lines_and_the_last_is_the_release() {
        let folder = tempfile::tempdir().unwrap();
        let workload = workload(&[("fps", AxisValue::Int(60))]).unwrap();
        let states = |text: &str| {
            std::fs::write(folder.path().join("macro.txt"), text).unwrap();
            workload.schedule(folder.path()).map(|whole| workload.states(&whole, 90))
        };
        let found = states("2,mk 60\n3 40\n").unwrap();
        let at: Vec<f64> = found.iter().map(|due| due.at.as_secs_f64()).collect();
        assert_eq!(at, [0.0, 1.0, 1.5]);
        let zeros = |n| vec!["0"; n].join(" ");
        assert_eq!(found[0].state, format!("{} 100 {} 100 {}", zeros(14), zeros(3), zeros(17)));
        assert_eq!(found[2].state, zeros(36));
        assert!(
            chain(&states("# nothing\n").unwrap_err()).contains("macro.txt:2:1: "),
            "{:?}",
            states("# nothing\n")
        );
        assert!(
            chain(&states("6 1\nxx 1\n").unwrap_err()).contains("macro.txt:2:1: "),
            "{:?}",
            states("xx 1\n")
        );
        std::fs::remove_file(folder.path().join("macro.txt")).unwrap();
        let missing = chain(&workload.schedule(folder.path()).unwrap_err());
        assert_eq!(
            missing.replace(folder.path().to_str().unwrap(), "FOLDER"),
            "the macro FOLDER/macro.txt: No such file or directory (os error 2)"
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let text = |text: &str| AxisValue::Text(text.to_owned());
        let cases = [
            ("frames", AxisValue::Int(0), "frames is a whole number from 1 to 216000, not 0"),
            ("fps", AxisValue::Int(0), "fps is a number from 1 to 1000, not 0"),
            ("schedule", text("exact"), "schedule is \"absolute\" or \"relative\", not \"exact\""),
            ("load", text("some"), "load is \"none\" or \"every-core\", not \"some\""),
            (
                "frame",
                AxisValue::Int(1),
                "unknown workload parameter 'frame'; did you mean 'frames'? (a pacing workload has macro,",
            ),
        ];
        for (name, value, expected) in cases {
            let found = workload(&[(name, value)]).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }
}
