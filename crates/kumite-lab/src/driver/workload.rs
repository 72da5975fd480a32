//! The workload of a trial, as plans see it.

use std::any::Any;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kumite_host::WantedCores;
use kumite_record::Within;

use super::{Answer, Scenario};
use crate::error::Error;
use crate::parameter::Parameters;
use crate::unfit::Unfit;

/// A function that reads the workload of a trial from its parameters, its right answer, and its requests if it has any
/// of its own.
pub(crate) type ReadWorkload = fn(&Parameters, &Answer, &Scenario) -> Result<AnyWorkload, Unfit>;

/// The workload of one trial, of any kind.
pub(crate) type AnyWorkload = Arc<dyn Workload>;

/// The workload of one trial, as far as plans and files depend on it. Its driver knows its whole type: see
/// [`Planned::typed`](super::Planned::typed).
pub(crate) trait Workload: Any + Debug + Send + Sync {
    /// The CPUs that the workload wants for the contender.
    fn cores(&self) -> WantedCores;

    /// The axis that the trial sweeps within itself. None if it sweeps none.
    fn within(&self) -> Option<Within> {
        None
    }

    /// The longest time that the trial takes once the contender is ready. None if it cannot be known before it is
    /// tried.
    fn time(&self) -> Option<Duration> {
        None
    }

    /// The shortest time that the trial takes once the contender is ready. None if it cannot be known before it is
    /// tried.
    fn least_time(&self) -> Option<Duration> {
        self.time()
    }

    /// The parameter that would have to be given for trials of the workload to have this metric. None if they may have
    /// the metric as the workload is.
    fn lacks(&self, _metric: &str) -> Option<&'static str> {
        None
    }

    /// Returns an error if a file that the workload needs is missing from the experiment's folder or cannot be used,
    /// with the parameter that names it.
    fn check_folder(&self, _folder: &Path) -> Result<(), (&'static str, Error)> {
        Ok(())
    }
}
