//! A value of a specification that will not do.

use thiserror::Error;

/// What is wrong with a value of a specification, and what would do, in words. Who reads the file knows its place.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Unfit(String);

impl Unfit {
    pub(crate) fn new(what: impl Into<String>) -> Unfit {
        Unfit(what.into())
    }
}

impl From<Unfit> for String {
    fn from(unfit: Unfit) -> String {
        unfit.0
    }
}
