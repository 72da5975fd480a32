//! The error for a value of a specification that will not do.

use thiserror::Error;

/// A sentence about a value of a specification that will not do: the fault, and a value that would do. The caller
/// that reads the file adds the place.
///
/// It holds words alone, because it is only ever put into a [`SpecError`](crate::SpecError): nothing decides by which
/// fault it was.
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
