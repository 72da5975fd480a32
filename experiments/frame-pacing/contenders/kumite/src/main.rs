//! Writes states when they are due, by the pacer of `kumite play`.

mod play;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use kumite_play::{Device, DeviceError, PadState, PlayEnd, Schedule};

use play::{FPS, Failure};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        println!("{}", env!("VERSIONS"));
        return ExitCode::SUCCESS;
    }
    match play::serve(play) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pacing: {error}");
            ExitCode::FAILURE
        }
    }
}

fn play(schedule: Schedule, lines: Vec<String>) -> Result<(), Failure> {
    let mut device = Lines(lines.into_iter());
    let (never, at) = (AtomicBool::new(false), AtomicUsize::new(0));
    let played = kumite_play::play(&schedule, FPS, &mut device, &never, &at);
    if !played.real_time {
        eprintln!("pacing: no real-time priority");
    }
    match played.ended {
        PlayEnd::Failed(error) => Err(error.into()),
        PlayEnd::Whole | PlayEnd::Stopped => Ok(()),
    }
}

/// Writes its lines one after the other, whatever the states are.
struct Lines(std::vec::IntoIter<String>);

impl Device for Lines {
    fn write(&mut self, _: PadState, _: Duration) -> Result<(), DeviceError> {
        let line = self.0.next().unwrap_or_default();
        Ok(io::stdout().write_all(line.as_bytes())?)
    }
}
