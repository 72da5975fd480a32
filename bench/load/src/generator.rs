use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kumite_process::{Ended, Spawn, Tree};
use kumite_record::LoadResult;

/// How long a generator may take beyond the time of its load.
const OVERTIME: Duration = Duration::from_secs(20);
/// A look costs some 50 µs, and not on the generator's CPU clock.
const LOOK: Duration = Duration::from_millis(250);
const RESULT: &str = "load.json";

/// What offers the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generator {
    /// The `kumite` binary at this path.
    Kumite(PathBuf),
    /// `wrk`, as found on PATH.
    Wrk,
}

impl Generator {
    /// Its name in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Generator::Kumite(_) => "kumite load",
            Generator::Wrk => "wrk",
        }
    }

    /// Its arguments for a load of so many seconds over so many connections, after the program itself.
    pub fn arguments(&self, url: &str, connections: impl Display, seconds: u64) -> String {
        match self {
            Generator::Kumite(_) => {
                format!("load {url} -c {connections} -z {seconds}s --expect-body pong --json {RESULT}")
            }
            Generator::Wrk => format!("-t1 -c{connections} -d{seconds}s {url}"),
        }
    }

    /// Runs it to its end, pinned to `core`.
    pub(crate) fn run(
        &self,
        (port, connections, seconds): (u16, u32, u64),
        core: usize,
        dir: &Path,
        stop: &AtomicBool,
    ) -> Result<Ended> {
        let log = dir.join("generator.log");
        let program = match self {
            Generator::Kumite(path) => path.to_str().context("the path of kumite is not UTF-8")?,
            Generator::Wrk => "wrk",
        };
        let env = [("PROGRAM".to_owned(), program.to_owned())];
        let url = format!("http://127.0.0.1:{port}/");
        let command = format!("exec \"$PROGRAM\" {}", self.arguments(&url, connections, seconds));
        let spawn = Spawn { command: &command, dir, env: &env, cores: &[core], log: &log };
        let mut tree = Tree::start(&spawn)?;
        let limit = Duration::from_secs(seconds) + OVERTIME;
        let began = Instant::now();
        while tree.wait(LOOK, stop)?.is_none() {
            if began.elapsed() > limit || stop.load(Ordering::Relaxed) {
                bail!("{} was stopped after {:.1} s", self.name(), began.elapsed().as_secs_f64());
            }
            // Its peak of memory is only to be had while it lives.
            tree.usage();
        }
        let ended = tree.stop(Duration::ZERO);
        if !ended.status.is_some_and(|status| status.success()) {
            bail!("{} failed: {}", self.name(), fs::read_to_string(&log)?.trim());
        }
        Ok(ended)
    }

    /// How many answers it says it has had; `None` if it is not asked.
    pub(crate) fn counted(&self, dir: &Path) -> Result<Option<u64>> {
        if *self == Generator::Wrk {
            return Ok(None);
        }
        let result: LoadResult = serde_json::from_str(&fs::read_to_string(dir.join(RESULT))?)?;
        if result.ok != result.requests {
            bail!("kumite load met failures on a server that does not fail: {:?}", result.errors);
        }
        Ok(Some(result.ok))
    }
}
