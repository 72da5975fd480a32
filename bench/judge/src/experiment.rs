//! An experiment made on the fly, and `kumite run` of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use kumite_record::{Export, Verdict};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::control::Planted;
use crate::known::Known;
use crate::worker::By;

/// So that a run takes less than half a minute.
const BLOCKS: u32 = 24;

/// An experiment in a temporary folder, which goes with this.
pub struct Experiment<'a> {
    folder: TempDir,
    kumite: PathBuf,
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
        let kumite = kumite
            .canonicalize()
            .with_context(|| format!("no kumite at {}: cargo build --release -p kumite", kumite.display()))?;
        let claim = |known: &Known| json!({ "id": known.id, "assert": known.assert });
        let experiment = json!({
            "question": "Which of these takes longer?",
            "kind": "task",
            "blocks": BLOCKS,
            "axes": axes,
            "answer": { "equals": "null" },
            "claim": known.iter().map(claim).collect::<Vec<_>>(),
        });
        let ours = std::env::current_exe()?;
        let ours =
            shlex::try_quote(ours.to_str().context("the bench lies where no UTF-8 leads to")?)?.into_owned();
        let variant = |Spinning { name, by, amount, planted }: &Spinning| {
            let planted = planted.to_possible_value().expect("none is skipped");
            let run = format!("exec {ours} worker {} {amount} {}", by.word(), planted.get_name());
            json!({ "name": name, "model": "sequential", "run": run })
        };
        let variants: Vec<Value> = contenders.iter().map(variant).collect();
        let contender = json!({ "version": "echo spin 1", "variant": variants });
        let folder = tempfile::tempdir()?;
        let spin = folder.path().join("contenders/spin");
        std::fs::create_dir_all(&spin)?;
        // So that its results are here, and go with it.
        std::fs::create_dir(folder.path().join(".kumite"))?;
        std::fs::write(folder.path().join("experiment.toml"), toml::to_string(&experiment)?)?;
        std::fs::write(spin.join("contender.toml"), toml::to_string(&contender)?)?;
        Ok(Experiment { folder, kumite, known })
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
        let seed = seed.to_string();
        let done = Command::new(&self.kumite)
            .args(["run", ".", "--json", "-", "--seed", &seed])
            .args(more)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "kumite run ended with {}:\n{said}", done.status);
        serde_json::from_slice(&done.stdout).context("its JSON")
    }
}

/// No axis at all.
pub fn no_axes() -> Value {
    Value::Object(Map::new())
}
