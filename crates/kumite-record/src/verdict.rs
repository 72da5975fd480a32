use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A claim and what the run says of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Unique within the experiment.
    pub id: String,
    /// The claim in the claim grammar.
    pub assert: String,
    /// The claim in plain words, where the experiment gives them.
    pub title: Option<String>,
    /// What was published, where something was.
    pub published: Option<String>,
    /// What the run says.
    pub verdict: Verdict,
    /// The effect of the comparison that decided.
    pub effect: Option<f64>,
    /// Lower end of the effect's interval.
    pub low: Option<f64>,
    /// Upper end of the effect's interval.
    pub high: Option<f64>,
    /// The level of this interval, as a share: it is what lets all claims of a run be right together in 95 % of runs.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// What the effect is.
    pub effect_kind: Option<EffectKind>,
    /// Why, in a sentence.
    pub why: String,
}

/// What the effect of a comparison is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKind {
    /// Left side over right side.
    Ratio,
    /// Left side less right side, where no ratio can be formed; in seconds, bytes or plain numbers.
    Difference,
    /// An exact value or count, which has no uncertainty; in seconds, bytes or plain numbers.
    Exact,
}

/// What a run says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval is on the claimed side.
    Holds,
    /// The whole interval is on the other side.
    Fails,
    /// The ratio is within the run's margin of 1: too near to be told apart, whichever side is the larger.
    NoDifference,
    /// The interval does not tell.
    Undecided,
    /// A contender or a point that the claim needs was not measured.
    NotTested,
}

impl Verdict {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::NoDifference => "no-difference",
            Verdict::Undecided => "undecided",
            Verdict::NotTested => "not-tested",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::NoDifference => "no difference",
            Verdict::NotTested => "not tested",
            other => other.as_str(),
        })
    }
}

/// A doubt that travels with the numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// What it is about: a contender, a cell, the machine.
    #[serde(rename = "where")]
    pub place: String,
    /// The doubt, in a sentence.
    pub what: String,
}
