//! A claim with its verdict, and all that a reader needs in order to doubt the verdict: evidence, doubts, reasons.
//!
//! No text of an experiment has to be parsed again to find out what was compared: a report makes its words from these
//! values.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AxisValue, ContenderStatus, ControlRatio, Decider, Effect, Enough, Mark, NextSitting, Outcome, Point,
    Probe, SittingEffect, Word, describe_tag,
};

/// A claim with the run's verdict on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The claim's id, unique within the experiment.
    pub id: String,
    /// The claim in the claim grammar.
    pub assert: String,
    /// The claim in plain words. None if the experiment gives none.
    pub title: Option<String>,
    /// The published figure or sentence, as the experiment gives it. None if nothing was published.
    pub published: Option<String>,
    /// The run's verdict.
    pub verdict: Verdict,
    /// The comparison that decided the claim. Without a decision, the comparison that tells most; for a claim that was
    /// not tested, the first comparison that could not be tested. None if there is no comparison to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Decider>,
    /// The size of the effect in the comparison that is shown. None if the claim was not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The evidence for the verdict; for a claim that is undecided or depends on the sitting, for the likeliest
    /// verdict. None if the claim leaves nothing to chance, was not tested, or fails by an equality or a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bet: Option<Bet>,
    /// The effect of the comparison in `decided_by` in all rounds that were measured. None if the verdict rests on all
    /// rounds anyway, or if the effect in all rounds has another form than the claim's effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_rounds: Option<AllRounds>,
    /// The effect of the comparison in `decided_by` on each node alone; empty if there is one node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeEffect>,
    /// The effect of the comparison in `decided_by` in each sitting alone; empty if the run is not judged by
    /// sittings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sittings: Vec<SittingEffect>,
    /// The interval for the effect in one more sitting. None if fewer than two sittings, counted as in `sittings`,
    /// have rounds of the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_sitting: Option<NextSitting>,
    /// The reason for the verdict, where the effect does not say it: for example what is missing, or how much more
    /// would decide the claim. None if the effect says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The reasons to doubt what the verdict rests on, for all comparisons of the claim. Empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// The names of the contenders that gave wrong answers, as the claim says that they do; empty unless the claim
    /// holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong_as_claimed: Vec<String>,
    /// The number of comparisons that are left out because this machine cannot measure their points.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: usize,
    /// The parameters for which the published source had another value than the claim's cells, each with the values
    /// that these cells have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scale: BTreeMap<String, Vec<AxisValue>>,
}

/// The evidence for a verdict: the money of somebody who began with 1 and bet on the verdict, round after round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bet {
    /// The evidence so far: 0 or more, 1 at the beginning.
    pub evidence: f64,
    /// The evidence that decides the claim: above 1.
    pub threshold: f64,
    /// The number of rounds up to the verdict, including rounds in which a comparison was not measured. If the verdict
    /// is about nodes like the run's own, the number of nodes.
    pub rounds: u32,
    /// The number of bets that the claim is made of: two for each `within`, one for each `<`, `<=`, `>` or `>=`, none
    /// for an equality or a count.
    pub comparisons: usize,
}

/// The effect of a comparison in all rounds, those after the decision on its claim included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllRounds {
    /// The median of the rounds' effects, in the form and unit of the claim's effect.
    pub effect: f64,
    /// The number of rounds.
    pub rounds: usize,
}

/// The effect of a comparison on one of several nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEffect {
    /// The name of the node, the same as in the run's list of nodes.
    pub node: String,
    /// The median of the effects of the node's rounds, in the form and unit of the claim's effect.
    pub effect: f64,
    /// The number of the node's rounds.
    pub rounds: usize,
    /// True if the node's median contradicts the verdict: it lies on another side of a border than the verdict says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contradicts: bool,
}

