//! Kinds of workloads: each is a folder here, and a line in [`KINDS`].
//!
//! A driver is opened once for a run, and makes the run's trials one at a time. It starts the contender afresh for each
//! trial and, whatever happens, ends all processes of the trial before it returns. A contender that fails makes a
//! failed trial. An error of a trial is an interruption, or another node that does not answer. The code that all kinds
//! share is in `workbench.rs` (opening, logs, services) and `attended.rs` (void trials, files left behind), so a kind
//! has only its own way to measure.

mod answer;
mod answer_check;
mod answer_expect;
mod attended;
mod command;
mod conditions;
pub(crate) mod function;
pub(crate) mod http;
pub(crate) mod line_process;
mod log;
mod own_folder;
pub(crate) mod own_home;
mod own_metrics;
pub(crate) mod pacing;
mod planned;
pub(crate) mod probed;
mod registration;
pub(crate) mod scenario;
pub(crate) mod scratch;
mod steady_class;
pub(crate) mod task;
mod trial;
mod warm_up;
mod watch;
mod workbench;
pub(crate) mod worker;
mod workload;

pub use answer::Answer;
use attended::Attended;
pub(crate) use conditions::Conditions;
pub use planned::Planned;
pub use registration::Opening;
pub(crate) use registration::{Draft, Registration, Wrong};
pub(crate) use scenario::{RequestFile, Scenario, SessionFile, Written};
pub use trial::{Answered, Driver, Executor, Measured, Short, TrialOrder, Wanted};
pub(crate) use workload::{AnyWorkload, ReadWorkload, Workload};

use crate::halt::Halt;

/// All kinds of workloads.
pub(crate) static KINDS: [&Registration; 5] =
    [&http::KIND, &task::KIND, &function::KIND, &pacing::KIND, &command::KIND];

/// Opens the driver of an experiment, ready for its first trial. From then on the calling thread, and the threads that
/// it starts, stay on the engine's CPUs. An error if these CPUs or anything else that all trials need cannot be had, if
/// a service does not start and end, or if the run is to end meanwhile.
pub fn open<'a>(of: &Opening<'a>) -> Result<Box<dyn Driver + 'a>, Halt> {
    Ok(Box::new(Attended::new((of.kind.open)(of)?, of.clone())))
}
