//! The other end of the process that probes: starts it, asks it, ends it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{Heard, Spawn, Talk, Tree};
use thiserror::Error;

use crate::PROBER;

/// The time of the probes before a trial. With what lies between them it is less than 0.15 s, if nobody else wants the CPUs.
pub const TRIAL: Duration = Duration::from_millis(100);

/// An answer is late on a busy machine; after so long it does not come.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// Its log is what it says of a fault, in a line.
const LOG: &str = "/dev/null";
const LONGEST_LINE: usize = 4096;

/// A process that probes, which sleeps until it is asked. It ends when this is dropped.
#[derive(Debug)]
pub struct Prober {
    /// Dropped first, by which the process ends.
    _tree: Tree,
    talk: Talk,
}

/// There are no figures.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// The process could not be started.
    #[error("cannot start the process that probes the machine")]
    Start(#[from] kumite_process::Error),
    /// The path of the program cannot stand in a command.
    #[error("cannot start the process that probes the machine: its path has a zero byte or is no text")]
    Path,
    /// It could not be spoken with.
    #[error("cannot speak with the process that probes the machine")]
    Talk(#[from] io::Error),
    /// It said nothing, or ended.
    #[error("the process that probes the machine does not answer")]
    Silent,
    /// Its answer is not one.
    #[error("cannot read what the process that probes the machine answers")]
    Answer(#[from] serde_json::Error),
}

impl Prober {
    /// Starts it, and waits until it has mapped its memory. `program` is one of ours, which calls
    /// [`probe_main`](crate::probe_main).
    pub fn start(program: &Path) -> Result<Prober, ProbeError> {
        let program = program.to_str().ok_or(ProbeError::Path)?;
        let program = shlex::try_quote(program).map_err(|_| ProbeError::Path)?;
        let spawn = Spawn {
            command: &format!("exec {program} {PROBER}"),
            dir: Path::new("/"),
            env: &[],
            keeps: None,
            cores: &[],
            log: Path::new(LOG),
            group: None,
        };
        let (tree, talk) = Tree::start_talking(&spawn, LONGEST_LINE)?;
        let mut prober = Prober { _tree: tree, talk };
        match prober.line()?.is_empty() {
            true => Ok(prober),
            false => Err(ProbeError::Silent),
        }
    }

    /// The figures on these CPUs, by name; without those that could not be had.
    pub fn probe(
        &mut self,
        cpus: &[usize],
        time: Duration,
        stop: &AtomicBool,
    ) -> Result<BTreeMap<String, f64>, ProbeError> {
        let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
        let asked = format!("{} {}\n", time.as_micros(), cpus.join(","));
        match self.talk.say(asked.as_bytes(), ANSWERS_WITHIN, stop)? {
            true => Ok(serde_json::from_slice(&self.line()?)?),
            false => Err(ProbeError::Silent),
        }
    }

    fn line(&mut self) -> Result<Vec<u8>, ProbeError> {
        match self.talk.hear(ANSWERS_WITHIN)? {
            Heard::Line(line, _) => Ok(line),
            Heard::Nothing | Heard::TooLong | Heard::Ended(_) => Err(ProbeError::Silent),
        }
    }
}
