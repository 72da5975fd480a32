//! The claims, checks and contenders of a run that do not pass its gate.

use crate::{Check, Claim, Contender, Export, Outcome, Reason, Trial, standing};

/// A claim, a check or a contender that does not pass the gate.
#[derive(Debug)]
pub enum Amiss<'a> {
    /// A claim whose verdict does not pass the bar.
    Claim(&'a Claim),
    /// A check that is red, or was not tested.
    Check(&'a Check),
    /// A contender that did not take part, although neither a flag nor the profile left it out.
    Absent(&'a Contender),
    /// A contender with trials that failed or gave a wrong answer.
    Lost(Lost<'a>),
}

/// A contender with trials that failed or gave a wrong answer.
#[derive(Debug)]
pub struct Lost<'a> {
    /// The name of the contender.
    pub contender: &'a str,
    /// The number of the contender's trials that failed.
    pub failed: usize,
    /// The number of the contender's trials with a wrong answer.
    pub wrong: usize,
    /// The number of the contender's trials that stand (see `standing`), failed ones and those with a wrong answer
    /// included.
    pub trials: usize,
    /// The reason of the first failed trial; if none failed, of the first one with a wrong answer. None if that trial
    /// gave no reason.
    pub reason: Option<&'a str>,
}

impl<'a> Lost<'a> {
    /// The trials of a contender that failed or gave a wrong answer. None if there are none, or if only answers are
    /// wrong and a claim rightly foretold that.
    pub fn of(contender: &'a Contender, export: &'a Export) -> Option<Lost<'a>> {
        let name = &contender.name;
        let trials: Vec<&Trial> = standing(&export.trials).filter(|trial| trial.contender == *name).collect();
        let count = |outcome| trials.iter().filter(|trial| trial.outcome == outcome).count();
        let (failed, wrong) = (count(Outcome::Failed), count(Outcome::Disqualified));
        let is_claimed = export.claims.iter().any(|claim| claim.wrong_as_claimed.contains(name));
        if failed == 0 && (wrong == 0 || is_claimed) {
            return None;
        }
        let worst = if failed > 0 { Outcome::Failed } else { Outcome::Disqualified };
        let first = trials.iter().find(|trial| trial.outcome == worst);
        let reason = first.and_then(|trial| trial.reason.as_deref());
        Some(Lost { contender: name, failed, wrong, trials: trials.len(), reason })
    }
}

impl Amiss<'_> {
    /// The id of the claim or check, or the name of the contender.
    pub fn name(&self) -> &str {
        match self {
            Amiss::Claim(claim) => &claim.id,
            Amiss::Check(check) => &check.id,
            Amiss::Absent(contender) => &contender.name,
            Amiss::Lost(lost) => lost.contender,
        }
    }

    /// True if `--gate-allow` with this name lets the gate pass in spite of it. The name is that of the claim, check or
    /// contender itself or, for a claim that was not tested, that of the contender that was missing or had no usable
    /// trial. So one name allows a contender to be absent, with all claims that its absence leaves untested.
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
