//! Why something did not come to its end.

use std::sync::atomic::{AtomicBool, Ordering};

use kumite_record::VoidCause;

/// Why something did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It was told to stop.
    Interrupted,
    /// It could not be done, for this reason.
    Failed(String),
    /// It could not be done for want of something that this machine has not, whoever is tried: a trial is void for it.
    Void(VoidCause, String),
}

impl Halt {
    /// Interrupted if `stop` is set, whatever else went wrong: it may have gone wrong because of that.
    pub(crate) fn of(why: impl Into<Halt>, stop: &AtomicBool) -> Halt {
        if stop.load(Ordering::Relaxed) { Halt::Interrupted } else { why.into() }
    }

    /// In words.
    pub fn why(self) -> String {
        match self {
            Halt::Interrupted => "it was interrupted".to_owned(),
            Halt::Failed(why) | Halt::Void(_, why) => why,
        }
    }

    /// Interrupted if `stop` is set.
    pub(crate) fn if_set(stop: &AtomicBool) -> Result<(), Halt> {
        if stop.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
    }

    /// With the reason in other words.
    pub fn reworded(self, words: impl FnOnce(String) -> String) -> Halt {
        match self {
            Halt::Interrupted => Halt::Interrupted,
            Halt::Failed(why) => Halt::Failed(words(why)),
            Halt::Void(what, why) => Halt::Void(what, words(why)),
        }
    }
}

impl From<String> for Halt {
    fn from(why: String) -> Halt {
        Halt::Failed(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_after_stop_was_set_is_an_interruption() {
        let failed = || "it broke".to_owned();
        let stop = AtomicBool::new(false);
        assert_eq!(Halt::of(failed(), &stop), Halt::Failed(failed()));
        assert_eq!(Halt::if_set(&stop), Ok(()));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(Halt::of(failed(), &stop), Halt::Interrupted);
        assert_eq!(Halt::if_set(&stop), Err(Halt::Interrupted));
    }
}
