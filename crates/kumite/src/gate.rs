//! `--gate`: verdicts as an exit status, for CI.

use clap::ValueEnum;
use kumite_record::{Export, Verdict};

use crate::exit::Failure;

#[derive(clap::Args)]
pub struct Gate {
    /// End with status 1 unless the claims pass: `fails` lets pass whatever does not fail, `holds` only what holds; implies
    /// --strict
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "fails")]
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
        if export.claims.is_empty() {
            return Err(Failure::Usage(format!(
                "--gate: {} makes no claim that could pass",
                export.run.experiment
            )));
        }
        let passes = |verdict| match bar {
            Bar::Fails => verdict != Verdict::Fails,
            Bar::Holds => verdict == Verdict::Holds,
        };
        let stopped: Vec<String> = export
            .claims
            .iter()
            .filter(|claim| !passes(claim.verdict))
            .map(|claim| format!("{} ({})", claim.id, claim.verdict))
            .collect();
        match stopped.len() {
            0 => Ok(()),
            n => {
                let (of, names) = (export.claims.len(), stopped.join(", "));
                Err(Failure::Gate(format!("the gate is shut: {n} of {of} claims do not pass: {names}")))
            }
        }
    }
}
