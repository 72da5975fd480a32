//! All of a run that does not pass a gate: claims by their verdicts, checks by their colours, contenders by their trials.
//!
//! It looks at values of the record alone, so a run of another machine is judged as one of this.

use kumite_record::{
    Check, CheckOutcome, Claim, Contender, ContenderStatus, Export, GateBar, GateState, Outcome, Reason,
    Trial, Verdict, standing,
};

use super::prepare::is_left_out;

/// Something that does not pass.
#[derive(Debug)]
pub struct GateFinding<'a> {
    /// The state that it alone gives the gate: shut or undecided.
    pub state: GateState,
    /// The claim, the check or the contender.
    pub amiss: Amiss<'a>,
}

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

/// All that does not pass, claims first.
pub fn gate_findings(export: &Export, bar: GateBar) -> Vec<GateFinding<'_>> {
    let claims = export.claims.iter().filter_map(|claim| {
        let state = match claim.verdict {
            Verdict::Holds => return None,
            Verdict::NoDifference if bar == GateBar::Fails => return None,
            // A verdict that this kumite does not know shows nothing to it.
            Verdict::Undecided | Verdict::DependsOnSitting | Verdict::Other(_) => GateState::Undecided,
            Verdict::Fails | Verdict::NoDifference | Verdict::NotTested => GateState::Shut,
        };
        Some(GateFinding { state, amiss: Amiss::Claim(claim) })
    });
    let checks = export.checks.iter().filter(|check| check.outcome != CheckOutcome::Green).map(Amiss::Check);
    let contenders = export.contenders.iter().filter_map(|contender| match contender.status {
        ContenderStatus::Ran => lost(contender, export).map(Amiss::Lost),
        ContenderStatus::Skipped if is_left_out(contender) => None,
        _ => Some(Amiss::Absent(contender)),
    });
    let shut = checks.chain(contenders).map(|amiss| GateFinding { state: GateState::Shut, amiss });
    claims.chain(shut).collect()
}

/// Its trials that do not count, if there are any. Wrong answers that a claim rightly foretold are what was to be shown.
fn lost<'a>(contender: &'a Contender, export: &'a Export) -> Option<Lost<'a>> {
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
