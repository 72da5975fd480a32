//! The rules by which claims can be judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule by which the claims of a run are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Claims are judged by one-sided bets: on average at most 5 % of the verdicts that are given are false.
    #[default]
    FalseDiscoveryRate,
    /// Claims are judged by one-sided bets: in at most 5 % of runs any verdict is false.
    Strict,
}

impl Rule {
    /// The word for the rule in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::FalseDiscoveryRate => "false-discovery-rate",
            Rule::Strict => "strict",
        }
    }
}
