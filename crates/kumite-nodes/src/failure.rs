use std::fmt;

use kumite_lab::{Halt, SpecError};
use kumite_record::StoreError;

/// Why a run on several machines did not come to its end.
#[derive(Debug)]
pub enum Failure {
    /// What was typed, or written in a specification, makes no sense.
    Usage(String),
    /// It could not be done, or not to its end.
    Incomplete(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(what) | Failure::Incomplete(what) => f.write_str(what),
        }
    }
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Failure {
        Failure::Usage(error.to_string())
    }
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Failure {
        match halt {
            Halt::Interrupted => Failure::Incomplete("it was interrupted".to_owned()),
            Halt::Failed(why) | Halt::Void(_, why) => Failure::Incomplete(why),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        match error {
            StoreError::NoSuchRun { .. } | StoreError::Ambiguous { .. } => Failure::Usage(error.to_string()),
            _ => Failure::Incomplete(error.to_string()),
        }
    }
}
