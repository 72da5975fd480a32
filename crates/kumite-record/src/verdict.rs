use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AxisValue, ContenderStatus, Enough, Mark, Outcome, Unit};

/// A claim and what the run says of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// What the effect is at least: shown by the bet that decided it or, of an undecided claim, as it would be if the claim
    /// were the only one. None where the other side decided, or two borders did, and in a record of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// What the effect is at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The level of each of these two bounds, as a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_confidence: Option<f64>,
    /// Lower end of the effect's two-sided interval.
    pub low: Option<f64>,
    /// Upper end of the effect's two-sided interval.
    pub high: Option<f64>,
    /// The level of this interval, as a share.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// What was betted on the verdict, or on the likeliest one; none where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bet: Option<Bet>,
    /// What the effect is.
    pub effect_kind: Option<EffectKind>,
    /// What an effect that is no ratio is counted in: seconds, bytes, a second, cores, or plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_unit: Option<Unit>,
    /// The comparison that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Decider>,
    /// From which effect on that comparison is so, where there is such a border; none in a record of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_from: Option<f64>,
    /// Up to which effect it is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_to: Option<f64>,
    /// What that comparison came to on each node, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeEffect>,
    /// What else there is to say of that comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Doubts about what it, and all that came out alike, rest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// Comparisons that are left out because this machine cannot measure their points.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: usize,
    /// Parameters that the source had another value of, with the values that its cells have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scale: BTreeMap<String, Vec<AxisValue>>,
    /// All that in a sentence, in a record of before it was kept apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// What whoever betted on a verdict came to have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bet {
    /// How many times his money.
    pub wealth: f64,
    /// How many times it takes for a verdict.
    pub threshold: f64,
    /// After how many rounds.
    pub rounds: u32,
    /// How many bets the claim's is made of: two for each `within`, one for each other comparison.
    pub comparisons: usize,
}

/// One of the comparisons of a claim.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decider {
    /// In the words of the claim, with what its `every`s have set.
    pub comparison: String,
    /// How many comparisons of the claim came out like it.
    pub alike: usize,
    /// How many there are.
    pub of: usize,
}

/// What a comparison came to on one of several nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEffect {
    /// Which node.
    pub node: String,
    /// The median of its rounds' effects.
    pub effect: f64,
    /// How many rounds it has.
    pub rounds: usize,
    /// Whether that median lies on another side of a border than the verdict says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contradicts: bool,
}

/// Why a comparison came out as it did, where its interval does not say it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Reason {
    /// The profile has no point that a part of the claim speaks of.
    NoPart {
        /// The profile.
        profile: String,
    },
    /// The profile has no such point.
    NoPoint {
        /// The profile.
        profile: String,
        /// The point, as the claim describes it.
        point: String,
    },
    /// The profile has fewer than two values of an axis at which there is all that a fold is over.
    FewValues {
        /// The profile.
        profile: String,
        /// The axis.
        axis: String,
    },
    /// The profile does not try this.
    NotPlanned {
        /// The profile.
        profile: String,
        /// What it does not try.
        cell: String,
    },
    /// A contender did not take part.
    Absent {
        /// Which.
        contender: String,
        /// What became of it.
        status: ContenderStatus,
        /// Why.
        why: String,
    },
    /// This machine cannot measure a point.
    Unavailable {
        /// Why.
        why: String,
    },
    /// All trials of a cell failed or were disqualified.
    NoUsableTrial {
        /// Which cell.
        cell: String,
        /// How the first of them ended.
        outcome: Outcome,
        /// Why.
        why: String,
    },
    /// Its trials do not measure this.
    NoMetric {
        /// Which cell.
        cell: String,
        /// What is missing.
        metric: String,
    },
    /// It was planned and not tried.
    NotTried {
        /// What.
        cell: String,
    },
    /// Some trial has too few values for a percentile.
    TooFewValues {
        /// Which cell.
        cell: String,
        /// The percentile.
        metric: String,
        /// How many more values the trial with the fewest needs.
        missing: u64,
        /// What would give it enough, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enough: Option<Enough>,
    },
    /// There is no round in which all of these were measured.
    NoRound {
        /// Which cells.
        cells: Vec<String>,
    },
    /// Some of its figures are lower bounds, and the verdict depends on how far they go.
    LowerBounds,
    /// `within` compares by ratio, and a side of it is not above 0.
    NotPositive,
    /// A side of it has no value: a division by zero, or a metric that is missing.
    NoValue,
    /// No statistics can be made of it.
    Unjudgeable {
        /// What they say.
        why: String,
    },
    /// So many trials of a contender gave a wrong answer.
    WrongAnswers {
        /// Which contender.
        contender: String,
        /// How many.
        wrong: usize,
        /// Of how many.
        trials: usize,
    },
    /// An interval of this level needs more blocks than there are; only in a record of before bets were of one side.
    TooFewBlocks {
        /// The level, as a share.
        level: f64,
        /// How many it needs.
        need: usize,
        /// How many there are.
        have: usize,
        /// The median of the effects that there are.
        effect: f64,
        /// What that is.
        kind: EffectKind,
    },
    /// About so many more blocks would tell; none if the blocks lie on both sides and no number of them is in sight.
    MoreBlocks {
        /// How many.
        blocks: Option<usize>,
        /// What it would be already, if the claim were the only one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alone: Option<Verdict>,
    },
    /// About so many more nodes would tell, where a verdict is about nodes like these; none if they lie on both sides.
    MoreNodes {
        /// How many.
        nodes: Option<usize>,
        /// What it would be already, if the claim were the only one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alone: Option<Verdict>,
    },
}

/// What is doubtful about the trials that a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Doubt {
    /// Trials of a cell failed or were disqualified: what is judged are the others.
    LostTrials {
        /// Which cell.
        cell: String,
        /// How many were lost.
        lost: usize,
        /// Of how many.
        trials: usize,
    },
    /// Trials of a cell are marked.
    Marked {
        /// Which cell.
        cell: String,
        /// The mark.
        mark: Mark,
    },
    /// A check is red at a cell that it rests on.
    Check {
        /// Which check.
        id: String,
    },
}

/// Gives the key that tells variants apart a description, which the derive has no place for.
fn describe_tag(schema: &mut Schema) {
    let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for variant in variants.into_iter().flatten() {
        if let Some(tag) = variant.pointer_mut("/properties/what").and_then(Value::as_object_mut) {
            tag.insert("description".to_owned(), "Which of them it is.".into());
        }
    }
}

fn is_none(count: &usize) -> bool {
    *count == 0
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is so in more than half of all rounds.
    Holds,
    /// Some of it is not.
    Fails,
    /// The ratio is within the run's margin of 1: too near to be told apart, whichever side is the larger.
    NoDifference,
    /// The rounds do not tell.
    Undecided,
    /// A contender or a point that the claim needs was not measured.
    #[default]
    NotTested,
}

/// By which rule the claims of a run are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// One-sided bets; of the verdicts that are given, at most 5 % are false, on average.
    FalseDiscoveryRate,
    /// One-sided bets; in at most 5 % of runs any verdict is false.
    Strict,
    /// Of before: two-sided intervals; 5 % over all claims of a run, shared by the comparisons of a claim where it is to fail.
    #[default]
    FamilyWise,
}

impl Rule {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::FalseDiscoveryRate => "false-discovery-rate",
            Rule::Strict => "strict",
            Rule::FamilyWise => "family-wise",
        }
    }
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
