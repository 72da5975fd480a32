//! The verdicts that a plan can lead to, before its first trial.

/// The prospects of a plan: how many blocks it takes to decide its claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Prospects {
    /// The number of claims that share the allowed probability of a false verdict.
    pub claims: usize,
    /// The number of blocks that decides a claim, if all rounds of the claim lie on one side and no other claim is
    /// decided. `None` if no realistic number of blocks would, or if no claim leaves anything to chance.
    pub fewest: Option<usize>,
    /// The prospect of each claim that leaves something to chance.
    pub of_claims: Vec<Prospect>,
}

/// The number of blocks that decides a claim, if no other claim is decided and 90 % of rounds lie on one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Prospect {
    /// The id of the claim.
    pub id: String,
    /// The number of bets on the claim: two for each `within`, one for each `<`, `<=`, `>` or `>=`.
    pub comparisons: usize,
    /// The number of blocks for the claim to hold. None if the plan does not try all of it, or no realistic number of
    /// blocks is enough.
    pub to_hold: Option<usize>,
    /// The number of blocks for the claim to fail, if one comparison of it is false. None if no realistic number of
    /// blocks is enough.
    pub to_fail: Option<usize>,
}

impl Prospect {
    /// The number of blocks with which the claim can be decided either way. `None` if no realistic number of blocks
    /// lets it hold, or lets it fail.
    pub fn blocks(&self) -> Option<usize> {
        Some(self.to_hold?.max(self.to_fail?))
    }
}
