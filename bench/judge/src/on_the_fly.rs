//! An experiment that is written to a temporary folder, and `kumite run` of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// An experiment in a temporary folder, which goes with this.
pub struct OnTheFly {
    folder: TempDir,
    kumite: PathBuf,
}

impl OnTheFly {
    /// Writes an experiment, as experiment.toml has it, with one contender, as contender.toml has it. An error if there
    /// is no kumite at that path.
    pub fn write(kumite: &Path, experiment: &Value, contender: &Value) -> Result<OnTheFly> {
        let kumite = kumite
            .canonicalize()
            .with_context(|| format!("no kumite at {}: cargo build --release -p kumite", kumite.display()))?;
        let folder = tempfile::tempdir()?;
        let made = folder.path().join("contenders/made");
        std::fs::create_dir_all(&made)?;
        // So that its results are here, and go with it.
        std::fs::create_dir(folder.path().join(".kumite"))?;
        std::fs::write(folder.path().join("experiment.toml"), toml::to_string(experiment)?)?;
        std::fs::write(made.join("contender.toml"), toml::to_string(contender)?)?;
        Ok(OnTheFly { folder, kumite })
    }

    /// The document of a run, with these flags more. An error if the run does not end with status 0.
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

/// The path of this program as a word for a shell. An error if it is no UTF-8.
pub fn this_program() -> Result<String> {
    let ours = std::env::current_exe()?;
    let ours = ours.to_str().context("the bench lies where no UTF-8 leads to")?;
    Ok(shlex::try_quote(ours)?.into_owned())
}
