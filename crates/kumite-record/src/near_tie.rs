//! Near-ties: claims whose verdict another run may reverse.

use crate::{Decider, Effect, Verdict};

/// A near-tie: a claim whose border lies where the effect of a further sitting may be.
#[derive(Clone, Debug, PartialEq)]
pub struct NearTie {
    /// The claim's id.
    pub claim: String,
    /// The claim's verdict.
    pub verdict: Verdict,
    /// The comparison whose effect is nearest to its border.
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
    /// More rounds decide: with this number of them the border lies outside of the scatter.
    Rounds(usize),
    /// More jobs within each trial decide, because most of the scatter of rounds is that of jobs.
    Jobs {
        /// The number of jobs in a trial now; where trials differ, the fewest.
        now: usize,
        /// The number of jobs that is enough.
        enough: usize,
    },
    /// More sittings are needed, because no realistic number of rounds is enough.
    Sittings {
        /// The number of sittings.
        sittings: usize,
        /// The probability that all of the sittings lie on one side of the border.
        agree: f64,
    },
    /// Only a wider margin decides, because sittings scatter further than the margin within which there is no
    /// difference.
    Margin,
}
