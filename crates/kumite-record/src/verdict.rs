//! A claim with its verdict, and all that a reader needs in order to doubt it: evidence, doubts, reasons.
//!
//! All of it is values. A report makes the words, and no text of an experiment is read again to find out what was compared.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AxisValue, ContenderStatus, ControlRatio, Decider, Effect, Enough, Mark, NextSitting, Outcome, Point,
    Probe, SittingEffect, Word, describe_tag,
};

/// A claim and what the run says of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Unique within the experiment.
    pub id: String,
    /// The claim in the claim grammar.
    pub assert: String,
    /// The claim in plain words, where the experiment gives them.
    pub title: Option<String>,
    /// The published figure or sentence, as the experiment gives it; none where nothing was published.
    pub published: Option<String>,
    /// The run's verdict.
    pub verdict: Verdict,
    /// The comparison that decided, or the one that tells most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Decider>,
    /// The size of that comparison's effect; none where it was not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The evidence for the verdict, or for the likeliest one; none where nothing was bet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bet: Option<Bet>,
    /// The same comparison in all rounds that were measured; none where the verdict rests on them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_rounds: Option<AllRounds>,
    /// The same comparison on each node alone; empty where there is one node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeEffect>,
    /// The same comparison in each sitting alone; empty where the run is not judged by sittings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sittings: Vec<SittingEffect>,
    /// The effect that one more sitting would have; none from fewer than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_sitting: Option<NextSitting>,
    /// The reason, where the effect does not say it: what is missing, or how much more would decide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Doubts about what it, and all that came out alike, rest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// The contenders that answered wrong, as the claim says of them; only where it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong_as_claimed: Vec<String>,
    /// Comparisons that are left out because this machine cannot measure their points.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: usize,
    /// Parameters that the source had another value of, with the values that its cells have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scale: BTreeMap<String, Vec<AxisValue>>,
}

/// The evidence for a verdict: how many times his money whoever betted on it came to have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bet {
    /// How much there is.
    pub evidence: f64,
    /// How much it takes for a verdict.
    pub threshold: f64,
    /// After how many rounds.
    pub rounds: u32,
    /// How many bets the claim's is made of: two for each `within`, one for each other comparison.
    pub comparisons: usize,
}

/// The effect of a comparison in all rounds, those after its claim was decided included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllRounds {
    /// The median of their effects.
    pub effect: f64,
    /// How many rounds they are.
    pub rounds: usize,
}

/// The effect of a comparison on one of several nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEffect {
    /// The name of the node, as the report has it.
    pub node: String,
    /// The median of its rounds' effects.
    pub effect: f64,
    /// How many rounds it has.
    pub rounds: usize,
    /// True if that median lies on another side of a border than the verdict says.
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
        /// The profile of the run.
        profile: String,
    },
    /// The profile has no such point.
    NoPoint {
        /// The profile of the run.
        profile: String,
        /// The point that the profile lacks.
        point: Point,
    },
    /// The profile has fewer than two values of an axis at which there is all that a fold is over.
    FewValues {
        /// The profile of the run.
        profile: String,
        /// The axis that is folded over.
        axis: String,
    },
    /// The profile does not try this.
    NotPlanned {
        /// The profile of the run.
        profile: String,
        /// The cell that it does not try.
        cell: CellName,
    },
    /// A contender did not take part.
    Absent {
        /// The contender that the comparison needs.
        contender: String,
        /// Its part in the run: skipped or failed.
        status: ContenderStatus,
        /// The reason that it was not measured, in words.
        why: String,
    },
    /// This machine cannot measure a point.
    Unavailable {
        /// The reason that the point cannot be measured, in words.
        why: String,
    },
    /// All trials of a cell failed or were disqualified.
    NoUsableTrial {
        /// The cell that the comparison needs.
        cell: CellName,
        /// How the first of them ended.
        outcome: Outcome,
        /// The reason of that trial, in words.
        why: String,
    },
    /// Its trials do not measure this.
    NoMetric {
        /// The cell whose trials lack it.
        cell: CellName,
        /// The metric that is missing.
        metric: String,
    },
    /// It was planned and not tried.
    NotTried {
        /// The cell that was not tried.
        cell: CellName,
    },
    /// Some trial has too few values for a percentile.
    TooFewValues {
        /// The cell whose trials are too short.
        cell: CellName,
        /// The name of the percentile that it lacks.
        metric: String,
        /// How many more values the trial with the fewest needs.
        missing: u64,
        /// The parameter that would give it enough; none where nobody knows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enough: Option<Enough>,
    },
    /// There is no round in which all of these were measured.
    NoRound {
        /// All cells that the comparison needs.
        cells: Vec<CellName>,
    },
    /// Some of its figures are lower bounds, and the verdict depends on how far they go.
    LowerBounds,
    /// The control differs from itself by enough to carry the effect over the border.
    ControlIsOff {
        /// How far it is from itself in a metric that the claim compares, where that is most.
        by: ControlRatio,
    },
    /// `within` compares by ratio, and a side of it is not above 0.
    NotPositive,
    /// A side of it has no value: a division by zero, or a metric that is missing.
    NoValue,
    /// So many trials of a contender gave a wrong answer.
    WrongAnswers {
        /// The contender whose answers were wrong.
        contender: String,
        /// The trials in which they were wrong.
        wrong: usize,
        /// All trials of that contender.
        trials: usize,
    },
    /// About so many more blocks would tell; none if the blocks lie on both sides and no number of them is in sight.
    MoreBlocks {
        /// The number of further blocks that would likely decide; none where no realistic number is in sight.
        blocks: Option<usize>,
        /// The verdict that it would have already, if the claim were the only one; none if that is undecided, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alone: Option<Verdict>,
    },
    /// About so many more nodes would tell, where a verdict is about nodes like these; none if they lie on both sides.
    MoreNodes {
        /// The number of further nodes that would likely decide; none where no realistic number is in sight.
        nodes: Option<usize>,
        /// The verdict that it would have already, if the claim were the only one; none if that is undecided, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alone: Option<Verdict>,
    },
    /// About so many more sittings would tell; none if those that there are lie on both sides.
    MoreSittings {
        /// The number of further sittings that would likely decide; none where no realistic number is in sight.
        sittings: Option<usize>,
    },
    /// One that a later kumite knows.
    #[serde(untagged)]
    #[schemars(skip)]
    Other(Foreign),
}

