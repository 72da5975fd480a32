//! The ways to run a command many times, and what each spends outside of what it times.

use std::ffi::CString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use kumite_process::{Runner, pin_thread};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, posix_spawn};
use nix::sys::wait::waitpid;

use crate::Helper;

static NEVER: AtomicBool = AtomicBool::new(false);
/// Runs that are queued beyond the one that is waited for.
const AHEAD: usize = 31;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Bare,
    Queued,
    OneByOne,
    Forked,
    Hyperfine,
}

/// Of many runs, one after another.
pub struct Batch {
    /// From before the first to after the last.
    total: Duration,
    /// Each, as it was timed.
    timed: Vec<Duration>,
}

impl Way {
    pub const ALL: [Way; 5] = [Way::Bare, Way::Queued, Way::OneByOne, Way::Forked, Way::Hyperfine];

    pub fn name(self) -> &'static str {
        match self {
            Way::Bare => "posix_spawn and wait, nothing else",
            Way::Queued => "kumite, 32 runs queued",
            Way::OneByOne => "kumite, one by one",
            Way::Forked => "kumite, one by one, by fork",
            Way::Hyperfine => "hyperfine -N",
        }
    }

    /// In a thread of its own, because some ways pin it.
    pub fn measure(self, program: &Path, runs: usize, core: usize, helper: &Helper) -> Result<Batch> {
        let measure = || match self {
            Way::Bare => bare(program, runs, core),
            Way::Queued | Way::OneByOne | Way::Forked => self.runner(program, runs, core, helper),
            Way::Hyperfine => hyperfine(program, runs, core),
        };
        std::thread::scope(|scope| scope.spawn(measure).join().expect("measuring does not panic"))
    }

    fn runner(self, program: &Path, runs: usize, core: usize, helper: &Helper) -> Result<Batch> {
        let mut runner: Runner = helper.runner(&[(program.as_os_str(), &[])])?;
        let began = Instant::now();
        let mut timed = Vec::with_capacity(runs);
        let mut queued = 0;
        while timed.len() < runs {
            let run = match self {
                Way::Queued => {
                    while queued < runs.min(timed.len() + 1 + AHEAD) {
                        runner.queue(0, &[core])?;
                        queued += 1;
                    }
                    runner.next(&NEVER)
                }
                Way::Forked => runner.run_forked(0, &[core], &NEVER),
                _ => runner.run(0, &[core], &NEVER),
            };
            timed.push(run?.context("nobody stops it")?.wall);
        }
        Ok(Batch { total: began.elapsed(), timed })
    }
}

fn bare(program: &Path, runs: usize, core: usize) -> Result<Batch> {
    pin_thread(&[core])?;
    let (attributes, actions) = (PosixSpawnAttr::init()?, PosixSpawnFileActions::init()?);
    let program = CString::new(program.to_str().context("a path in UTF-8")?)?;
    let env: Vec<CString> = std::env::vars()
        .map(|(name, value)| CString::new(format!("{name}={value}")))
        .collect::<Result<_, _>>()?;
    let mut timed = Vec::with_capacity(runs);
    let began = Instant::now();
    for _ in 0..runs {
        let began = Instant::now();
        let pid = posix_spawn(&*program, &actions, &attributes, &[&*program], &env)?;
        waitpid(pid, None)?;
        timed.push(began.elapsed());
    }
    Ok(Batch { total: began.elapsed(), timed })
}

/// Its start and its report are outside, too: some milliseconds in all.
fn hyperfine(program: &Path, runs: usize, core: usize) -> Result<Batch> {
    pin_thread(&[core])?;
    let json = tempfile::NamedTempFile::new()?;
    let mut command = Command::new("hyperfine");
    command.args(["-N", "--style", "none", "--runs", &runs.to_string(), "--export-json"]);
    command.arg(json.path()).arg(program).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    if !command.status().context("cannot start hyperfine")?.success() {
        bail!("hyperfine failed");
    }
    let total = began.elapsed();
    let results: serde_json::Value = serde_json::from_slice(&std::fs::read(json.path())?)?;
    let times = results["results"][0]["times"].as_array().context("hyperfine's file has no times")?;
    let timed: Vec<Duration> =
        times.iter().filter_map(serde_json::Value::as_f64).map(Duration::from_secs_f64).collect();
    ensure!(timed.len() == runs, "hyperfine timed {} runs, not {runs}", timed.len());
    Ok(Batch { total, timed })
}

impl Batch {
    pub fn wall_us(&self) -> f64 {
        micros(self.total) / self.timed.len() as f64
    }

    pub fn timed_median_us(&self) -> f64 {
        median(self.timed.iter().copied().map(micros).collect())
    }

    /// Of each run, not timed.
    pub fn outside_us(&self) -> f64 {
        (micros(self.total) - micros(self.timed.iter().sum())) / self.timed.len() as f64
    }
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// The upper one of two. 0 for none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
