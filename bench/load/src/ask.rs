use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Result, bail};
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
        let spawn = Spawn { command, dir: Path::new(HERE), env: &[], cores: &[], log: &log };
        Ok((run(&spawn, limit, self.stop)?, log))
    }

    /// The first line that a command prints, which must succeed.
    pub fn first_line(&self, command: &str) -> Result<String> {
        let (finished, log) = self.ask(command, ASK_LIMIT)?;
        let text = std::fs::read_to_string(log)?;
        match text.lines().next() {
            Some(line) if finished.status.success() => Ok(line.trim().to_owned()),
            _ => bail!("`{command}` failed: {}", text.trim()),
        }
    }

    /// The released binary, made from the sources as they are. It lies beside this program.
    pub fn build(&self, program: &Path) -> Result<PathBuf> {
        if cfg!(debug_assertions) {
            bail!("this is a debug build; use `cargo run --release -p bench-load`");
        }
        let (finished, log) = self.ask("cargo build --release -p kumite", BUILD_LIMIT)?;
        if !finished.status.success() {
            bail!("cannot build kumite: {}", std::fs::read_to_string(log)?.trim());
        }
        let kumite = program.with_file_name("kumite");
        if !kumite.is_file() {
            bail!("{} is missing after `cargo build --release -p kumite`", kumite.display());
        }
        Ok(kumite)
    }
}
