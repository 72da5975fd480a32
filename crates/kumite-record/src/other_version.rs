//! A note that parts of a run were made by different versions. It warns the reader and changes no figure.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe_tag;

/// A part of a run was made by another version of something than the first part. Its figures belong together with the others'
/// all the same; whoever reads them is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherVersion {
    /// The program whose version differs.
    pub of: Versioned,
    /// The version that the first part was made by; none if the program says none.
    pub first: Option<String>,
    /// The version that this part was made by; none if the program says none.
    pub here: Option<String>,
    /// The part that differs from the first.
    pub part: Part,
}

/// A program with a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Versioned {
    /// kumite, which made the trials.
    Kumite,
    /// The tools of this contender.
    Tools {
        /// The contender whose tools they are.
        contender: String,
    },
    /// This service.
    Service {
        /// The service's name in the experiment.
        name: String,
    },
}

/// A part of a run that need not have been made where, when and by what the others were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Part {
    /// A shard of the run.
    Shard {
        /// The shard's number, from 1.
        nth: u32,
    },
    /// A sitting.
    Sitting {
        /// Its number.
        nth: u32,
    },
    /// The trials after the run was taken up again, up to the next time that it was.
    Resumed {
        /// When the run was taken up again.
        at: Timestamp,
    },
}
