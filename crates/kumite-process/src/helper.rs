//! Jobs and orders, as the helper process of a [`crate::Runner`] reads them.

use std::env;
use std::ffi::CString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::counters::{Counter, of_bits};
use crate::ending::shell_status;
use crate::owner::MARKER;
use crate::wire::{Answer, Message, Wire};

/// The hidden argument by which a program of ours becomes the helper, and calls [`crate::runner_main`].
pub const HELPER: &str = "--runner-helper";

/// The environment variable whose length varies the size of the environment.
pub(crate) const PADDING: &str = "KUMITE_PADDING";

/// The kinds of output, as numbers in a job's description: this one is [`Sink::Null`].
pub(crate) const NULL: u64 = 0;
pub(crate) const INHERIT: u64 = 1;
pub(crate) const FILE: u64 = 2;
pub(crate) const PIPE: u64 = 3;
pub(crate) const FILES: u64 = 4;

/// A job with its strings as the kernel takes them.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub program: CString,
    pub args: Vec<CString>,
    pub env: Vec<CString>,
    pub dir: PathBuf,
    pub stdin: Option<PathBuf>,
    pub output: Sink,
}

#[derive(Clone)]
pub(crate) enum Sink {
    Null,
    Inherit,
    File(PathBuf),
    Files { stdout: PathBuf, stderr: PathBuf },
    Pipe,
}

/// An order to run a job once.
pub(crate) struct RunOrder {
    pub job: usize,
    pub forked: bool,
    pub cores: Vec<usize>,
    /// A variable (`NAME=value`) that is set beside the job's own, or in place of the one of that name; `None` for
    /// none.
    pub variable: Option<CString>,
    pub padding: CString,
    pub counters: Vec<Counter>,
}

impl RunOrder {
    pub(crate) fn environment<'a>(&'a self, job: &'a Prepared) -> impl Iterator<Item = &'a CString> {
        let name = |entry: &'a CString| entry.to_bytes().split(|&byte| byte == b'=').next();
        let set = self.variable.as_ref().and_then(name);
        let kept = job.env.iter().filter(move |entry| set.is_none() || name(entry) != set);
        kept.chain(&self.variable).chain([&self.padding])
    }
}

/// The runs of one order, which are made at the same time.
pub(crate) struct Together {
    /// The order is the first of a queue. Later orders of a queue are not run once a run has not passed.
    pub begins: bool,
    pub passes: Passes,
    /// Runs are made as from a shell: processes that they leave behind live on, and a run that wants the terminal has
    /// it if we are in its foreground.
    pub from_shell: bool,
    pub runs: Vec<RunOrder>,
}

/// The runs that count as a success, for a queue that ends with the first failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passes {
    /// All runs, even one that could not be started.
    Always,
    /// All runs that were started, however they ended, but for Ctrl-C.
    AnyStatus,
    /// Runs that ended with one of these statuses; a signal counts as 128 and its number.
    Statuses(Vec<u8>),
}

impl Passes {
    pub(crate) fn write(&self, to: &mut Message) {
        match self {
            Passes::Always => to.number(0),
            Passes::AnyStatus => to.number(1),
            Passes::Statuses(codes) => {
                to.number(2);
                to.count(codes.len());
                codes.iter().for_each(|&code| to.number(u64::from(code)));
            }
        }
    }

    fn read(from: &mut impl Read) -> io::Result<Passes> {
        Ok(match from.number()? {
            0 => Passes::Always,
            1 => Passes::AnyStatus,
            _ => {
                let count = from.count()?;
                let code = |_| Ok(u8::try_from(from.number()?).unwrap_or(u8::MAX));
                Passes::Statuses((0..count).map(code).collect::<io::Result<_>>()?)
            }
        })
    }

    pub(crate) fn lets_pass(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (Passes::Always, _) => true,
            (_, Err(_)) => false,
            (_, Ok(figures)) if figures.is_interrupted() => false,
            (Passes::AnyStatus, Ok(_)) => true,
            (Passes::Statuses(codes), Ok(figures)) => {
                let code = shell_status(ExitStatus::from_raw(figures.status));
                codes.iter().any(|&passes| Some(i32::from(passes)) == code)
            }
        }
    }
}

pub(crate) fn jobs(from: &mut impl Read) -> io::Result<Vec<Prepared>> {
    // All that a command starts must carry the name of our tree.
    let marker = env::var_os(MARKER).unwrap_or_default();
    let marker = CString::new([MARKER.as_bytes(), b"=", marker.as_bytes()].concat())?;
    let count = from.count()?;
    let job = |_| {
        let program = CString::new(from.string()?.as_bytes())?;
        let args = from.strings()?;
        let mut env = from.strings()?;
        env.push(marker.clone());
        let dir = from.path()?.unwrap_or_default();
        let stdin = from.path()?;
        let output = match (from.number()?, from.path()?, from.path()?) {
            (FILE, Some(path), _) => Sink::File(path),
            (FILES, Some(stdout), Some(stderr)) => Sink::Files { stdout, stderr },
            (INHERIT, ..) => Sink::Inherit,
            (PIPE, ..) => Sink::Pipe,
            _ => Sink::Null,
        };
        Ok(Prepared { program, args, env, dir, stdin, output })
    };
    (0..count).map(job).collect()
}

/// Reads the next order; `None` at the end of the input.
pub(crate) fn orders(from: &mut impl Read) -> io::Result<Option<Together>> {
    let count = match from.count() {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        count => count?,
    };
    let (begins, from_shell, passes) = (from.number()? != 0, from.number()? != 0, Passes::read(from)?);
    let variable = Some(from.text()?).filter(|variable| !variable.is_empty());
    let counters = of_bits(from.number()?);
    let order = |_| {
        let (job, forked) = (from.count()?, from.number()? != 0);
        let padding = CString::new(format!("{PADDING}={}", "x".repeat(from.count()?)))?;
        let cores = from.count()?;
        let cores = (0..cores).map(|_| from.count()).collect::<io::Result<_>>()?;
        Ok(RunOrder { job, forked, cores, variable: variable.clone(), padding, counters: counters.clone() })
    };
    let runs = (0..count).map(order).collect::<io::Result<_>>()?;
    Ok(Some(Together { begins, passes, from_shell, runs }))
}
