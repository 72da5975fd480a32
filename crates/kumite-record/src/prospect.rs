//! The verdicts that a plan can lead to, before its first trial.

/// The outlook of a whole plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Prospects {
    /// The number of claims that share the probability of a false verdict.
    pub claims: usize,
    /// The blocks with which one can be decided where all rounds lie on one side, if any can.
    pub fewest: Option<usize>,
    /// The prospect of each claim that leaves something to chance.
    pub of_claims: Vec<Prospect>,
}

/// The blocks that it takes to decide a claim, if no other is decided and 90 % of rounds lie on one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Prospect {
    /// The id of the claim.
    pub id: String,
    /// How many bets are made on it: two for each `within`, one for each other comparison.
    pub comparisons: usize,
    /// The blocks for it to hold, if the usual share of rounds lies on one side; none if some of it is not tried.
    pub to_hold: Option<usize>,
    /// Likewise for it to fail, if one comparison of it is false.
    pub to_fail: Option<usize>,
}

impl Prospect {
    /// The blocks in which it can be decided either way.
    pub fn blocks(&self) -> Option<usize> {
        Some(self.to_hold?.max(self.to_fail?))
    }
}
