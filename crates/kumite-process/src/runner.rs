use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::timing::{FILE, INHERIT, NULL, PIPE, STAGES, Stage};
use crate::wire::{Message, Wire};
use crate::{Error, Spawn, Tree, available_cores};

/// How long the helper may take to be ready, on a machine that is very busy.
const READY: Duration = Duration::from_secs(10);
/// How often a wait looks at the stop flag.
const LOOK: Duration = Duration::from_millis(50);
/// Stacks are random by 16 bytes within a page; a page more covers whatever depends on the environment's size.
const MOST_PADDING: u64 = 4096;

/// A command that is run many times, without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// A path (relative to `dir`), or a name that is looked up on PATH, once: the one of `env` if there is one, else ours.
    pub program: OsString,
    /// Its arguments, without its name.
    pub args: Vec<String>,
    /// The directory to run in.
    pub dir: PathBuf,
    /// Set on top of our own environment.
    pub env: Vec<(String, String)>,
    /// Its standard input.
    pub stdin: Stdin,
    /// Its standard output and standard error.
    pub output: Output,
}

/// What a command may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing.
    Null,
    /// This file, from its beginning in each run.
    File(PathBuf),
}

/// Where the output of a command goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Nowhere.
    Null,
    /// Where ours goes.
    Inherit,
    /// Standard output into this file, which is created or emptied in each run; standard error nowhere.
    File(PathBuf),
    /// Standard output into a pipe that is read on any core and thrown away, as a consumer would; standard error nowhere.
    Pipe,
}

/// Runs commands one after another from a small process of its own, the helper, so that a child's peak memory does not
/// begin with ours: the kernel lets a process inherit the peak of the one that started it.
///
/// The helper is a [`Tree`]. Dropping the runner ends it and what it has started; so does the guardian if we are killed.
///
/// The environment of a command is ours and [`Job::env`], and `KUMITE_TREE` and `KUMITE_PADDING`. Each is in a process
/// group of its own.
#[derive(Debug)]
pub struct Runner {
    helper: PathBuf,
    stream: UnixStream,
    /// `None` once it was ended, by `stop` or because it failed.
    tree: Option<Tree>,
    jobs: Vec<(OsString, PathBuf)>,
    padding: Option<u64>,
    rss_floor_bytes: u64,
}

/// One run of a command, from just before it is started until it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedRun {
    /// On the monotonic clock, around start and wait.
    pub wall: Duration,
    /// User time of the command and of the descendants it waited for, in microseconds' resolution.
    pub user: Duration,
    /// System time, likewise.
    pub system: Duration,
    /// The highest resident set of the command, or of any one descendant it waited for. Not below
    /// [`Runner::rss_floor_bytes`].
    pub peak_rss_bytes: u64,
    /// Whether `peak_rss_bytes` is the floor's and not the command's, whose peak is no larger than that.
    pub peak_rss_is_floor: bool,
    /// How it ended.
    pub status: ExitStatus,
    /// How often it had to give way to another process, with the descendants it waited for.
    pub involuntary_switches: u64,
    /// Descendants that still ran when it ended, and have been ended; of both commands, if two ran at once.
    pub left_behind: usize,
    /// What this run took besides `wall`: request, preparation, reaping, answer.
    pub overhead: Duration,
}

