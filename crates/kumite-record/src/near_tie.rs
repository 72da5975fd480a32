//! Claims whose verdict another run may turn round.

use crate::{Decider, Effect, Verdict};

/// A claim whose border lies where the effect of a further sitting may be.
#[derive(Clone, Debug, PartialEq)]
pub struct NearTie {
    /// The claim's id.
    pub claim: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// The comparison that is nearest to turning it round.
    pub decided_by: Decider,
    /// Its effect in all rounds that were measured. The bound is the interval in which four of five further sittings would be.
    pub effect: Effect,
    /// How many sittings that interval is measured by; with one the scatter between sittings is taken to be what is usual.
    pub sittings: usize,
    /// The effort that would tell.
    pub remedy: Remedy,
}

/// What would decide a near-tie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Remedy {
    /// So many rounds: with them the border is outside of the scatter.
    Rounds(usize),
    /// So many jobs within each trial, which has too few now: most of the scatter of rounds is that of jobs.
    Jobs {
        /// How many there are.
        now: usize,
        /// How many are enough.
        enough: usize,
    },
    /// So many sittings, which agree with this chance. No number of rounds is enough.
    Sittings {
        /// How many.
        sittings: usize,
        /// How likely it is that all lie on one side.
        agree: f64,
    },
    /// Sittings scatter further than the margin within which there is no difference: nothing but a wider margin.
    Margin,
}
