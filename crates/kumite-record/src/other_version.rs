use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe_tag;

/// A part of a run was made by another version of something than the first part. Its figures belong together with the others'
/// all the same; whoever reads them is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherVersion {
    /// Of what.
    pub of: Versioned,
    /// Which one the first part was made by; none if it says none.
    pub first: Option<String>,
    /// Which one this part was made by.
    pub here: Option<String>,
    /// Which part.
    pub part: Part,
}

/// What has a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Versioned {
    /// kumite itself.
    Kumite,
    /// The tools of this contender.
    Tools {
        /// Which one.
        contender: String,
    },
    /// This service.
    Service {
        /// Which one.
        name: String,
    },
}

/// A part of a run that need not have been made where, when and by what the others were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Part {
    /// A shard.
    Shard {
        /// Its number.
        nth: u32,
    },
    /// What was measured after it was taken up again, until it was so the next time.
    Resumed {
        /// When it was.
        at: Timestamp,
    },
}