impl Runner {
    /// Starts the helper: a command line that calls [`crate::runner_main`] before it does anything else.
    ///
    /// # Errors
    ///
    /// A directory that is not there, a program that cannot be found, a helper that does not get ready within 10 s.
    pub fn start(helper: &Path, helper_args: &[&str], jobs: &[Job]) -> Result<Runner, Error> {
        let mut message = Message::new();
        message.count(jobs.len());
        for job in jobs {
            describe(job, &mut message)?;
        }
        let failed = |source| Error::Runner { helper: helper.to_owned(), source };
        let words = [helper.to_str().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?];
        let words = words.iter().chain(helper_args).map(|word| quoted(word)).collect::<Vec<_>>();
        let command = format!("exec {}", words.join(" "));
        let (stream, theirs) = UnixStream::pair().map_err(failed)?;
        let spawn =
            Spawn { command: &command, dir: Path::new("."), env: &[], cores: &[], log: Path::new("") };
        let theirs = std::os::fd::OwnedFd::from(theirs);
        let tree = Tree::start_with(&spawn, theirs.into(), Stdio::inherit(), Stdio::inherit())?;
        stream.set_read_timeout(Some(LOOK)).map_err(failed)?;
        let mut runner = Runner {
            helper: helper.to_owned(),
            stream,
            tree: Some(tree),
            jobs: jobs.iter().map(|job| (job.program.clone(), job.dir.clone())).collect(),
            padding: None,
            rss_floor_bytes: 0,
        };
        runner.send(&message).map_err(failed)?;
        let began = Instant::now();
        let hello = runner.receive::<8>(|| began.elapsed() > READY).map_err(failed)?;
        let hello = hello.ok_or_else(|| failed(io::ErrorKind::TimedOut.into()))?;
        runner.rss_floor_bytes = u64::from_le_bytes(hello);
        Ok(runner)
    }

    /// From now on each run has a variable `KUMITE_PADDING` of random length, up to 4 KiB, so that no command profits
    /// from the place where its environment happens to put its stack (Mytkowicz et al.: Producing Wrong Data Without
    /// Doing Anything Obviously Wrong, 2009). Until then it is empty. The same seed gives the same lengths.
    pub fn vary_environment(&mut self, seed: u64) {
        self.padding = Some(seed);
    }

    /// The memory of the helper, which the peak of a command cannot be below: the kernel lets it inherit that.
    pub fn rss_floor_bytes(&self) -> u64 {
        self.rss_floor_bytes
    }

    /// Runs one job to its end, on these cores (none: any). `None` if `stop` was set (looked at 20 times a second): the
    /// command and all it started have been ended, and this runner can run no more.
    ///
    /// # Errors
    ///
    /// A command that cannot be started, with its name; cores that are not there; a runner that has ended. A command
    /// that fails is no error: see [`TimedRun::status`].
    ///
    /// # Panics
    ///
    /// If there is no such job.
    pub fn run(&mut self, job: usize, cores: &[usize], stop: &AtomicBool) -> Result<Option<TimedRun>, Error> {
        Ok(self.run_at_once([job], [cores], stop)?.map(|[run]| run))
    }

    /// Runs two jobs at the same time, each on its cores; returns when both have ended.
    pub fn run_both(
        &mut self,
        jobs: [usize; 2],
        cores: [&[usize]; 2],
        stop: &AtomicBool,
    ) -> Result<Option<[TimedRun; 2]>, Error> {
        self.run_at_once(jobs, cores, stop)
    }

    fn run_at_once<const N: usize>(
        &mut self,
        jobs: [usize; N],
        cores: [&[usize]; N],
        stop: &AtomicBool,
    ) -> Result<Option<[TimedRun; N]>, Error> {
        let began = Instant::now();
        let mut request = Message::new();
        request.count(N);
        for (job, cores) in jobs.into_iter().zip(cores) {
            assert!(job < self.jobs.len(), "there are {} jobs, and no number {job}", self.jobs.len());
            request.count(job);
            request.number(self.next_padding());
            request.count(cores.len());
            cores.iter().for_each(|&core| request.count(core));
        }
        self.send(&request).map_err(|source| self.ended(source))?;
        let mut answers = [[0; 8]; N];
        for answer in &mut answers {
            let stopped = || stop.load(Ordering::Relaxed);
            let Some(bytes) = self.receive::<64>(stopped).map_err(|source| self.ended(source))? else {
                self.tree = None;
                return Ok(None);
            };
            let mut bytes = &bytes[..];
            for number in answer {
                *number = bytes.number().map_err(|source| self.ended(source))?;
            }
        }
        for ((job, cores), answer) in jobs.into_iter().zip(cores).zip(answers) {
            if answer[0] != 0 {
                return Err(self.failed(job, cores, answer));
            }
        }
        let took = began.elapsed();
        Ok(Some(answers.map(|answer| {
            let [_, wall, user, system, peak_rss_bytes, status, involuntary_switches, left_behind] = answer;
            let wall = Duration::from_nanos(wall);
            TimedRun {
                wall,
                user: Duration::from_nanos(user),
                system: Duration::from_nanos(system),
                peak_rss_bytes,
                peak_rss_is_floor: peak_rss_bytes <= self.rss_floor_bytes,
                status: ExitStatus::from_raw(status as i32),
                involuntary_switches,
                left_behind: left_behind as usize,
                overhead: took.saturating_sub(wall),
            }
        })))
    }

