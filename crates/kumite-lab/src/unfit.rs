//! The error for a value of a specification that will not do.

use thiserror::Error;

/// A sentence about a value of a specification that cannot be used: the fault, and a value that could be used. The
/// caller that reads the file adds the place.
///
/// The fault is held as words alone, because no code decides anything by it: the words become those of a
/// [`SpecError`](crate::SpecError), or a part of an [`Error`](crate::Error).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what}")]
pub struct Unfit {
    what: String,
    /// The key of `[answer]` that has the value. None if the value is not in `[answer]`.
    pub(crate) answer_key: Option<&'static str>,
}

impl Unfit {
    pub(crate) fn new(what: impl Into<String>) -> Unfit {
        Unfit { what: what.into(), answer_key: None }
    }

    /// A fault in the value of this key of `[answer]`.
    pub(crate) fn of_answer(key: &'static str, what: impl Into<String>) -> Unfit {
        Unfit { what: what.into(), answer_key: Some(key) }
    }
}

impl From<Unfit> for String {
    fn from(unfit: Unfit) -> String {
        unfit.what
    }
}
