//! The three ways in which something does not come to its end: interrupted, failed, or void.
//!
//! They are told apart because their consequences differ: an interrupted trial is not kept, a failed one is a result,
//! and a void one is made again.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use kumite_record::VoidCause;

use crate::error::{Error, Fault, chain};
use crate::unfit::Unfit;

/// The reason why something did not come to its end.
#[derive(Debug)]
pub enum Halt {
    /// The work was interrupted: kumite was told to stop.
    Interrupted,
    /// The work failed, for this reason.
    Failed(Error),
    /// The work could not be done because this machine lacks something, whichever contender is tried. For this cause a
    /// trial is void.
    Void(VoidCause, Error),
}

impl Halt {
    /// The reason, or `Interrupted` if `stop` is set: whatever went wrong may have gone wrong because of that.
    pub(crate) fn unless_stopped(why: impl Into<Halt>, stop: &AtomicBool) -> Halt {
        if stop.load(Ordering::Relaxed) { Halt::Interrupted } else { why.into() }
    }

    /// A failure by the fault of another program.
    pub(crate) fn fault(what: impl Into<String>) -> Halt {
        Fault::new(what).into()
    }

    /// The reason for the early end, in words.
    pub fn why(&self) -> String {
        match self {
            Halt::Interrupted => "it was interrupted".to_owned(),
            Halt::Failed(why) | Halt::Void(_, why) => chain(why),
        }
    }

    /// Returns `Interrupted` if `stop` is set.
    pub(crate) fn if_set(stop: &AtomicBool) -> Result<(), Halt> {
        if stop.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
    }

    /// The same reason, with the name of the step before it. An interruption is returned unchanged.
    pub fn in_step(self, step: impl Into<Cow<'static, str>>) -> Halt {
        self.map(Error::step(step))
    }

    /// The same reason with its error replaced. An interruption stays as it is.
    pub(crate) fn map(self, of: impl FnOnce(Error) -> Error) -> Halt {
        match self {
            Halt::Interrupted => Halt::Interrupted,
            Halt::Failed(why) => Halt::Failed(of(why)),
            Halt::Void(what, why) => Halt::Void(what, of(why)),
        }
    }
}

impl From<Halt> for Error {
    fn from(halt: Halt) -> Error {
        match halt {
            Halt::Interrupted => Error::Interrupted,
            Halt::Failed(why) | Halt::Void(_, why) => why,
        }
    }
}

impl From<Error> for Halt {
    fn from(why: Error) -> Halt {
        Halt::Failed(why)
    }
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Halt {
        Halt::Failed(fault.into())
    }
}

impl From<Unfit> for Halt {
    fn from(unfit: Unfit) -> Halt {
        Halt::Failed(unfit.into())
    }
}

impl From<kumite_host::CoresError> for Halt {
    fn from(error: kumite_host::CoresError) -> Halt {
        Halt::Failed(error.into())
    }
}

impl From<kumite_process::Error> for Halt {
    fn from(error: kumite_process::Error) -> Halt {
        Halt::Failed(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_after_stop_was_set_is_an_interruption() {
        let failed = || Fault::new("it broke");
        let stop = AtomicBool::new(false);
        assert_eq!(Halt::unless_stopped(failed(), &stop).why(), "it broke");
        assert!(Halt::if_set(&stop).is_ok());
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(Halt::unless_stopped(failed(), &stop), Halt::Interrupted));
        assert!(matches!(Halt::if_set(&stop), Err(Halt::Interrupted)));
    }
}
