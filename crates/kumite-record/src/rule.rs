//! By which rule claims are judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// By which rule the claims of a run are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// One-sided bets; of the verdicts that are given, at most 5 % are false, on average.
    #[default]
    FalseDiscoveryRate,
    /// One-sided bets; in at most 5 % of runs any verdict is false.
    Strict,
}

impl Rule {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::FalseDiscoveryRate => "false-discovery-rate",
            Rule::Strict => "strict",
        }
    }
}
