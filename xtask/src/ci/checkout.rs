//! The checkout that is checked, and commands in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::outcome;
use anyhow::{Context, Result, anyhow};

/// The checkout, and where its binaries are.
pub struct Checkout {
    pub root: PathBuf,
    pub binaries: PathBuf,
}

impl Checkout {
    /// This program in the checkout, with a results store of its own: that of whoever runs it may be of another version, and
    /// is none of our business.
    pub fn kumite(&self, program: &Path, command: &str) -> Command {
        let store = self.root.join("target/ci/results.db");
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", store.display()));
        }
        let mut kumite = Command::new(program);
        kumite.arg(command).arg("--db").arg(store).current_dir(&self.root);
        kumite
    }

    /// Runs an experiment, and sees that every trial of every contender gave a result.
    pub fn measured(&self, experiment: &str, name: &str, more: &[&str]) -> Result<()> {
        let json = self.binaries.join(format!("ci-{name}.json"));
        let _ = std::fs::remove_file(&json);
        // A function finds its program on PATH: other variables of ours it is not given.
        let (fakes, path) = (self.binaries.join("examples"), std::env::var_os("PATH").unwrap_or_default());
        let path = std::env::join_paths(std::iter::once(fakes.clone()).chain(std::env::split_paths(&path)));
        run(self
            .kumite(&self.binaries.join("kumite"), "run")
            .args([experiment, "--json"])
            .arg(&json)
            .args(more)
            .env("KUMITE_FAKES", fakes)
            .env("PATH", path?))?;
        outcome::every_trial_is_ok(&json)
    }
}

/// Runs a command to its end; an error says how it ended.
pub fn run(command: &mut Command) -> Result<()> {
    // Cargo's variables about this program must not reach another cargo: build scripts would take them for a change, and
    // most of the workspace would be compiled again.
    for (name, _) in std::env::vars_os() {
        let named = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| named.starts_with(start)) {
            command.env_remove(&name);
        }
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{program} cannot be started"))?;
    if status.success() { Ok(()) } else { Err(anyhow!("{program} ended with {status}")) }
}
