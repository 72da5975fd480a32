use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kumite_process::{Finished, Spawn, run};

use crate::HERE;

const BUILD_LIMIT: Duration = Duration::from_secs(1200);
const ASK_LIMIT: Duration = Duration::from_secs(10);

/// Runs commands to their end.
pub struct Ask<'a> {
    /// For the log.
    pub dir: &'a Path,
    /// Set when the user wants to stop.
    pub stop: &'a AtomicBool,
}

impl Ask<'_> {
    fn ask(&self, command: &str, limit: Duration) -> Result<(Finished, PathBuf)> {
        let log = self.dir.join("ask.log");
        let spawn = Spawn {
            command,
            dir: Path::new(HERE),
            env: &[],
            keeps: None,
            cores: &[],
            log: &log,
            group: None,
        };
        Ok((run(&spawn, limit, self.stop)?, log))
    }

    /// The output of a command, which must succeed.
    pub fn text(&self, command: &str) -> Result<String> {
        let (finished, log) = self.ask(command, ASK_LIMIT)?;
        let text = std::fs::read_to_string(log)?;
        match finished.status.success() {
            true => Ok(text),
            false => bail!("`{command}` failed: {}", text.trim()),
        }
    }

    /// The first line of it.
    pub fn first_line(&self, command: &str) -> Result<String> {
        let text = self.text(command)?;
        match text.lines().next() {
            Some(line) => Ok(line.trim().to_owned()),
            None => bail!("`{command}` printed nothing"),
        }
    }

    /// The released binary of a crate, made from the sources as they are. It lies beside this program.
    pub fn build(&self, program: &Path, name: &str) -> Result<PathBuf> {
        if cfg!(debug_assertions) {
            bail!("this is a debug build; use `cargo run --release -p bench-load`");
        }
        // Wherever that is, or the one beside it might be an older one.
        let target = quoted(program.ancestors().nth(2).context("this program lies nowhere")?)?;
        let command = format!("cargo build --release -p {name} --target-dir {target}");
        let (finished, log) = self.ask(&command, BUILD_LIMIT)?;
        if !finished.status.success() {
            bail!("cannot build {name}: {}", std::fs::read_to_string(log)?.trim());
        }
        let path = program.with_file_name(name);
        if !path.is_file() {
            bail!("{} is missing after `cargo build --release -p {name}`", path.display());
        }
        Ok(path)
    }
}

/// A path as a shell reads it.
pub fn quoted(path: &Path) -> Result<String> {
    let text = path.to_str().with_context(|| format!("{} is not UTF-8; move it", path.display()))?;
    Ok(shlex::try_quote(text)?.into_owned())
}
