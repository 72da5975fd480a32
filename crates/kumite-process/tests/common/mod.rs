//! A directory for a tree under test, and what the tests ask about processes.
#![allow(dead_code, missing_docs)] // Each test file uses its part.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kumite_process::{Error, Spawn, Tree};
use tempfile::TempDir;

/// Nothing that a test waits for takes so long, on a machine that stands still for a while neither.
pub const LONG: Duration = Duration::from_secs(60);

pub struct Bench {
    dir: TempDir,
    env: Vec<(String, String)>,
}

impl Bench {
    pub fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let env = vec![
            ("GREETING".to_owned(), "hello world".to_owned()),
            ("KUMITE_BENCH".to_owned(), dir.path().display().to_string()),
        ];
        Bench { dir, env }
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn log(&self) -> std::path::PathBuf {
        self.dir().join("log")
    }

    pub fn spawn<'a>(&'a self, cores: &'a [usize], log: &'a Path, command: &'a str) -> Spawn<'a> {
        Spawn { command, dir: self.dir(), env: &self.env, cores, log, group: None }
    }

    pub fn start(&self, command: &str) -> Tree {
        self.try_start(&[], command).unwrap()
    }

    pub fn start_on(&self, cores: &[usize], command: &str) -> Tree {
        self.try_start(cores, command).unwrap()
    }

    pub fn try_start(&self, cores: &[usize], command: &str) -> Result<Tree, Error> {
        Tree::start(&self.spawn(cores, &self.log(), command))
    }

    pub fn try_start_in(&self, dir: &Path, command: &str) -> Result<Tree, Error> {
        Tree::start(&Spawn { dir, ..self.spawn(&[], &self.log(), command) })
    }

    pub fn try_start_logged(&self, log: &Path, command: &str) -> Result<Tree, Error> {
        Tree::start(&self.spawn(&[], log, command))
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir().join(name)).unwrap()
    }

    /// The process id that the tree writes into this file.
    pub fn pid(&self, name: &str) -> u32 {
        let mut pid = None;
        eventually(|| {
            pid = fs::read_to_string(self.dir().join(name)).ok().and_then(|text| text.trim().parse().ok());
            pid.is_some()
        });
        pid.unwrap()
    }
}

pub fn eventually(mut happens: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happens() {
        assert!(began.elapsed() < LONG, "still not, after {LONG:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs: is not only a zombie that init has still to reap.
pub fn alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// It has become its `sleep`: in the middle of that its environment cannot be seen.
pub fn sleeps(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(b"sleep\0"))
}

/// Whether a process has this `NAME=VALUE` in its environment.
pub fn anyone_carries(variable: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut environments = processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    environments.any(|environ| environ.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes()))
}
