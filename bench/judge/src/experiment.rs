//! An experiment of contenders that take known times, made on the fly, and `kumite run` of it.

use std::path::Path;

use anyhow::{Context, Result};
use bench_judge::on_the_fly::{OnTheFly, this_program};
use clap::ValueEnum;
use kumite_record::{Export, Verdict};
use serde_json::{Map, Value, json};

use crate::control::Planted;
use crate::known::Known;
use crate::worker::By;

/// So that a run takes less than half a minute.
const BLOCKS: u32 = 24;

/// An experiment in a temporary folder, which goes with this.
pub struct Experiment<'a> {
    written: OnTheFly,
    known: &'a [Known],
}

/// A contender: its name, and what it does in a job.
pub struct Spinning {
    /// As claims have it.
    pub name: &'static str,
    /// The measure of a job.
    pub by: By,
    /// How much it is.
    pub amount: u64,
    /// Where 3 % more are planted.
    pub planted: Planted,
}

impl Experiment<'_> {
    /// Writes its files; `axes` are swept.
    pub fn new<'a>(
        kumite: &Path,
        known: &'a [Known],
        contenders: &[Spinning],
        axes: &Value,
    ) -> Result<Experiment<'a>> {
        let claim = |known: &Known| json!({ "id": known.id, "assert": known.assert });
        let experiment = json!({
            "question": "Which of these takes longer?",
            "kind": "task",
            "blocks": BLOCKS,
            "axes": axes,
            "answer": { "equals": "null" },
            "claim": known.iter().map(claim).collect::<Vec<_>>(),
        });
        let ours = this_program()?;
        let variant = |Spinning { name, by, amount, planted }: &Spinning| {
            let planted = planted.to_possible_value().expect("none is skipped");
            let run = format!("exec {ours} worker {} {amount} {}", by.word(), planted.get_name());
            json!({ "name": name, "model": "sequential", "run": run })
        };
        let variants: Vec<Value> = contenders.iter().map(variant).collect();
        let contender = json!({ "version": "echo spin 1", "variant": variants });
        Ok(Experiment { written: OnTheFly::write(kumite, &experiment, &contender)?, known })
    }

    /// The verdicts of a run, in the order of the claims.
    pub fn verdicts(&self, seed: u64) -> Result<Vec<Verdict>> {
        let export: Export = serde_json::from_value(self.export(seed, &[])?).context("its JSON")?;
        let verdict = |known: &Known| {
            let claim = export.claims.iter().find(|claim| claim.id == known.id);
            claim.map(|claim| claim.verdict).with_context(|| format!("no claim {} in its JSON", known.id))
        };
        self.known.iter().map(verdict).collect()
    }

    /// The document of a run, with these flags more.
    pub fn export(&self, seed: u64, more: &[&str]) -> Result<Value> {
        self.written.export(seed, more)
    }
}

/// No axis at all.
pub fn no_axes() -> Value {
    Value::Object(Map::new())
}
