//! `--gate`: the outcome of a run as an exit status, for CI.

use std::time::Duration;

use clap::ValueEnum;
use kumite_lab::{Experiment, GateFinding, gate_findings};
use kumite_record::{Export, GateBar, GateState, Prospects, Rule, RunGate, there_are};

use crate::documents::{Documents, Forms};
use crate::exit::Failure;
use crate::output::{self, Report};

#[derive(clap::Args)]
pub struct Gate {
    /// Exit with status 1 if a claim fails, a check is red, or anything is missing, untested, failed or wrong; `holds`
    /// passes only claims that hold. Implies --strict
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "fails", require_equals = true)]
    gate: Option<Bar>,
    /// Contender, claim or check that the gate ignores (may be given several times)
    #[arg(long, value_name = "NAME", requires = "gate")]
    gate_allow: Vec<String>,
}

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
    pub fn is_set(&self) -> bool {
        self.gate.is_some()
    }

    /// Checks the gate before anything is measured. An error if --gate-allow has a name that nothing has, if there is
    /// neither a claim nor a check, or if `blocks`, or the rounds for which the budget has room, are fewer than the
    /// `fewest` blocks of `prospects`. If `fewest` is `None`, no number of blocks is refused. `budget` is the run's
    /// budget with the least time of a round; `None` if one of the two is not known. Without a gate, only a
    /// --gate-allow is an error.
    pub fn check(
        &self,
        experiment: &Experiment,
        prospects: &Prospects,
        blocks: u32,
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
        if (blocks as usize) < fewest {
            return Err(Failure::Usage(format!(
                "--gate: no claim of {} can be decided by fewer than {fewest} blocks, and there are {blocks}: give --blocks \
                 {fewest}, or more",
                experiment.name
            )));
        }
        match budget {
            Some((budget, round)) if round * fewest as u32 > budget => Err(Failure::Usage(format!(
                "--gate: no claim of {} can be decided by fewer than {fewest} blocks, and each takes {round:?} at least: --budget {budget:?} is too short",
                experiment.name
            ))),
            _ => Ok(()),
        }
    }

    fn check_names(&self, known: &[&str]) -> Result<(), Failure> {
        match self.gate_allow.iter().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Failure::Usage(format!(
                "--gate-allow {name}: no contender, claim or check has this name{}",
                there_are(name, known)
            ))),
            None => Ok(()),
        }
    }

    /// Judges a run by the gate, and writes the run's documents with the gate's answer. [`Failure::Shut`] if the gate
    /// does not let the run pass. `ended` gives the outcome of the run without a gate; if this is a failure, it is
    /// returned in place of the gate's.
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
        documents.write(&Forms {
            terminal: &|style| report(&export, style),
            json: &|| output::json(&export),
            html: &|| kumite_report::html(&export),
            markdown: &|| kumite_report::markdown(&export),
            svg: Some(&|| kumite_report::forest_svg(&export)),
            review: Some(&|| kumite_report::run_review(&export)),
        })?;
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
                "run {id} is not finished: `kumite resume {id}` continues it",
                id = run.id
            )));
        }
        if run.rule == Rule::FalseDiscoveryRate && !export.claims.is_empty() {
            return Err(Failure::Usage(format!(
                "--gate: run {} is not strict, so 5 % of its verdicts may be false: measure with `kumite run --gate` or `--strict`",
                run.id
            )));
        }
        if export.claims.is_empty() && export.checks.is_empty() {
            return Err(nothing_to_judge(&run.experiment, &run.profile));
        }
        let is_allowed =
            |finding: &GateFinding| self.gate_allow.iter().any(|name| finding.amiss.is_allowed_by(name));
        let (allowed, counting): (Vec<_>, Vec<_>) =
            gate_findings(export, bar.into()).into_iter().partition(is_allowed);
        let state = GateState::of_all(counting.iter().map(|finding| finding.state));
        let because = counting.iter().filter(|finding| finding.state == state);
        let reason = |finding: &GateFinding| kumite_report::gate_reason(run, &finding.amiss);
        Ok(RunGate {
            passes: bar.into(),
            state,
            because: because.map(reason).collect(),
            allowed: allowed.iter().map(reason).collect(),
        })
    }
}

fn nothing_to_judge(experiment: &str, profile: &str) -> Failure {
    Failure::Usage(format!("--gate: {experiment} judges no claim in its profile {profile}, and has no check"))
}
