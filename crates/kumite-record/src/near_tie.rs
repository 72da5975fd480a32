//! Near-ties: claims whose verdict another run may reverse.

use crate::{Decider, Effect, Run, Verdict};

/// An earlier run that asked the same as the present experiment, and its near-ties.
#[derive(Clone, Debug, PartialEq)]
pub struct NearTies {
    /// The earlier run.
    pub run: Run,
    /// The place that the run was read from.
    pub place: RunPlace,
    /// The number of claims of the run.
    pub claims: usize,
    /// The claims of the run that are near-ties; empty if none is.
    pub near: Vec<NearTie>,
}

/// The place that an earlier run was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPlace {
    /// The results store.
    Store,
    /// This file in the experiment's folder.
    File(String),
}

/// A near-tie: a claim whose border lies where the effect of a further sitting may be.
#[derive(Clone, Debug, PartialEq)]
pub struct NearTie {
    /// The claim's id.
    pub claim: String,
    /// The claim's verdict.
    pub verdict: Verdict,
    /// The comparison of the claim whose effect is nearest to its border.
    pub decided_by: Decider,
    /// The effect of the comparison in `decided_by`: the median of all rounds or, from two sittings on, the middle of
    /// the interval in its bound. This is the interval that holds four of five further sittings.
    pub effect: Effect,
    /// The number of sittings that the interval rests on. With one, the usual scatter between sittings is assumed.
    pub sittings: usize,
    /// The effort that would decide the claim.
    pub remedy: Remedy,
}

/// The effort that would decide a near-tie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Remedy {
    /// More rounds decide: with this number of them in all, the border lies outside of the scatter.
    Rounds(usize),
    /// More jobs within each trial decide, because most of the scatter of rounds is that of jobs.
    Jobs {
        /// The number of jobs in a trial now; where trials differ, the fewest.
        now: usize,
        /// The number of jobs in a trial that is enough.
        enough: usize,
    },
    /// More sittings are needed, because no realistic number of rounds is enough.
    Sittings {
        /// The number of sittings in all, those that were measured included.
        sittings: usize,
        /// The probability that all of the sittings lie on the side of the border on which the effect is, if each has
        /// ten rounds.
        agree: f64,
    },
    /// Only a wider margin decides, because sittings scatter further than the margin within which there is no
    /// difference.
    Margin,
}
