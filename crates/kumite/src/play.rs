//! `kumite play`: a macro, played on a controller or shown; or a page to play from.

mod device;
mod dry_run;
mod played;
mod serve;

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Parser;
use kumite_play::{ApartError, FPS, Macro, OpenDevice, PlayEnd, Schedule, play_apart};
use kumite_record::SCHEMA;
use kumite_report::plural;
use serde::Serialize;

use crate::exit::Failure;
use crate::{output, stop};

/// The most bytes of a macro's text.
const LONGEST: u64 = 16 << 20;

#[derive(Parser)]
#[command(after_help = "\
A line of a macro is KEYS FRAMES: keys with commas between them, held for 1 to 65535 frames.
  1 to 9     directions, as on a numeric keypad: 2 down, 6 right, 3 both, 5 neutral
  lp mp hp   punches: □ △ R1
  lk mk hk   kicks: ✕ ○ R2
  start (pause, options), select (share, reload), save (R3)
<loop N> and </loop>, each on a line of its own, repeat the lines between them; loops nest.

  2,mk 8       # crouching medium kick
  3 1          # into a fireball
  6,lp 1

  <loop 3>     # a jump-in combo, three times
  9 34
  hp 20
  2,mk 8
  6 1
  2 1
  3,hp 1
  </loop>

The whole macro is read before anything is played. All is released at its end, on Ctrl-C and on an error.
Manners: macros are for training and for measuring. Never use them online or in ranked play.")]
pub struct Args {
    /// Macro (- for standard input)
    #[arg(conflicts_with_all = ["serve", "port", "bind"])]
    file: Option<PathBuf>,
    #[command(flatten)]
    device: device::Choice,
    /// Frames a second, 1 to 1000; the default is the console's measured rate
    #[arg(long, value_name = "F", default_value_t = FPS, value_parser = fps)]
    fps: f64,
    /// Print all states with their times, loops expanded, and play nothing
    #[arg(long, conflicts_with = "serve")]
    dry_run: bool,
    /// Check the macro, and play nothing
    #[arg(long, conflicts_with_all = ["dry_run", "serve"])]
    check: bool,
    /// Print one JSON document: the states with --dry-run, their number with --check, else how exactly they were
    /// played (the log is not printed then)
    #[arg(long, conflicts_with = "serve")]
    json: bool,
    #[command(flatten)]
    serve: serve::Flags,
}

/// The document of `--check --json`.
#[derive(Serialize)]
struct Counts {
    schema: u32,
    fps: f64,
    states: usize,
    frames: u64,
    seconds: f64,
}

fn fps(text: &str) -> Result<f64, &'static str> {
    let fps = text.parse().ok().filter(|fps| (1.0..=1000.0).contains(fps));
    fps.ok_or("expected a number from 1 to 1000")
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.serve.serve {
        return serve::run(&args.serve, args.fps, args.device.opener(false)?);
    }
    let Some(file) = &args.file else {
        return Err(Failure::Usage(
            "no macro: name a file, or - for standard input; or --serve a page".to_owned(),
        ));
    };
    let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    let text = read(file, &name)?;
    let parsed = Macro::parse(&text)
        .map_err(|error| Failure::Usage(format!("{name}:{error}\n{}", error.excerpt(&text))))?;
    let schedule = parsed.schedule();
    if args.check {
        let (states, frames) = (schedule.0.len(), schedule.frames());
        let seconds = frames as f64 / args.fps;
        if args.json {
            let counts = Counts { schema: SCHEMA, fps: args.fps, states, frames, seconds };
            return output::document(&output::json(&counts)?);
        }
        return output::print(&format!(
            "{name} is right: {}, {}, {seconds:.3} s at {} fps\n",
            plural(states, "state"),
            plural(frames as usize, "frame"),
            args.fps
        ));
    }
    if args.dry_run {
        return dry_run::print(&schedule, args.fps, args.json);
    }
    play(args, args.device.opener(args.json)?, schedule)
}

fn read(file: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let read = match file {
        file if file == Path::new("-") => std::io::stdin().take(LONGEST + 1).read_to_end(&mut text),
        file => File::open(file).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text)),
    };
    let unread = |why: &dyn Display| Failure::Usage(format!("cannot read {name}: {why}"));
    match read {
        Err(error) => Err(unread(&error)),
        Ok(_) if text.len() as u64 > LONGEST => Err(unread(&"it is longer than 16 MiB")),
        Ok(_) => Ok(text),
    }
}

fn play(args: &Args, open: Box<OpenDevice>, schedule: Schedule) -> Result<(), Failure> {
    let whole = played::Whole::of(args, &schedule);
    let stop = stop::flag_for_who_holds()?;
    let is_log = matches!(args.device.kind, device::DeviceKind::Log);
    let played = play_apart(open, args.fps, schedule, &stop, move |description| {
        if let Some(description) = description.filter(|_| !is_log) {
            output::note(&format!("playing on {description}"));
        }
    });
    let played = played.map_err(|error| {
        Failure::Incomplete(match error {
            ApartError::Hangs if is_log => "it was interrupted, and nobody reads the log".to_owned(),
            error => error.to_string(),
        })
    })?;
    // Whoever read the states has had enough; that is no error.
    if device::is_unread(&played.ended) {
        return Ok(());
    }
    whole.print(&played, args.json)?;
    let why = match &played.ended {
        PlayEnd::Whole => return Ok(()),
        PlayEnd::Stopped => "it was interrupted".to_owned(),
        PlayEnd::Failed(error) => error.to_string(),
    };
    Err(Failure::Incomplete(match &played.unreleased {
        None => why,
        Some(error) => format!("{why}; what is pressed may stay pressed: {error}"),
    }))
}
