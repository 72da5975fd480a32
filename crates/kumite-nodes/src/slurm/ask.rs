//! A command of Slurm's, and what it says.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{MARKER, Spawn, last_lines, run};

/// A controller that is not there keeps them waiting, some for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// What it says, or why it did not do what it was to do.
pub fn ask(words: &[&str], stop: &AtomicBool) -> Result<String, String> {
    let command = shlex::try_join(words.iter().copied()).map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let log = folder.path().join("log");
    // A job has the environment of who submits it, and is no process of ours: on its node it would look like what a killed
    // kumite has left.
    let spawn = Spawn {
        command: &format!("unset {MARKER}; exec {command}"),
        dir: Path::new("."),
        env: &[],
        keeps: None,
        cores: &[],
        log: &log,
        group: None,
    };
    let program = words[0];
    let finished = run(&spawn, PATIENCE, stop).map_err(|error| format!("{program}: {error}"))?;
    match finished.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&finished.stdout).into_owned()),
        Some(127) => Err(format!("there is no {program} here: --on slurm needs Slurm's commands")),
        _ => Err(format!("{program}: {}", last_lines(&log))),
    }
}
