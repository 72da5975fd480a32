use std::fmt;

use kumite_lab::{Error, Halt, SpecError, chain};
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
        Failure::Incomplete(halt.why())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Incomplete(chain(&error))
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