    /// SplitMix64 (Steele et al. 2014).
    fn next_padding(&mut self) -> u64 {
        let Some(state) = &mut self.padding else { return 0 };
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % MOST_PADDING
    }

    fn send(&mut self, message: &Message) -> io::Result<()> {
        if self.tree.is_none() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.stream.write_all(message.bytes())
    }

    /// `None` if it was given up.
    fn receive<const N: usize>(&mut self, give_up: impl Fn() -> bool) -> io::Result<Option<[u8; N]>> {
        let mut bytes = [0; N];
        let mut filled = 0;
        while filled < N {
            match self.stream.read(&mut bytes[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => filled += count,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
            if filled < N && give_up() {
                return Ok(None);
            }
        }
        Ok(Some(bytes))
    }

    fn ended(&mut self, source: io::Error) -> Error {
        self.tree = None;
        Error::Runner { helper: self.helper.clone(), source }
    }

    fn failed(&self, job: usize, cores: &[usize], answer: [u64; 8]) -> Error {
        let (program, dir) = &self.jobs[job];
        let source = io::Error::from_raw_os_error(answer[2] as i32);
        match STAGES.get(answer[1] as usize) {
            Some(Stage::Cores) => {
                Error::Cores { cores: cores.to_vec(), available: available_cores(), source }
            }
            Some(Stage::Directory) => Error::Directory { path: dir.clone() },
            _ => Error::Program { program: program.clone(), source },
        }
    }
}

fn describe(job: &Job, message: &mut Message) -> Result<(), Error> {
    let failed = |source| Error::Program { program: job.program.clone(), source };
    if !job.dir.is_dir() {
        return Err(Error::Directory { path: job.dir.clone() });
    }
    let mut env: Vec<(OsString, OsString)> = env::vars_os().collect();
    env.retain(|(name, _)| !job.env.iter().any(|(set, _)| name == set.as_str()));
    env.extend(job.env.iter().map(|(name, value)| (name.into(), value.into())));
    let path = env.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new(""), |(_, path)| path);
    message.string(program(job, path).map_err(failed)?.as_os_str());
    let args: Vec<&OsStr> = [&*job.program].into_iter().chain(job.args.iter().map(OsStr::new)).collect();
    message.strings(args.into_iter());
    let env: Vec<OsString> =
        env.into_iter().map(|(name, value)| [name, value].join(OsStr::new("="))).collect();
    message.strings(env.iter().map(OsString::as_os_str));
    let absolute = |path: &Path| std::path::absolute(path).map_err(failed);
    message.path(Some(&absolute(&job.dir)?));
    message.path(
        match &job.stdin {
            Stdin::Null => None,
            Stdin::File(path) => Some(absolute(path)?),
        }
        .as_deref(),
    );
    let (kind, file) = match &job.output {
        Output::Null => (NULL, None),
        Output::Inherit => (INHERIT, None),
        Output::File(path) => (FILE, Some(absolute(path)?)),
        Output::Pipe => (PIPE, None),
    };
    message.number(kind);
    message.path(file.as_deref());
    Ok(())
}

/// The file to execute.
fn program(job: &Job, path: &OsStr) -> io::Result<PathBuf> {
    if job.program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(&job.program));
    }
    let candidates = env::split_paths(path).map(|dir| job.dir.join(dir).join(&job.program));
    let executable = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let found = candidates.into_iter().find(executable).ok_or(io::ErrorKind::NotFound)?;
    std::path::absolute(found)
}

/// For the shell, as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
