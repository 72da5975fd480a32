//! The part that the drivers of all kinds share, and the steps by which each is opened.
//!
//! First this thread goes to the engine's CPUs and the folder of the run's logs is made; then the services are
//! rehearsed, so that a fault in one is reported before the first trial; then the kind adds what it alone needs.
//! Nothing may be started before the first step, since what is started inherits the CPUs of its parent.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use kumite_process::{become_subreaper, pin_thread};
use kumite_record::Cores;

use super::answer_check::AnswerCheck;
use super::{Conditions, Measured, Opening};
use crate::contender::Ready;
use crate::error::Error;
use crate::halt::Halt;
use crate::service::Services;

/// The parts of a driver that all kinds have in common.
pub(super) struct Workbench<'a> {
    pub conditions: Conditions<'a>,
    /// The CPUs of contenders and of the load engine.
    pub cores: &'a Cores,
    /// The folder of the store; the logs go below it.
    pub state: &'a Path,
    /// The folder of the run's logs, relative to that of the store.
    logs: PathBuf,
    pub services: Services<'a>,
}

/// The log of a trial.
pub(super) struct TrialLog {
    /// The file that the contender's output goes to; for a function, the folder of its instances' logs.
    pub path: PathBuf,
    /// The path of the log for the record: relative to the folder of the store, which may be moved.
    name: String,
}

impl<'a> Workbench<'a> {
    /// Makes the workbench. From now on this thread, and those it starts, stay on the engine's CPUs. An error if
    /// these cannot be had, or a service does not start and end.
    pub fn new(of: &Opening<'a>) -> Result<Workbench<'a>, Halt> {
        let Opening { cores, state, stop, .. } = *of;
        let logs = PathBuf::from("logs").join(of.run);
        let here = state.join(&logs);
        std::fs::create_dir_all(&here).map_err(Error::cannot("make", &here))?;
        pin_thread(&cores.engine)?;
        become_subreaper().map_err(Error::step("cannot adopt processes that lose their parent"))?;
        let conditions = of.conditions.clone();
        let services = conditions.rehearsed(&cores.engine, &here, stop)?;
        Ok(Workbench { conditions, cores, state, logs, services })
    }

    /// Makes the check of answers, for kinds whose answers are JSON or files. An error if the experiment's checker
    /// cannot be started.
    pub fn answer_check(&self, stop: &AtomicBool) -> Result<AnswerCheck<'a>, Halt> {
        let Conditions { answer, folder, .. } = self.conditions;
        AnswerCheck::new(answer, folder, &self.cores.engine, self.log("checker.log"), stop)
    }

    /// The path of a log, or of a folder for logs, with this name.
    pub fn log(&self, name: &str) -> PathBuf {
        self.state.join(&self.logs).join(name)
    }

    /// The path of the log of a contender that is checked and not measured.
    pub fn check_log(&self, contender: &Ready) -> PathBuf {
        self.log(&format!("{}.log", contender.name))
    }

    /// The log of a trial, with this name.
    pub fn trial_log(&self, name: &str) -> TrialLog {
        TrialLog { path: self.log(name), name: self.logs.join(name).display().to_string() }
    }
}

impl TrialLog {
    /// Puts the log's name into a trial. A failure becomes a trial that measured nothing; an interruption stays an
    /// error.
    pub fn of_trial(self, tried: Result<Measured, Halt>) -> Result<Measured, Halt> {
        Ok(Measured { log: Some(self.name), ..Measured::or_failed(tried)? })
    }
}