/// A doubt about what a verdict rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Doubt {
    /// Trials of a cell failed or were disqualified: what is judged are the others.
    LostTrials {
        /// The cell whose trials were lost.
        cell: CellName,
        /// The number of trials that were lost.
        lost: usize,
        /// All trials of that cell.
        trials: usize,
    },
    /// Trials of a cell are marked.
    Marked {
        /// The cell whose trials are marked.
        cell: CellName,
        /// The mark that its trials have.
        mark: Mark,
    },
    /// A check is red at a cell that it rests on.
    Check {
        /// The id of the check.
        id: String,
    },
    /// The border is within the interval in which four of five further sittings would be.
    AnotherSittingMayDiffer,
    /// There is one sitting alone: nothing is known of how much another would differ.
    OneSitting,
    /// A sitting ended when its verdicts were in.
    EndedByVerdicts {
        /// The position of the sitting.
        sitting: usize,
    },
    /// In rounds after it was decided the comparison was on the other side.
    LaterRounds {
        /// How many rounds these are.
        rounds: usize,
        /// The median of their effects.
        effect: f64,
    },
    /// The effects of the comparison's rounds went with what the machine charged before its trials.
    WentWith {
        /// The part of the machine.
        probe: Probe,
        /// The median effect in the third of the rounds before which that was cheapest.
        low: f64,
        /// The same where it was dearest.
        high: f64,
    },
    /// The effects of the comparison's rounds went with the time.
    ChangedDuringRun {
        /// The median effect in the first third of the rounds.
        first: f64,
        /// The same in the last.
        last: f64,
    },
    /// One that a later kumite knows.
    #[serde(untagged)]
    #[schemars(skip)]
    Other(Foreign),
}

/// A contender at a point, as values: people read the name of its cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CellName {
    /// The contender's name.
    pub contender: String,
    /// The point of the cell.
    #[serde(default, skip_serializing_if = "Point::is_empty")]
    pub point: Point,
}

/// A value by a later kumite, of a kind that this one does not know: kept whole, so that it is written again as it
/// was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    /// The name of the kind.
    pub what: String,
    /// All else that it says.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A run's answer to a claim.
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
    /// It is clearly so in one sitting, and clearly not so in another.
    DependsOnSitting,
    /// A contender or a point that the claim needs was not measured.
    #[default]
    NotTested,
    /// One that a later kumite gives.
    #[serde(untagged)]
    #[schemars(skip)]
    Other(Word),
}

impl Verdict {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::NoDifference => "no-difference",
            Verdict::Undecided => "undecided",
            Verdict::DependsOnSitting => "depends-on-sitting",
            Verdict::NotTested => "not-tested",
            Verdict::Other(word) => word.as_str(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::NoDifference => "no difference",
            Verdict::DependsOnSitting => "depends on the sitting",
            Verdict::NotTested => "not tested",
            other => other.as_str(),
        })
    }
}
