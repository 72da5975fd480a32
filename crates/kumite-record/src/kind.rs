//! A kind of workload, by its word. The drivers say which kinds there are; a record may have a kind that this kumite
//! does not know.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of workload, by the word that files use for it. The drivers say which kinds there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Kind(Cow<'static, str>);

impl Kind {
    /// Makes a kind with this word, for which there need not be a driver.
    pub const fn new(name: &'static str) -> Kind {
        Kind(Cow::Borrowed(name))
    }

    /// The word that files use for the kind.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for Kind {
    fn from(name: &'static str) -> Kind {
        Kind::new(name)
    }
}

impl PartialEq<&str> for Kind {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
