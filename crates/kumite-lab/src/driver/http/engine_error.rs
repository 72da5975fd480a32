//! Why the load engine could not offer a load: for a fault of the contender's, or for what this machine lacks.

use kumite_load::Error;
use kumite_record::VoidCause;

use crate::halt::Halt;

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        let why = error.to_string();
        match error {
            Error::NoPort { .. } => Halt::Void(VoidCause::NoPort, why),
            Error::NoDescriptor { .. } | Error::Files(_) => Halt::Void(VoidCause::NoDescriptor, why),
            _ => Halt::Failed(why),
        }
    }
}
