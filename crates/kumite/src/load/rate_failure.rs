//! The failure of `kumite load` by an error of a search or of an objective.

use kumite_compare::RateError;

use crate::exit::Failure;

/// The failure with which the command ends after this error, which leaves no result.
pub fn failure(error: RateError) -> Failure {
    match error {
        // Not a gate's no: a job tells "too slow" from "not up" by the status.
        RateError::NoAnswer { .. } | RateError::Load(_) => Failure::Incomplete(error.to_string()),
        RateError::Recorded
        | RateError::Timeout { .. }
        | RateError::NoRate
        | RateError::Part(_)
        | RateError::TooShort { .. }
        | RateError::TooFewLoads { .. } => Failure::Usage(error.to_string()),
    }
}
