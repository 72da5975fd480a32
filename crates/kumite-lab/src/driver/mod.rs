//! Kinds of workloads: each is a folder here, and a line in [`KINDS`].

mod answer_check;
mod command;
pub(crate) mod function;
pub(crate) mod http;
pub(crate) mod line_process;
mod log;
mod own_metrics;
pub(crate) mod pacing;
mod registration;
mod settle;
mod steady_class;
pub(crate) mod task;
mod watch;
mod workload;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_record::{Cores, Point};

pub(crate) use registration::{Draft, Registration, Wrong};
pub(crate) use workload::{AnyWorkload, Workload};

use crate::execute::Executor;
use crate::halt::Halt;
use crate::prepare::Ready;
use crate::spec::Experiment;

/// The kinds there are.
pub(crate) static KINDS: [&Registration; 5] =
    [&http::KIND, &task::KIND, &function::KIND, &pacing::KIND, &command::KIND];

/// Who tries the contenders of a kind: for a trial, or only to see whether they answer right.
pub trait Driver: Executor {
    /// Starts the contender and makes sure that it answers as it should. Says how it does, in a word or two.
    fn check(&mut self, contender: &Ready, point: &Point, stop: &AtomicBool) -> Result<&'static str, Halt>;

    /// What this machine does not let kumite do, in words.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a driver is opened for.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// What is tried.
    pub experiment: &'a Experiment,
    /// Who gets which CPUs.
    pub cores: &'a Cores,
    /// The folder of the store; logs and scratch files go below it.
    pub state: &'a Path,
    /// The run's id, after which the folder of its logs is named.
    pub run: &'a str,
    /// Of its random choices.
    pub seed: u64,
    /// Set when it is to end.
    pub stop: &'a AtomicBool,
}

/// The driver of an experiment, ready for its first trial. From now on this thread, and those it starts, stay on the
/// engine's CPUs.
pub fn open<'a>(of: &Opening<'a>) -> Result<Box<dyn Driver + 'a>, Halt> {
    (of.experiment.kind.open)(of)
}
