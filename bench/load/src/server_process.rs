use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kumite_process::{Spawn, Tree};

/// The argument that makes the program the server instead.
const SERVE: &str = "serve";
const STAMPS: &str = "stamps";
const READY_LIMIT: Duration = Duration::from_secs(30);
const STOP_GRACE: Duration = Duration::from_secs(20);

/// The fixed server in a process of its own. Ends when it is dropped.
pub struct Server {
    tree: Tree,
    log: PathBuf,
    stamps: PathBuf,
    port: u16,
}

/// The counts of a server over its life.
#[derive(Debug, Clone, PartialEq)]
pub struct Served {
    /// Requests answered.
    pub requests: u64,
    /// The most connections that were open at once.
    pub connections: u64,
    /// User and system time.
    pub cpu: Duration,
    /// When each request was read, in nanoseconds of CLOCK_MONOTONIC; empty if that was not asked for.
    pub stamps_ns: Vec<u64>,
}

impl Server {
    /// Starts `program serve` on these cores (any, if none is given), with its log and its stamps in `dir`, and waits
    /// until it listens.
    pub fn start(program: &Path, cores: &[usize], dir: &Path, stamped: bool) -> Result<Server> {
        let log = dir.join("server.log");
        let stamps = dir.join(STAMPS);
        match fs::remove_file(&stamps) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot remove {}", stamps.display()));
            }
            _ => {}
        }
        let program = program.to_str().context("the path of this program is not UTF-8")?;
        let env = [("PROGRAM".to_owned(), program.to_owned())];
        let arguments = if stamped { format!(" --stamps {STAMPS}") } else { String::new() };
        let command = format!("exec \"$PROGRAM\" {SERVE}{arguments}");
        let mut tree = Tree::start(&Spawn {
            command: &command,
            dir,
            env: &env,
            keeps: None,
            cores,
            log: &log,
            group: None,
        })?;
        let began = Instant::now();
        loop {
            if let Some(port) = printed(&log, "port")? {
                let port = u16::try_from(port).context("the server's port is none")?;
                return Ok(Server { tree, log, stamps, port });
            }
            if tree.exited()?.is_some() || began.elapsed() > READY_LIMIT {
                bail!("the server did not start: {}", fs::read_to_string(&log)?.trim());
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Stops it where it is after `wait`, and lets it go on after another `length`.
    pub fn stall(&mut self, wait: Duration, length: Duration) -> Result<()> {
        thread::sleep(wait);
        if !self.tree.pause() {
            bail!("the server could not be stopped");
        }
        thread::sleep(length);
        self.tree.resume();
        Ok(())
    }

    /// Ends it, and asks what it did.
    pub fn stop(self) -> Result<Served> {
        let ended = self.tree.stop(STOP_GRACE);
        let count = |name| {
            printed(&self.log, name)?.with_context(|| {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                format!("the server did not count to its end: {:?}, {}", ended.status, log.trim())
            })
        };
        Ok(Served {
            requests: count("requests")?,
            connections: count("connections")?,
            cpu: ended.user + ended.system,
            stamps_ns: read_stamps(&self.stamps)?,
        })
    }
}

/// None, if there is no such file.
fn read_stamps(file: &Path) -> Result<Vec<u64>> {
    let bytes = match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        bytes => bytes.with_context(|| format!("cannot read {}", file.display()))?,
    };
    let (stamps, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        bail!("{} ends within a stamp", file.display());
    }
    Ok(stamps.iter().map(|stamp| u64::from_le_bytes(*stamp)).collect())
}

/// The number in a complete line `name N`.
fn printed(log: &Path, name: &str) -> Result<Option<u64>> {
    let text = fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))?;
    let line = text.split_inclusive('\n').find_map(|line| line.strip_suffix('\n')?.strip_prefix(name));
    line.map(|number| number.trim().parse().context("the server printed no number")).transpose()
}
