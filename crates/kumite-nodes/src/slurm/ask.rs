//! Slurm's commands, and their output.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{MARKER, Spawn, last_lines, run};

use crate::slurm_error::Error;

/// The most time that a command may take. Without a controller, some wait for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a command to its end, and returns its standard output, up to 1 MiB. An error if its status is not 0, if it
/// takes longer than 60 s, or if `stop` is set.
pub fn ask(words: &[&str], stop: &AtomicBool) -> Result<String, Error> {
    let command = shlex::try_join(words.iter().copied()).map_err(Error::Word)?;
    let folder = tempfile::tempdir().map_err(Error::Scratch)?;
    let log = folder.path().join("log");
    // A job has the environment of the process that submits it, and is none of ours: with the mark, it would look on
    // its node like what a killed kumite has left.
    let spawn = Spawn {
        command: &format!("unset {MARKER}; exec {command}"),
        dir: Path::new("."),
        env: &[],
        keeps: None,
        cores: &[],
        log: &log,
        group: None,
    };
    let program = words[0].to_owned();
    let finished = match run(&spawn, PATIENCE, stop) {
        Ok(finished) => finished,
        Err(source) => return Err(Error::Command { program, source }),
    };
    match finished.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&finished.stdout).into_owned()),
        Some(127) => Err(Error::NoCommand { program }),
        _ => Err(Error::Refused { program, said: last_lines(&log) }),
    }
}
