//! How a command ends that gives a run: its documents, its gate, and its exit code.

use kumite_lab::common_fault;
use kumite_record::{Export, Outcome, standing};

use crate::exit::Failure;
use crate::gate::Gate;
use crate::output::{Documents, Length};
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

    /// Reports the run, and ends as it did. `goes_on` says how one that ended early goes on; none where its end was a wish of
    /// the user's, as that of a budget, and was kept.
    pub fn conclude(&self, export: Export, goes_on: Option<String>) -> Result<(), Failure> {
        self.gate.conclude(export, &self.documents, self.length.report(), |export| ended(export, goes_on))
    }
}

fn ended(export: &Export, goes_on: Option<String>) -> Result<(), Failure> {
    // By a fault that is no contender's.
    if let Some(why) = common_fault(&export.trials) {
        return Err(Failure::Incomplete(why));
    }
    match (&export.run.cut_short, goes_on) {
        (Some(why), Some(how)) => Err(Failure::Incomplete(format!("{why}; {how}"))),
        _ if standing(&export.trials).all(|trial| trial.outcome != Outcome::Ok) => {
            Err(Failure::Incomplete("no trial gave a result".to_owned()))
        }
        _ => Ok(()),
    }
}
