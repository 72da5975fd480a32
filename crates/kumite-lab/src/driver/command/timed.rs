//! A command that is run again and again, and timed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use kumite_host::own_cpu;
use kumite_judge::Derived;
use kumite_process::{CommandLine, HELPER, Job, Output, Runner, Shell, Stdin, TimedRun, how_it_ended};

use super::metrics::Run;
use super::outputs::Outputs;
use super::workload::CommandWorkload;
use crate::contender::Ready;
use crate::driver::Planned;
use crate::driver::log::last_lines;
use crate::error::Error;
use crate::halt::Halt;
use crate::parameter::as_environment;
use crate::unfit::Unfit;

/// A trial of a command, with the log that its errors go to.
pub(super) struct Trial<'t> {
    pub contender: &'t Ready,
    pub planned: &'t Planned,
    /// The workload of the point, or a shorter one for a check.
    pub workload: CommandWorkload,
    pub log: PathBuf,
    pub seed: u64,
    pub stop: &'t AtomicBool,
}

/// A command that can be run again and again, with everything that a run takes.
pub(super) struct Timed<'t> {
    trial: &'t Trial<'t>,
    derived: &'t Derived,
    cores: &'t [usize],
    runner: Runner,
    pub outputs: Outputs,
}

/// The environment of a run. The variables that lead the command to its tools and services win over a parameter of
/// the same name.
pub(super) fn environment(
    trial: &Trial,
    services: &[(String, String)],
    scratch: &Path,
) -> Vec<(String, String)> {
    let mut env: BTreeMap<String, String> = as_environment(&trial.planned.parameters).collect();
    env.extend(trial.contender.env.iter().chain(services).cloned());
    env.insert("SCRATCH".to_owned(), scratch.display().to_string());
    env.into_iter().collect()
}

impl<'t> Timed<'t> {
    pub fn new(
        trial: &'t Trial,
        derived: &'t Derived,
        cores: &'t [usize],
        env: Vec<(String, String)>,
        folder: &Path,
    ) -> Result<Timed<'t>, Error> {
        let words = CommandLine::new(&trial.contender.run, &Shell::IfNeeded)
            .map_err(|error| Unfit::new(error.to_string()))?
            .words;
        let outputs = Outputs::new(folder);
        let job = Job {
            program: words[0].clone().into(),
            args: words[1..].to_vec(),
            dir: trial.contender.folder.clone(),
            env,
            stdin: Stdin::Null,
            output: Output::Files { stdout: outputs.file.clone(), stderr: trial.log.clone() },
        };
        let helper = std::env::current_exe().map_err(Error::step("cannot find kumite's own program"))?;
        let mut runner = Runner::start(&helper, &[HELPER], &[job])?;
        runner.vary_environment(trial.seed);
        runner.limit(trial.workload.timeout);
        Ok(Timed { trial, derived, cores, runner, outputs })
    }

    /// Runs the command `count` times. An error if a run fails or takes too long, or if the experiment declares metrics
    /// of outputs and a run's last line cannot be read as such.
    pub fn runs(&mut self, count: usize) -> Result<Vec<Run>, Halt> {
        (0..count)
            .map(|_| {
                let ours_before = own_cpu();
                let timed = self.one(false)?;
                let ours = own_cpu().saturating_sub(ours_before);
                let output = self.outputs.take(self.derived.of_answers())?;
                Ok(Run { timed, output, ours })
            })
            .collect()
    }

    fn one(&mut self, forked: bool) -> Result<TimedRun, Halt> {
        let stop = self.trial.stop;
        let timed = match forked {
            true => self.runner.run_forked(0, self.cores, stop),
            false => self.runner.run(0, self.cores, stop),
        };
        match timed {
            Ok(Some(timed)) if timed.status.success() => Ok(timed),
            Ok(Some(timed)) => Err(self.failed(&how_it_ended(timed.status))),
            Ok(None) => Err(Halt::Interrupted),
            Err(kumite_process::Error::TooLong { limit, .. }) => {
                Err(self.failed(&format!("did not end within {} s", limit.as_secs_f64())))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A fault of the command, with the last lines of its errors or, if there are none, of its output.
    fn failed(&self, how: &str) -> Halt {
        let is_silent = std::fs::metadata(&self.trial.log).is_ok_and(|log| log.len() == 0);
        let (what, file) = if is_silent { ("output", &self.outputs.file) } else { ("log", &self.trial.log) };
        Halt::fault(format!("it {how}; its {what}: {}", last_lines(file)))
    }

    /// If all measured runs had less memory than can be seen, the peak memory of one more run, which is started so that
    /// less can be seen. `None` if one of them had more, or if the further run fails: a command that ended well need
    /// not do so again where it has left its files.
    pub fn peak_below_the_floor(&mut self, measured: &[Run]) -> Result<Option<u64>, Halt> {
        if !measured.iter().all(|run| run.timed.peak_rss_is_floor) {
            return Ok(None);
        }
        match self.one(true) {
            Ok(run) => Ok(Some(run.peak_rss_bytes)),
            Err(Halt::Failed(_)) => Ok(None),
            Err(halt) => Err(halt),
        }
    }
}
