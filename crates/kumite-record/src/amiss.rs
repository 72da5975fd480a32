//! The claims, checks and contenders of a run that do not pass its gate.

use crate::{Check, Claim, Contender, Reason};

/// The claim, the check or the contender that does not pass.
#[derive(Debug)]
pub enum Amiss<'a> {
    /// A claim whose verdict is not enough.
    Claim(&'a Claim),
    /// A check that is red, or was not tested.
    Check(&'a Check),
    /// A contender that did not take part, though nobody left it out.
    Absent(&'a Contender),
    /// A contender of which trials do not count.
    Lost(Lost<'a>),
}

/// A contender of which trials do not count.
#[derive(Debug)]
pub struct Lost<'a> {
    /// The name of the contender.
    pub contender: &'a str,
    /// The number of its trials that failed.
    pub failed: usize,
    /// Trials with a wrong answer.
    pub wrong: usize,
    /// All its trials that stand.
    pub trials: usize,
    /// The reason of the first that failed or, if none did, of the first with a wrong answer.
    pub reason: Option<&'a str>,
}

impl Amiss<'_> {
    /// The claim's id, or the name of the check or contender.
    pub fn name(&self) -> &str {
        match self {
            Amiss::Claim(claim) => &claim.id,
            Amiss::Check(check) => &check.id,
            Amiss::Absent(contender) => &contender.name,
            Amiss::Lost(lost) => lost.contender,
        }
    }

    /// True if allowing this name allows it: its own or, of a claim that was not tested, that of the contender that was not
    /// there. Allowing a contender to be absent allows all that this leaves untested.
    pub fn is_allowed_by(&self, name: &str) -> bool {
        let missing = match self {
            Amiss::Claim(Claim { reason: Some(Reason::Absent { contender, .. }), .. }) => Some(contender),
            Amiss::Claim(Claim { reason: Some(Reason::NoUsableTrial { cell, .. }), .. }) => {
                Some(&cell.contender)
            }
            _ => None,
        };
        self.name() == name || missing.is_some_and(|contender| contender == name)
    }
}
