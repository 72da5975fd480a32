//! What a run is measured with.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_lab::{
    Clock, Executor, Experiment, FunctionExecutor, Halt, HttpExecutor, Kind, PacingExecutor, RealClock,
    TaskExecutor,
};
use kumite_record::Cores;

/// Whose clock it is that runs go by, and who executes their trials.
pub trait World {
    /// What time it is.
    fn clock(&self) -> &dyn Clock;
    /// Who executes the trials of a run.
    fn tries<'a>(&'a self, of: &Of<'a>) -> Result<Tries<'a>, Halt>;
}

/// A run whose trials are to be executed.
pub struct Of<'a> {
    /// What is tried.
    pub experiment: &'a Experiment,
    /// Who gets which CPUs.
    pub cores: Cores,
    /// The folder of the store.
    pub state: &'a Path,
    /// The run's id.
    pub run: &'a str,
    /// Of its random choices.
    pub seed: u64,
    /// Set when it is to end.
    pub stop: &'a AtomicBool,
}

/// Who executes them.
pub struct Tries<'a> {
    /// That is it.
    pub executor: Box<dyn Executor + 'a>,
    /// What cannot be done here, in words.
    pub wanting: Vec<String>,
}

/// Nothing is made up: its clock, and contenders that are started.
#[derive(Default)]
pub struct ThisMachine(RealClock);

impl World for ThisMachine {
    fn clock(&self) -> &dyn Clock {
        &self.0
    }

    fn tries<'a>(&'a self, of: &Of<'a>) -> Result<Tries<'a>, Halt> {
        let Of { experiment, state, run, seed, stop, .. } = *of;
        let cores = of.cores.clone();
        let tries = |executor, wanting| Tries { executor, wanting };
        Ok(match experiment.kind {
            Kind::Http => {
                tries(Box::new(HttpExecutor::new(experiment, cores, state, run, stop)?), Vec::new())
            }
            Kind::Task => {
                tries(Box::new(TaskExecutor::new(experiment, cores, state, run, stop)?), Vec::new())
            }
            Kind::Function => {
                let executor = FunctionExecutor::new(experiment, cores, state, run, seed, stop)?;
                let wanting = executor.wanting();
                tries(Box::new(executor), wanting)
            }
            Kind::Pacing => {
                let executor = PacingExecutor::new(experiment, cores, state, run)?;
                let wanting = executor.wanting();
                tries(Box::new(executor), wanting)
            }
        })
    }
}
