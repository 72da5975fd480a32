//! `--gate`: what a run came to as an exit status, for CI.

use std::time::Duration;

use clap::ValueEnum;
use kumite_lab::{Experiment, Prospects, is_left_out};
use kumite_record::{
    CheckOutcome, Claim, Contender, ContenderStatus, Export, GateBar, GateReason, GateState, Outcome, Reason,
    Rule, Run, RunGate, Verdict, standing,
};

use crate::exit::Failure;
use crate::output::{self, Documents, Report};

#[derive(clap::Args)]
pub struct Gate {
    /// End with status 1 if a claim fails, a check is red, or anything was not tested, is missing, failed or answered wrong;
    /// `holds` lets pass only claims that hold. It takes a run by --strict, which it implies
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "fails", require_equals = true)]
    gate: Option<Bar>,
    /// Let this contender, claim or check pass the gate, whatever becomes of it (may be given several times)
    #[arg(long, value_name = "NAME", requires = "gate")]
    gate_allow: Vec<String>,
}

/// What passes.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Bar {
    /// Whatever does not fail.
    Fails,
    /// Only what holds.
    Holds,
}

impl From<Bar> for GateBar {
    fn from(bar: Bar) -> GateBar {
        match bar {
            Bar::Fails => GateBar::Fails,
            Bar::Holds => GateBar::Holds,
        }
    }
}

impl Gate {
    /// Whether there is one.
    pub fn is_set(&self) -> bool {
        self.gate.is_some()
    }

    /// What can be refused before anything is measured: a name that is nobody's, and a plan that can decide nothing.
    pub fn check(
        &self,
        experiment: &Experiment,
        prospects: &Prospects,
        budget: Option<(Duration, Duration)>,
    ) -> Result<(), Failure> {
        if self.gate.is_none() {
            return match self.gate_allow.first() {
                // clap does not ask for --gate where something is given that conflicts with it.
                Some(name) => {
                    Err(Failure::Usage(format!("--gate-allow {name} is for a gate: give --gate with it")))
                }
                None => Ok(()),
            };
        }
        let variants = experiment.variants();
        let mut known: Vec<&str> = variants.iter().map(|(_, variant)| variant.name.as_str()).collect();
        known.extend(experiment.claims.iter().map(|claim| claim.id.as_str()));
        known.extend(experiment.checks.iter().map(|check| check.says.id.as_str()));
        known.extend(experiment.not_judged.iter().map(String::as_str));
        self.check_names(&known)?;
        if experiment.claims.is_empty() && experiment.checks.is_empty() {
            return Err(nothing_to_judge(&experiment.name, &experiment.profile));
        }
        let Some(fewest) = prospects.fewest else { return Ok(()) };
        let blocks = experiment.blocks as usize;
        if blocks < fewest {
            return Err(Failure::Usage(format!(
                "--gate: no claim of {} can be decided by fewer than {fewest} blocks, and there are {blocks}: give --blocks \
                 {fewest}, or more",
                experiment.name
            )));
        }
        match budget {
            Some((budget, round)) if round * fewest as u32 > budget => Err(Failure::Usage(format!(
                "--gate: no claim of {} can be decided by fewer than {fewest} blocks, and each takes {round:?} at least: a \
                 --budget of {budget:?} is too short",
                experiment.name
            ))),
            _ => Ok(()),
        }
    }

    fn check_names(&self, known: &[&str]) -> Result<(), Failure> {
        match self.gate_allow.iter().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Failure::Usage(format!(
                "--gate-allow {name}: no contender, claim or check is called so; there are: {}",
                known.join(", ")
            ))),
            None => Ok(()),
        }
    }

    /// Writes a run's documents with what the gate makes of it, and ends as that says. `ended` says how the run did.
    pub fn conclude(
        &self,
        mut export: Export,
        documents: &Documents,
        report: Report,
        ended: impl FnOnce(&Export) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let judged = self.gate.map(|bar| self.judge(bar, &export)).transpose();
        if let Ok(Some(gate)) = &judged {
            export.gate = Some(gate.clone());
        }
        documents.write(&(&export, report))?;
        ended(&export)?;
        let Some(gate) = judged? else { return Ok(()) };
        if !documents.is_on_terminal() {
            output::note(&kumite_report::run_gate(&export).unwrap_or_default());
        }
        if gate.passes.passes(gate.state) { Ok(()) } else { Err(Failure::Shut) }
    }

    fn judge(&self, bar: Bar, export: &Export) -> Result<RunGate, Failure> {
        let run = &export.run;
        let known = export.contenders.iter().map(|contender| contender.name.as_str());
        let known = known.chain(export.claims.iter().map(|claim| claim.id.as_str()));
        let known = known.chain(export.checks.iter().map(|check| check.id.as_str()));
        self.check_names(&known.chain(run.not_judged.iter().map(String::as_str)).collect::<Vec<_>>())?;
        if run.finished.is_none() {
            return Err(Failure::Incomplete(format!(
                "run {id} is not finished: `kumite resume {id}` goes on with it",
                id = run.id
            )));
        }
        if run.rule == Rule::FalseDiscoveryRate && !export.claims.is_empty() {
            return Err(Failure::Usage(format!(
                "--gate: run {} allows for a false verdict among many; a gate takes `kumite run --gate` or `--strict`",
                run.id
            )));
        }
        if export.claims.is_empty() && export.checks.is_empty() {
            return Err(nothing_to_judge(&run.experiment, &run.profile));
        }
        let of_claims = export.claims.iter().filter_map(|claim| of_claim(&export.run, claim, bar));
        let findings = of_claims.chain(of_checks(export)).chain(of_contenders(export));
        let is_allowed = |finding: &Finding| finding.names.iter().any(|name| self.gate_allow.contains(name));
        let (allowed, counting): (Vec<Finding>, Vec<Finding>) = findings.partition(is_allowed);
        let state = GateState::of_all(counting.iter().map(|finding| finding.state));
        let because = counting.into_iter().filter(|finding| finding.state == state);
        Ok(RunGate {
            passes: bar.into(),
            state,
            because: because.map(|finding| finding.reason).collect(),
            allowed: allowed.into_iter().map(|finding| finding.reason).collect(),
        })
    }
}

