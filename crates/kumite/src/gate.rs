//! `--gate`: verdicts as an exit status, for CI.

use clap::ValueEnum;
use kumite_record::{CheckOutcome, Export, GateBar, Rule, Verdict};

use crate::exit::Failure;

#[derive(clap::Args)]
pub struct Gate {
    /// End with status 1 unless the claims pass: `fails` lets pass whatever does not fail, `holds` only what holds; and
    /// likewise of checks what is not red, or what is green. It takes a run by --strict, which it implies
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "fails", require_equals = true)]
    gate: Option<Bar>,
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

    /// Whether the claims of a run pass.
    pub fn check(&self, export: &Export) -> Result<(), Failure> {
        let Some(bar) = self.gate else { return Ok(()) };
        let id = &export.run.id;
        if export.run.finished.is_none() {
            return Err(Failure::Incomplete(format!(
                "run {id} is not finished: `kumite resume {id}` goes on with it"
            )));
        }
        if export.run.rule == Rule::FalseDiscoveryRate && !export.claims.is_empty() {
            return Err(Failure::Usage(format!(
                "--gate: run {id} allows for a false verdict among many; a gate takes `kumite run --gate` or `--strict`"
            )));
        }
        if export.claims.is_empty() && export.checks.is_empty() {
            return Err(Failure::Usage(format!(
                "--gate: {} judges no claim in its profile {}, and has no check",
                export.run.experiment, export.run.profile
            )));
        }
        let passes = |verdict| match bar {
            Bar::Fails => verdict != Verdict::Fails,
            Bar::Holds => verdict == Verdict::Holds,
        };
        let claims = export.claims.iter().filter(|claim| !passes(claim.verdict));
        let claims: Vec<String> = claims.map(|claim| format!("{} ({})", claim.id, claim.verdict)).collect();
        let shuts = |outcome| match bar {
            Bar::Fails => outcome == CheckOutcome::Red,
            Bar::Holds => outcome != CheckOutcome::Green,
        };
        let red = export.checks.iter().filter(|check| shuts(check.outcome));
        let red: Vec<&str> = red.map(|check| check.id.as_str()).collect();
        let mut why = Vec::new();
        if !red.is_empty() {
            why.push(format!(
                "{} of {} checks do not pass: {}",
                red.len(),
                export.checks.len(),
                red.join(", ")
            ));
        }
        if !claims.is_empty() {
            let (n, of) = (claims.len(), export.claims.len());
            why.push(format!("{n} of {of} claims do not pass: {}", claims.join(", ")));
        }
        match why.is_empty() {
            true => Ok(()),
            false => Err(Failure::Gate(format!("the gate is shut: {}", why.join("; ")))),
        }
    }
}
