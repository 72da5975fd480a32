//! A workload as plans see it.

use std::any::Any;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kumite_host::WantedCores;
use kumite_record::Within;

use super::Answer;
use crate::error::Error;
use crate::parameter::Parameters;
use crate::unfit::Unfit;

/// Reads the workload of a trial from its parameters.
pub(crate) type ReadWorkload = fn(&Parameters, &Answer) -> Result<AnyWorkload, Unfit>;

/// The workload of one trial, of whichever kind.
pub(crate) type AnyWorkload = Arc<dyn Workload>;

/// The workload of one trial, as far as plans and files are made of it. Its driver knows the whole type: see
/// [`Planned::typed`].
///
/// [`Planned::typed`]: super::Planned::typed
pub(crate) trait Workload: Any + Debug + Send + Sync {
    /// The CPUs that the contender is to have.
    fn cores(&self) -> WantedCores;

    /// The axis that the trial sweeps within itself, if it does.
    fn within(&self) -> Option<Within> {
        None
    }

    /// How long the trial takes once the contender is ready, at most; none if only trying it tells.
    fn time(&self) -> Option<Duration> {
        None
    }

    /// The shortest time that the trial takes then; the same as `time`, unless only trying it tells more.
    fn least_time(&self) -> Option<Duration> {
        self.time()
    }

    /// An error if the experiment's folder lacks a file that it needs, with the parameter that names it.
    fn check_folder(&self, _folder: &Path) -> Result<(), (&'static str, Error)> {
        Ok(())
    }
}