fn nothing_to_judge(experiment: &str, profile: &str) -> Failure {
    Failure::Usage(format!("--gate: {experiment} judges no claim in its profile {profile}, and has no check"))
}

/// Something that does not pass.
struct Finding {
    state: GateState,
    /// The names that let it pass.
    names: Vec<String>,
    reason: GateReason,
}

impl Finding {
    fn of(name: &str, state: GateState, why: String) -> Finding {
        let reason = GateReason { name: name.to_owned(), why };
        Finding { state, names: vec![name.to_owned()], reason }
    }
}

fn of_claim(run: &Run, claim: &Claim, bar: Bar) -> Option<Finding> {
    let id = &claim.id;
    let state = match claim.verdict {
        Verdict::Holds => return None,
        Verdict::NoDifference if bar == Bar::Fails => return None,
        // What this kumite does not know shows nothing to it.
        Verdict::Undecided | Verdict::DependsOnSitting | Verdict::Other(_) => GateState::Undecided,
        Verdict::Fails | Verdict::NoDifference | Verdict::NotTested => GateState::Shut,
    };
    let why = match claim.verdict {
        Verdict::Fails => format!("claim {id} fails"),
        Verdict::NoDifference => format!("claim {id} is no difference"),
        Verdict::NotTested => {
            let why = claim.reason.as_ref().map(|reason| format!(": {}", kumite_report::reason(run, reason)));
            format!("claim {id} was not tested{}", why.unwrap_or_default())
        }
        Verdict::DependsOnSitting => format!("claim {id} depends on the sitting"),
        verdict => format!("claim {id} is {verdict}"),
    };
    let mut finding = Finding::of(id, state, why);
    // Who lets a contender be absent lets be what that leaves untested.
    finding.names.extend(claim.reason.as_ref().and_then(contender_of).map(str::to_owned));
    Some(finding)
}

/// The contender for want of which a claim was not tested.
fn contender_of(reason: &Reason) -> Option<&str> {
    match reason {
        Reason::Absent { contender, .. } => Some(contender),
        Reason::NoUsableTrial { cell, .. } => Some(&cell.contender),
        _ => None,
    }
}

fn of_checks(export: &Export) -> impl Iterator<Item = Finding> {
    export.checks.iter().filter_map(|check| {
        let why = match check.outcome {
            CheckOutcome::Green => return None,
            CheckOutcome::Red => format!("check {} is red", check.id),
            CheckOutcome::NotTested => format!("check {} was not tested", check.id),
        };
        Some(Finding::of(&check.id, GateState::Shut, why))
    })
}

fn of_contenders(export: &Export) -> impl Iterator<Item = Finding> {
    export.contenders.iter().filter_map(|contender| {
        let why = match contender.status {
            ContenderStatus::Ran => lost(contender, export)?,
            ContenderStatus::Skipped if is_left_out(contender) => return None,
            status => {
                let why = contender.reason.as_deref().unwrap_or("no reason recorded");
                let verb = if status == ContenderStatus::Skipped { "was " } else { "" };
                format!("{verb}{}: {why}", status.as_str())
            }
        };
        let name = &contender.name;
        Some(Finding::of(name, GateState::Shut, format!("contender {name} {why}")))
    })
}

/// That some of its trials do not count, if so.
fn lost(contender: &Contender, export: &Export) -> Option<String> {
    let name = &contender.name;
    let trials: Vec<_> = standing(&export.trials).filter(|trial| trial.contender == *name).collect();
    let of = |outcome| trials.iter().filter(|trial| trial.outcome == outcome).count();
    let (failed, wrong) = (of(Outcome::Failed), of(Outcome::Disqualified));
    let is_claimed = export.claims.iter().any(|claim| claims_wrong(claim, name));
    if failed == 0 && (wrong == 0 || is_claimed) {
        return None;
    }
    let first = trials.iter().find(|trial| match trial.outcome {
        Outcome::Ok => false,
        Outcome::Disqualified => failed == 0,
        Outcome::Failed => true,
    });
    let first = first.and_then(|trial| trial.reason.as_deref()?.lines().next());
    let first = first.map_or(String::new(), |first| format!(": {first}"));
    let of = trials.len();
    Some(match failed {
        0 => format!("answered wrong in {wrong} of {of} trials{first}"),
        _ => format!("failed in {failed} of {of} trials{first}"),
    })
}

/// Whether it holds that this contender answers wrong, which is then what was to be shown.
fn claims_wrong(claim: &Claim, contender: &str) -> bool {
    let assert: String = claim.assert.split_whitespace().collect();
    claim.verdict == Verdict::Holds && assert.contains(&format!("disqualified({contender})"))
}