/// The reason for a comparison's outcome, where its interval does not say it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Reason {
    /// The profile has no point that a part of the claim speaks of, or none that this machine can measure.
    NoPart {
        /// The profile of the run.
        profile: String,
    },
    /// The profile lacks a point that the comparison needs.
    NoPoint {
        /// The profile of the run.
        profile: String,
        /// The point that the profile lacks.
        point: Point,
    },
    /// A fold needs two values of an axis at which all of its cells are planned and can be measured; the profile has
    /// fewer.
    FewValues {
        /// The profile of the run.
        profile: String,
        /// The axis that is folded over.
        axis: String,
    },
    /// The profile does not try a cell that the comparison needs.
    NotPlanned {
        /// The profile of the run.
        profile: String,
        /// The cell that the profile does not try.
        cell: CellName,
    },
    /// A contender did not take part.
    Absent {
        /// The contender that the comparison needs.
        contender: String,
        /// The contender's part in the run: skipped or failed.
        status: ContenderStatus,
        /// The reason why the contender was not measured, in words.
        why: String,
    },
    /// This machine cannot measure a point.
    Unavailable {
        /// The reason why the point cannot be measured, in words.
        why: String,
    },
    /// No trial of a cell can be used, because trials failed or were disqualified.
    NoUsableTrial {
        /// The cell that the comparison needs; without a point if a claim about wrong answers is about all trials of
        /// the contender.
        cell: CellName,
        /// The outcome of the cell's first trial that failed or was disqualified.
        outcome: Outcome,
        /// The reason of the cell's first trial that failed or was disqualified, in words.
        why: String,
    },
    /// The trials of a cell do not have the metric.
    NoMetric {
        /// The cell whose trials lack the metric.
        cell: CellName,
        /// The metric that is missing.
        metric: String,
    },
    /// A cell was planned, and was not tried.
    NotTried {
        /// The cell that was not tried; without a point if a claim about wrong answers is about all trials of the
        /// contender.
        cell: CellName,
    },
    /// Some trial of a cell has too few values for a metric, such as a percentile.
    TooFewValues {
        /// The cell whose trials are too short.
        cell: CellName,
        /// The name of the metric that lacks values.
        metric: String,
        /// The number of further values that the trial with the fewest needs.
        missing: u64,
        /// The parameter that would give the trials enough values. None if it is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enough: Option<Enough>,
    },
    /// There is no round in which all cells of the comparison were measured.
    NoRound {
        /// All cells that the comparison needs.
        cells: Vec<CellName>,
    },
    /// Some figures are lower bounds, and the verdict depends on their true values.
    LowerBounds,
    /// The control differs from itself by enough to carry the effect over the border.
    ControlIsOff {
        /// The control's ratio to itself that is furthest from 1, at any point, among the metrics that the comparison
        /// compares.
        by: ControlRatio,
    },
    /// `within` compares by ratio, and a side of it is not above 0.
    NotPositive,
    /// A side of the comparison has no finite value, for example because it divides by zero.
    NoValue,
    /// The claim is about the number of a contender's trials with a wrong answer.
    WrongAnswers {
        /// The contender whose wrong answers are counted.
        contender: String,
        /// The number of trials with a wrong answer, among those that the comparison is about; 0 if there are none.
        wrong: usize,
        /// The number of the contender's trials that the comparison is about.
        trials: usize,
    },
    /// More blocks would likely decide the claim.
    MoreBlocks {
        /// The number of further blocks that would likely decide. None if the rounds lie on both sides, so that no
        /// realistic number is in sight.
        blocks: Option<usize>,
        /// The verdict that the claim would have already if it were the only one. None if that is undecided, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alone: Option<Verdict>,
    },
    /// More nodes would likely decide the claim, where verdicts are about nodes like these.
    MoreNodes {
        /// The number of further nodes that would likely decide. None if the nodes lie on both sides, so that no
        /// realistic number is in sight.
        nodes: Option<usize>,
        /// The verdict that the claim would have already if it were the only one. None if that is undecided, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alone: Option<Verdict>,
    },
    /// More sittings would likely decide the claim.
    MoreSittings {
        /// The number of further sittings that would likely decide. None if the sittings lie on both sides, so that
        /// no realistic number is in sight.
        sittings: Option<usize>,
    },
    /// A reason that a later kumite gave. It is kept whole.
    #[serde(untagged)]
    #[schemars(skip)]
    Other(Foreign),
}

