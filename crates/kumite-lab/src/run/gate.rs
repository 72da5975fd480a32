//! The findings by which a run does not pass a gate: claims by their verdicts, checks by their outcomes, contenders
//! by their trials.
//!
//! Only values of the record are looked at, so a run of another machine is judged like one of this machine.

use kumite_record::{Amiss, CheckOutcome, ContenderStatus, Export, GateBar, GateState, Lost, Verdict};

use super::prepare::is_left_out;

/// A claim, a check or a contender that does not pass.
#[derive(Debug)]
pub struct GateFinding<'a> {
    /// The state that this finding alone gives the gate: shut or undecided.
    pub state: GateState,
    /// The claim, the check or the contender.
    pub amiss: Amiss<'a>,
}

/// All findings by which a run does not pass a gate with this bar: first the claims, then the checks, then the
/// contenders. Empty if the run passes.
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
        ContenderStatus::Ran => Lost::of(contender, export).map(Amiss::Lost),
        ContenderStatus::Skipped if is_left_out(contender) => None,
        _ => Some(Amiss::Absent(contender)),
    });
    let shut = checks.chain(contenders).map(|amiss| GateFinding { state: GateState::Shut, amiss });
    claims.chain(shut).collect()
}
