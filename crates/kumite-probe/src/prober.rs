//! The client of the process that probes: it starts, asks and ends that process.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{Heard, Spawn, Talk, Tree};
use thiserror::Error;

use crate::PROBER;

/// The time to ask of the probes before a trial, and in a self-check. With the pauses between them a probe takes less
/// than 0.15 s, if no other process wants the CPUs.
pub const TRIAL: Duration = Duration::from_millis(100);

/// The longest wait for an answer. On a busy machine answers are late, but not as late as this.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// The log of the process that probes: none, because it prints nothing but one line if it fails.
const LOG: &str = "/dev/null";
const LONGEST_LINE: usize = 4096;

/// A process that probes, and sleeps until it is asked. It ends when this is dropped.
#[derive(Debug)]
pub struct Prober {
    /// The process. It ends when this field is dropped, which is before `talk`.
    tree: Tree,
    talk: Talk,
}

/// The reason why the figures of the probes are missing.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// The process could not be started.
    #[error("cannot start the process that probes the machine")]
    Start(#[from] kumite_process::Error),
    /// The path of the program cannot stand in a command: it has a zero byte, or is not UTF-8.
    #[error("cannot start the process that probes the machine: its path has a zero byte or is no text")]
    Path,
    /// Writing to the process or reading from it has failed, as it does if the process has ended before it is asked.
    #[error("cannot speak with the process that probes the machine")]
    Talk(#[from] io::Error),
    /// The process was not ready, or did not take the question or answer it, within 10 seconds; or it ended; or it
    /// wrote a line that is too long or means nothing; or `stop` was set before it took the question.
    #[error("the process that probes the machine does not answer")]
    Silent,
    /// The answer of the process is not the JSON that was expected.
    #[error("cannot read what the process that probes the machine answers")]
    Answer(#[from] serde_json::Error),
}

impl Prober {
    /// Starts the process that probes, and waits until it has mapped its memory. `program` is a program of kumite,
    /// which calls [`probe_main`](crate::probe_main). An error if the process cannot be started, ends, or is not ready
    /// within 10 seconds.
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
        let mut prober = Prober { tree, talk };
        match prober.line()?.is_empty() {
            true => Ok(prober),
            false => Err(ProbeError::Silent),
        }
    }

    /// Measures on the first and the last of these CPUs, for about `time`, and returns the figures by the names of
    /// their probes. Figures that could not be had are missing. An error if the process does not take the question or
    /// answer it within 10 seconds each, or if `stop` is set before the question is taken.
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

    /// The CPU time of the process until now.
    pub fn cpu(&mut self) -> Duration {
        self.tree.usage().cpu
    }

    fn line(&mut self) -> Result<Vec<u8>, ProbeError> {
        match self.talk.hear(ANSWERS_WITHIN)? {
            Heard::Line(line, _) => Ok(line),
            Heard::Nothing | Heard::TooLong | Heard::Ended(_) => Err(ProbeError::Silent),
        }
    }
}
