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
    /// Refuses documents that cannot be written, before a long run.
    pub fn check(&self) -> Result<(), Failure> {
        self.documents.check()
    }

    /// Reports the run, judges it by the gate if one is set, and ends accordingly. `early` is the reason why the
    /// command did not complete the run, and how the run goes on; none if it is complete, was ended by a budget on
    /// this machine, or was only merged here.
    pub fn conclude(&self, export: Export, early: Option<String>) -> Result<(), Failure> {
        self.gate.conclude(export, &self.documents, self.length.report(), |export| ended(export, early))
    }
}

/// The outcome of a command by its run: an error if the run ended early, or its trials say nothing.
pub fn ended(export: &Export, early: Option<String>) -> Result<(), Failure> {
    let why = common_fault(&export.trials).or(early).or_else(|| no_result(export));
    why.map_or(Ok(()), |why| Err(Failure::Incomplete(why)))
}

/// The reason why the run's trials say nothing: a fault that is no contender's, or no result at all. None if they say
/// something.
pub fn fault(export: &Export) -> Option<String> {
    common_fault(&export.trials).or_else(|| no_result(export))
}

fn no_result(export: &Export) -> Option<String> {
    let has_none = standing(&export.trials).all(|trial| trial.outcome != Outcome::Ok);
    has_none.then(|| "no trial gave a result".to_owned())
}
