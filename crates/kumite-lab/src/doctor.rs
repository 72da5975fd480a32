//! What this machine can and cannot give, and which contenders have their tools.

mod tools;

use kumite_host::{Finding, facts};
use schemars::JsonSchema;
use serde::Serialize;

pub use tools::{Equipment, NeedFound};

/// The version of [`Diagnosis`]. It grows when a reader of the old form would misread the new one.
const SCHEMA: u32 = 1;

/// What this machine can and cannot give: what `kumite doctor` shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// kumite's own version.
    pub kumite: String,
    /// What was found, group by group.
    pub findings: Vec<Finding>,
    /// Which contenders of the experiments here have their tools.
    pub contenders: Vec<Equipment>,
}

/// Looks at this machine; takes a second or two, most of it asking tools for their versions.
pub fn doctor() -> Diagnosis {
    Diagnosis {
        schema: SCHEMA,
        kumite: env!("CARGO_PKG_VERSION").to_owned(),
        findings: facts(),
        contenders: tools::equipment(),
    }
}
