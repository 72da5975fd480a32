//! A note that different versions made different parts of a run. It warns the reader and changes no figure.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe_tag;

/// A part of a run that was made by another version of a program than the first part. Its figures are used like those
/// of the other parts; reports name the versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherVersion {
    /// The program whose version differs.
    pub of: Versioned,
    /// The version that made the first part. None if the program says none.
    pub first: Option<String>,
    /// The version that made this part. None if the program says none.
    pub here: Option<String>,
    /// The part that differs from the first.
    pub part: Part,
}

/// A program whose version may differ between parts of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Versioned {
    /// kumite itself, which made the trials.
    Kumite,
    /// The tools that built and ran a contender.
    Tools {
        /// The contender whose tools they are.
        contender: String,
    },
    /// The program of a service.
    Service {
        /// The service's name in the experiment.
        name: String,
    },
}

/// A part of a run that may have been made at another time or place than the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Part {
    /// A shard of the run.
    Shard {
        /// The shard's number, from 1.
        nth: u32,
    },
    /// A sitting of the run.
    Sitting {
        /// The sitting's number, from 1.
        nth: u32,
    },
    /// The trials from when the run was resumed until it ended or was resumed again.
    Resumed {
        /// The time at which the run was resumed.
        at: Timestamp,
    },
}
