//! The end of a command that has a run as its result: its documents, its gate, and its exit code.

use kumite_lab::common_fault;
use kumite_record::{Export, Outcome, standing};

use crate::documents::Documents;
use crate::exit::Failure;
use crate::gate::Gate;
use crate::output::Length;
use crate::store::Db;

#[derive(clap::Args)]
pub struct Ending {
    #[command(flatten)]
    documents: Documents,
    #[command(flatten)]
    length: Length,
    #[command(flatten)]
    pub gate: Gate,
    #[command(flatten)]
    pub db: Db,
}

impl Ending {
    /// Refuses what [`Documents::check`] refuses, such as a file whose folder does not exist. To be called before a
    /// long run.
    pub fn check(&self) -> Result<(), Failure> {
        self.documents.check()
    }

    /// Writes the run's report and documents, and judges the run by the gate if one is set. `early` is the reason why
    /// the command did not complete the run, with the way to continue it; `None` if the run is complete, was ended by a
    /// budget on this machine, or was only merged here. An error if `early` is given, if the trials say nothing, or if
    /// the gate does not let the run pass.
    pub fn conclude(&self, export: Export, early: Option<String>) -> Result<(), Failure> {
        self.gate.conclude(export, &self.documents, self.length.report(), |export| ended(export, early))
    }
}

/// The outcome of a command that measured a run: an error if the contenders' trials show a fault that is no
/// contender's, if the run ended early for the reason `early`, or if no trial gave a result.
pub fn ended(export: &Export, early: Option<String>) -> Result<(), Failure> {
    let why = common_fault(&export.trials).or(early).or_else(|| no_result(export));
    why.map_or(Ok(()), |why| Err(Failure::Incomplete(why)))
}

/// The reason why the run's trials say nothing: a fault that is no contender's, or no result at all. `None` if at least
/// one trial gave a result, and there is no such fault.
pub fn fault(export: &Export) -> Option<String> {
    common_fault(&export.trials).or_else(|| no_result(export))
}

fn no_result(export: &Export) -> Option<String> {
    let has_none = standing(&export.trials).all(|trial| trial.outcome != Outcome::Ok);
    has_none.then(|| "no trial gave a result".to_owned())
}
