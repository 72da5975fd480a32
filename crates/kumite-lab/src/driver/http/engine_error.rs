//! Errors of the load engine, told apart: a fault of the contender, or something that this machine lacks.

use kumite_load::Error;
use kumite_record::VoidCause;

use crate::error;
use crate::halt::Halt;

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        let lacks = match &error {
            Error::NoPort { .. } => Some(VoidCause::NoPort),
            Error::NoDescriptor { .. } | Error::Files(_) => Some(VoidCause::NoDescriptor),
            _ => None,
        };
        let why = error::Error::Load(error);
        match lacks {
            Some(cause) => Halt::Void(cause, why),
            None => Halt::Failed(why),
        }
    }
}