/// A doubt about what a verdict rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "what")]
#[schemars(transform = describe_tag)]
pub enum Doubt {
    /// Trials of a cell failed or were disqualified. The verdict rests on the others.
    LostTrials {
        /// The cell whose trials were lost.
        cell: CellName,
        /// The number of trials that were lost.
        lost: usize,
        /// The number of all trials of the cell.
        trials: usize,
    },
    /// Trials of a cell that the verdict rests on are marked.
    Marked {
        /// The cell whose trials are marked.
        cell: CellName,
        /// The mark that trials of the cell have.
        mark: Mark,
    },
    /// A check is red at a cell that the verdict rests on.
    Check {
        /// The id of the check.
        id: String,
    },
    /// The border of the claim lies within the interval that holds four of five further sittings, or that interval is
    /// not known.
    AnotherSittingMayDiffer,
    /// The run has one sitting, or several that count as one, so it does not show how much another sitting would
    /// differ.
    OneSitting,
    /// A sitting ended when its verdicts were in, so that its length depended on its figures.
    EndedByVerdicts {
        /// The position of the sitting in the run's list, from 0.
        sitting: usize,
    },
    /// In rounds after the decision the comparison lay on the other side of the border.
    LaterRounds {
        /// The number of rounds after the decision.
        rounds: usize,
        /// The median effect of the rounds after the decision, in the form and unit of the claim's effect.
        effect: f64,
    },
    /// The effects of the comparison's rounds followed a probe of the machine that was taken before the trials.
    WentWith {
        /// The part of the machine that was probed.
        probe: Probe,
        /// The median effect in the third of the rounds with the lowest probes, in the effect's unit.
        low: f64,
        /// The median effect in the third of the rounds with the highest probes, in the effect's unit.
        high: f64,
    },
    /// The effects of the comparison's rounds changed in the course of the run.
    ChangedDuringRun {
        /// The median effect in the first third of the rounds, in the effect's unit.
        first: f64,
        /// The median effect in the last third of the rounds, in the effect's unit.
        last: f64,
    },
    /// A doubt that a later kumite gave. It is kept whole.
    #[serde(untagged)]
    #[schemars(skip)]
    Other(Foreign),
}

/// A contender at a point, as values. Reports show the name of the cell in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CellName {
    /// The contender's name.
    pub contender: String,
    /// The point of the cell.
    #[serde(default, skip_serializing_if = "Point::is_empty")]
    pub point: Point,
}

/// A value of a kind that only a later kumite knows. It is kept whole, so that it can be written again unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    /// The name of the kind.
    pub what: String,
    /// The other members of the value, by name.
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
    /// The claim is true: each of its comparisons is true in more than half of all rounds.
    Holds,
    /// The claim is false: some comparison of it is true in no more than half of all rounds.
    Fails,
    /// The effect equals the claim's border to within the run's margin. For `a > b` this means that the two sides
    /// differ by no more than the margin, whichever is the larger.
    NoDifference,
    /// The rounds so far do not decide the claim.
    Undecided,
    /// The claim is clearly true in one sitting, and clearly false in another.
    DependsOnSitting,
    /// The claim cannot be judged: for example, a contender or a point that it needs was not measured, or lacks a
    /// figure. `reason` says why.
    #[default]
    NotTested,
    /// A verdict that a later kumite gave. It is shown as it was read.
    #[serde(untagged)]
    #[schemars(skip)]
    Other(Word),
}

impl Verdict {
    /// The word for the verdict in files.
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
