//! The caller's side of the helper that runs timed commands.
//!
//! Orders go over a socket pair, and one answer for each comes back in the same order. The helper takes the times, so
//! that nothing of ours lies between its two clock readings: neither our scheduling nor the reading of an answer. At
//! most [`MOST_QUEUED`] orders may be queued, and the helper goes from one run to the next without waiting for us.
//!
//! A runner has ended all that it started once it was stopped, its command took too long, or its helper has ended. It
//! then runs nothing more, and each later call returns an error that says so.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use nix::unistd::getpgrp;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::counters::{Counter, Counts, NoCounters, as_bits};
use crate::helper::{FILE, FILES, INHERIT, NULL, PADDING, PIPE, Passes};
use crate::owner::MARKER;
use crate::terminal::Terminal;
use crate::timing::now;
use crate::tree::ready;
use crate::wire::{ANSWER, Failure, Message, Stage, Wire, decode};
use crate::{Error, Spawn, Tree, available_cores, total};

/// The time within which the helper must be ready, on a machine that may be very busy.
const READY: Duration = Duration::from_secs(10);
/// The time between two looks at the stop flag.
const LOOK: Duration = Duration::from_millis(50);
/// The time after which a run may be waiting for a stopped process, so that one is looked for.
const LONG: Duration = Duration::from_secs(1);
/// The shortest time between two looks for an answer while more runs are queued.
const SHORTEST_NAP: Duration = Duration::from_micros(500);
/// The most bytes of padding, a page: effects of a stack's place repeat themselves after that.
const MOST_PADDING: u64 = 4096;
/// The CPU time of a run that no usage has: the helper's part in starting it, and the kernel's in ending it. It is
/// what was left over when only runs of a no-op went on.
const STARTING: Duration = Duration::from_micros(75);
/// The most runs that may be queued and not fetched yet. They are few enough that neither side ever waits for room to
/// write.
pub const MOST_QUEUED: usize = 64;

/// A command that is run many times, without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// A path, relative to `dir`; or a name that is looked up once, on the PATH of `env` if that has one, else on
    /// ours.
    pub program: OsString,
    /// The arguments of the program, without its name.
    pub args: Vec<String>,
    /// The directory that the command runs in.
    pub dir: PathBuf,
    /// Variables that are set on top of our own environment.
    pub env: Vec<(String, String)>,
    /// The standard input of the command.
    pub stdin: Stdin,
    /// The destination of the command's standard output and standard error.
    pub output: Output,
}

/// The standard input of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Empty input.
    Null,
    /// The content of this file, from its beginning in each run.
    File(PathBuf),
}

/// The destination of the output of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Output {
    /// Output is thrown away.
    #[default]
    Null,
    /// Standard output and standard error are those of the helper, which are ours.
    Inherit,
    /// Standard output goes into this file, which is created or emptied in each run; standard error is thrown away.
    File(PathBuf),
    /// Standard output and standard error go into a file each, which is created or emptied in each run.
    Files {
        /// The file for standard output.
        stdout: PathBuf,
        /// The file for standard error.
        stderr: PathBuf,
    },
    /// Standard output goes into a pipe that is read on any core and thrown away, as a consumer would; standard error
    /// is thrown away.
    Pipe,
}

/// Runs commands one after another from a small process of its own, the helper. The kernel lets a process inherit the
/// peak memory of the one that started it; from the helper, a command's peak does not begin with ours.
///
/// The helper is a [`Tree`]. Dropping the runner ends the helper and what it has started; the guardian does so if we
/// are killed.
///
/// A command's environment is ours with [`Job::env`], `KUMITE_TREE` and `KUMITE_PADDING`. Each command is in a
/// process group of its own. The caller should stay off the cores that it gives to commands ([`crate::pin_thread`]).
#[derive(Debug)]
pub struct Runner {
    helper: PathBuf,
    stream: UnixStream,
    /// The helper's tree; `None` once it was ended, because the runner was stopped or has failed.
    tree: Option<Tree>,
    jobs: Vec<Job>,
    queued: VecDeque<Queued>,
    /// The moment, on the monotonic clock, up to which all time is counted already, in a run or in its overhead.
    free_since: Duration,
    last_wall: Duration,
    padding: Option<u64>,
    limit: Option<Duration>,
    passes: Passes,
    from_shell: bool,
    variable: String,
    /// The counters of each run, as the helper is told.
    counters: u64,
    /// The terminal, which may be lent to a run while the helper lives; `None` if we have none, or were not in its
    /// foreground at the start.
    terminal: Option<Terminal>,
    rss_floor_bytes: u64,
}

#[derive(Debug)]
struct Queued {
    job: usize,
    forked: bool,
    cores: Vec<usize>,
    /// The moment of queueing, on the monotonic clock.
    at: Duration,
}

/// The figures of one run of a command, from just before it is started until it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedRun {
    /// The wall time on the monotonic clock, from just before posix_spawn, or fork, until just after wait4.
    pub wall: Duration,
    /// User time of the command and of the descendants that it waited for, to a microsecond.
    pub user: Duration,
    /// System time of the command and of the descendants that it waited for, to a microsecond.
    pub system: Duration,
    /// The highest resident set, in bytes, of the command or of any one descendant that it waited for. Unless the
    /// command was started by fork, it is not below [`Runner::rss_floor_bytes`].
    pub peak_rss_bytes: u64,
    /// `true` if `peak_rss_bytes` is the floor that the helper sets: the command's own peak is at most that.
    pub peak_rss_is_floor: bool,
    /// The status of the command itself. A status of failure is not an error of the runner.
    pub status: ExitStatus,
    /// The number of times that the command, or a descendant that it waited for, had to give way to another process.
    pub involuntary_switches: u64,
    /// The number of descendants that still ran when the command ended, and have been ended. If two commands ran at
    /// once, it is that of both. 0 if runs are made as from a shell.
    pub left_behind: usize,
    /// `true` if the user has ended the command by Ctrl-C, at the terminal that the run was lent.
    pub interrupted: bool,
    /// The time around the run that is not in `wall`: preparation, and clearing up after the run before it. For the
    /// last queued run it includes the way of the answer. Time in which nothing was queued is not in it.
    pub overhead: Duration,
    /// The counts of the command and all its descendants until it ended, by the position of the counter in
    /// [`Counter::ALL`]; 0 for a counter that was not asked for.
    pub counts: Counts,
}

impl TimedRun {
    /// The CPU time that the run cost, in whatever process: that of the command, the overhead, and an estimate of
    /// starting and ending it.
    pub fn all_cpu(&self) -> Duration {
        total([self.user, self.system, self.overhead, STARTING])
    }
}

impl Runner {
    /// Starts the helper, whose command line must call [`crate::runner_main`] before it does anything else.
    ///
    /// # Errors
    ///
    /// A directory does not exist, a program cannot be found, a command line has a NUL byte, or the helper cannot be
    /// started or is not ready within 10 s.
    pub fn start(helper: &Path, helper_args: &[&str], jobs: &[Job]) -> Result<Runner, Error> {
        let mut message = Message::new();
        let us = getpgrp();
        message.number(u64::from(us.as_raw().cast_unsigned()));
        message.count(jobs.len());
        for job in jobs {
            describe(job, &mut message)?;
        }
        let failed = |source| Error::Runner { helper: helper.to_owned(), source };
        let program = helper.to_str().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        let words = [program].into_iter().chain(helper_args.iter().copied());
        let line =
            shlex::try_join(words).map_err(|why| failed(io::Error::new(io::ErrorKind::InvalidInput, why)))?;
        // Not `exec`: the peak that a process inherits is lost with its next child, and so the helper has none of ours.
        let command = format!("{line}; exit $?");
        let (stream, theirs) = UnixStream::pair().map_err(failed)?;
        let spawn = Spawn {
            command: &command,
            dir: Path::new("."),
            env: &[],
            keeps: None,
            cores: &[],
            log: Path::new(""),
            group: None,
        };
        let theirs = OwnedFd::from(theirs).into();
        let tree = Tree::start_with(&spawn, theirs, Stdio::inherit(), Stdio::inherit())?;
        let mut runner = Runner {
            helper: helper.to_owned(),
            stream,
            tree: Some(tree),
            jobs: jobs.to_vec(),
            queued: VecDeque::new(),
            free_since: Duration::ZERO,
            last_wall: Duration::ZERO,
            padding: None,
            limit: None,
            passes: Passes::Always,
            from_shell: false,
            variable: String::new(),
            counters: 0,
            terminal: Terminal::held_by(us),
            rss_floor_bytes: 0,
        };
        runner.send(&message)?;
        let began = Instant::now();
        let hello = runner.receive::<1>(None, |_| began.elapsed() > READY)?;
        let [floor] = hello.ok_or_else(|| failed(io::ErrorKind::TimedOut.into()))?;
        runner.rss_floor_bytes = floor;
        Ok(runner)
    }

    /// Gives each run from now on a variable `KUMITE_PADDING` of random length, up to 4 KiB. So no command profits
    /// from the place where its environment happens to put its stack (Mytkowicz et al.: Producing Wrong Data Without
    /// Doing Anything Obviously Wrong, 2009). Without this call the variable is empty. The same seed gives the same
    /// lengths.
    pub fn vary_environment(&mut self, seed: u64) {
        self.padding = Some(seed);
    }

    /// Limits the time of each run from now on, counted from when its result is waited for. A run that takes longer
    /// is an error: the command and all it started are ended, and this runner can run no more.
    pub fn limit(&mut self, limit: Duration) {
        self.limit = Some(limit);
    }

    /// Ends each queue from now on with the first run that does not pass. The runs queued behind that one are not made,
    /// and to fetch one of them returns an error ([`Runner::forget_queued`] fetches them all). Without this call all
    /// runs pass.
    pub fn end_queue_unless(&mut self, passes: Passes) {
        self.passes = passes;
    }

    /// Makes runs from now on as a shell would. Processes that a run leaves behind live as long as this runner (see
    /// [`Runner::finish`]); without this call they are ended with the run. A run that wants the terminal has it, if
    /// we are in its foreground; without this call that is an error.
    pub fn run_as_from_a_shell(&mut self) {
        self.from_shell = true;
    }

    /// Sets this variable for each run that is ordered from now on, in place of the variable that was set here
    /// before.
    pub fn set_variable(&mut self, name: &str, value: &str) {
        self.variable = format!("{name}={value}");
    }

    /// Reads these counters for each run that is ordered from now on, in place of those set here before. If they cannot
    /// be read on this machine, each run returns an error; [`crate::try_counters`] tells so beforehand.
    pub fn count(&mut self, counters: &[Counter]) {
        self.counters = as_bits(counters);
    }

    /// Ends the helper, and all processes that runs have left behind. Returns the command lines of these processes;
    /// empty if there are none, or the runner has ended before.
    pub fn finish(mut self) -> Vec<String> {
        let left = self.tree.as_mut().map(Tree::left_outside).unwrap_or_default();
        self.end();
        left
    }

    /// The floor of a command's peak memory, in bytes: the peak memory of the helper, which the kernel lets a command
    /// inherit. It is as of the last run that was fetched, or of the helper's start if there is none.
    pub fn rss_floor_bytes(&self) -> u64 {
        self.rss_floor_bytes
    }

    /// Runs one job to its end on these cores; without any, on the cores that we had at the start. `job` is its
    /// position, from 0 on, in the list given to [`Runner::start`]. `None` if `stop` was set (looked at 20 times a
    /// second): the command and all that it started have been ended, and this runner can run no more.
    ///
    /// # Errors
    ///
    /// The command cannot be started, or not in its directory, with its files, on its cores or with its counters; it
    /// wants the terminal and cannot have it; it is stopped by a signal and nobody lets it go on; it takes longer than
    /// the [limit](Runner::limit()); or the runner has ended. A command that fails is no error: see
    /// [`TimedRun::status`].
    ///
    /// # Panics
    ///
    /// If there is no such job, or a queued run was not yet fetched by [`Runner::next`].
    pub fn run(&mut self, job: usize, cores: &[usize], stop: &AtomicBool) -> Result<Option<TimedRun>, Error> {
        self.run_at_once([(job, cores)], false, stop).map(|runs| runs.map(|[run]| run))
    }

    /// Runs two jobs at the same time, each on its cores, and returns when both have ended. Otherwise it is like
    /// [`Runner::run`]. Its errors are the same, too.
    pub fn run_both(
        &mut self,
        jobs: [usize; 2],
        cores: [&[usize]; 2],
        stop: &AtomicBool,
    ) -> Result<Option<[TimedRun; 2]>, Error> {
        self.run_at_once([(jobs[0], cores[0]), (jobs[1], cores[1])], false, stop)
    }

    /// Runs one job as [`Runner::run`] does, with the same errors, but starts it by fork. A start by fork lowers the
    /// floor of the command's peak memory to less than a megabyte, and adds some 0.1 ms to its times. It is for
    /// commands whose own peak the floor hides, as [`TimedRun::peak_rss_is_floor`] says.
    pub fn run_forked(
        &mut self,
        job: usize,
        cores: &[usize],
        stop: &AtomicBool,
    ) -> Result<Option<TimedRun>, Error> {
        self.run_at_once([(job, cores)], true, stop).map(|runs| runs.map(|[run]| run))
    }

    /// Queues a run, which begins as soon as the runs queued before it have ended, and returns at once.
    /// [`Runner::next`] returns the results in the same order. A queue is quicker than [`Runner::run`]: the helper
    /// waits for us only when nothing is queued, and to wake each other takes longer than all else that happens
    /// between two runs. Three runs ahead are enough for commands of a millisecond or more. An error only if the
    /// runner has ended.
    ///
    /// # Panics
    ///
    /// If there is no such job, or [`MOST_QUEUED`] queued runs were not yet fetched.
    pub fn queue(&mut self, job: usize, cores: &[usize]) -> Result<(), Error> {
        self.order(&[(job, cores)], false)
    }

    /// Waits for the end of the first queued run that is not fetched yet, and returns its figures. It returns `None`
    /// and errors as [`Runner::run`] does, and an error if the run was not made because one before it did not pass.
    /// After an error the other queued runs can still be fetched, if the runner has not ended.
    ///
    /// # Panics
    ///
    /// If nothing is queued, and the runner has not ended.
    pub fn next(&mut self, stop: &AtomicBool) -> Result<Option<TimedRun>, Error> {
        let nap = (self.queued.len() > 1).then(|| (self.last_wall / 4).clamp(SHORTEST_NAP, LOOK));
        self.fetch(nap, stop)
    }

    /// Fetches all queued runs, and drops their figures and errors. It is meant for runs that are not made because one
    /// before them did not pass; a run that is made after all is waited for. If `stop` is set during such a wait, the
    /// runner ends.
    pub fn forget_queued(&mut self, stop: &AtomicBool) {
        while !self.queued.is_empty() && self.tree.is_some() {
            let _ = self.fetch(None, stop);
        }
    }

    fn run_at_once<const N: usize>(
        &mut self,
        jobs: [(usize, &[usize]); N],
        forked: bool,
        stop: &AtomicBool,
    ) -> Result<Option<[TimedRun; N]>, Error> {
        assert!(self.queued.is_empty(), "a queued run was not fetched");
        self.order(&jobs, forked)?;
        // All answers are fetched, also after an error.
        let runs = jobs.map(|_| if self.queued.is_empty() { Ok(None) } else { self.fetch(None, stop) });
        let runs: Vec<TimedRun> = runs.into_iter().filter_map(Result::transpose).collect::<Result<_, _>>()?;
        Ok(runs.try_into().ok())
    }

    fn fetch(&mut self, nap: Option<Duration>, stop: &AtomicBool) -> Result<Option<TimedRun>, Error> {
        if self.tree.is_none() {
            return Err(self.lost(io::ErrorKind::BrokenPipe.into()));
        }
        let queued = self.queued.pop_front().expect("a run is queued");
        let (limit, began) = (self.limit, Instant::now());
        let takes_too_long = || limit.filter(|limit| began.elapsed() > *limit);
        let mut stopped = None;
        let answer = self.receive::<ANSWER>(nap, |tree| {
            if stopped.is_none() && began.elapsed() > LONG {
                stopped = tree.stuck();
            }
            stopped.is_some() || stop.load(Ordering::Relaxed) || takes_too_long().is_some()
        })?;
        let Some(answer) = answer else {
            self.end();
            let program = self.jobs[queued.job].program.clone();
            return match (stopped, takes_too_long()) {
                _ if stop.load(Ordering::Relaxed) => Ok(None),
                (Some(process), _) => Err(Error::Stopped { program, process }),
                (None, Some(limit)) => Err(Error::TooLong { program, limit }),
                (None, None) => Ok(None),
            };
        };
        let figures = decode(answer).map_err(|failure| self.failed(&queued, failure))?;
        let [began, ended, user, system] =
            [figures.began, figures.ended, figures.user, figures.system].map(Duration::from_nanos);
        let mut overhead = began.saturating_sub(queued.at.max(self.free_since));
        self.free_since = ended;
        if self.queued.is_empty() {
            self.free_since = now();
            overhead += self.free_since.saturating_sub(ended);
        }
        self.last_wall = ended.saturating_sub(began);
        self.rss_floor_bytes = figures.floor_bytes;
        Ok(Some(TimedRun {
            wall: self.last_wall,
            user,
            system,
            peak_rss_bytes: figures.peak_rss_bytes,
            peak_rss_is_floor: !queued.forked && figures.peak_rss_bytes <= figures.floor_bytes,
            status: ExitStatus::from_raw(figures.status),
            involuntary_switches: figures.involuntary_switches,
            left_behind: figures.left_behind as usize,
            interrupted: figures.is_interrupted(),
            counts: figures.counts,
            overhead,
        }))
    }

    /// Sends one order, whose jobs run at the same time.
    fn order(&mut self, together: &[(usize, &[usize])], forked: bool) -> Result<(), Error> {
        assert!(self.queued.len() + together.len() <= MOST_QUEUED, "too many queued runs were not fetched");
        let mut order = Message::new();
        order.count(together.len());
        order.number(self.queued.is_empty().into());
        order.number(self.from_shell.into());
        self.passes.write(&mut order);
        order.string(OsStr::new(&self.variable));
        order.number(self.counters);
        for &(job, cores) in together {
            assert!(job < self.jobs.len(), "there are {} jobs, and no number {job}", self.jobs.len());
            order.count(job);
            order.number(forked.into());
            order.number(self.next_padding());
            order.count(cores.len());
            cores.iter().for_each(|&core| order.count(core));
        }
        let at = now();
        self.send(&order)?;
        let queued = |&(job, cores): &(usize, &[usize])| Queued { job, forked, cores: cores.to_vec(), at };
        self.queued.extend(together.iter().map(queued));
        Ok(())
    }

    /// The length of the next padding: 0, or a random number by SplitMix64 (Steele et al. 2014).
    fn next_padding(&mut self) -> u64 {
        let Some(state) = &mut self.padding else { return 0 };
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % MOST_PADDING
    }

    fn send(&mut self, message: &Message) -> Result<(), Error> {
        match self.tree {
            Some(_) => self.stream.write_all(message.bytes()).map_err(|source| self.lost(source)),
            None => Err(self.lost(io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Waits for `N` numbers from the helper. `None` if `give_up` returned `true`. With `nap` it sleeps that long
    /// between two looks, so that the helper need not spend time on waking us.
    fn receive<const N: usize>(
        &mut self,
        nap: Option<Duration>,
        mut give_up: impl FnMut(&mut Tree) -> bool,
    ) -> Result<Option<[u64; N]>, Error> {
        let mut bytes = vec![0; N * 8];
        let mut filled = 0;
        while filled < bytes.len() {
            match recv(&self.stream, &mut bytes[filled..], RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return Err(self.lost(io::ErrorKind::UnexpectedEof.into())),
                Ok((_, count)) => filled += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.tree.as_mut().is_none_or(&mut give_up) => return Ok(None),
                Err(Errno::AGAIN) => match nap {
                    Some(nap) => thread::sleep(nap),
                    None => _ = ready([self.stream.as_fd()], LOOK).map_err(|source| self.lost(source))?,
                },
                Err(errno) => return Err(self.lost(errno.into())),
            }
        }
        let mut bytes = &bytes[..];
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = bytes.number().map_err(|source| self.lost(source))?;
        }
        Ok(Some(numbers))
    }

    fn end(&mut self) {
        self.tree = None;
        self.queued.clear();
        // The helper, which else takes it back, is gone.
        if let Some(terminal) = self.terminal.take().filter(Terminal::is_lent) {
            terminal.take_back(true);
        }
    }

    fn lost(&mut self, source: io::Error) -> Error {
        self.end();
        Error::Runner { helper: self.helper.clone(), source }
    }

    fn failed(&self, queued: &Queued, failure: Failure) -> Error {
        let job = &self.jobs[queued.job];
        let source = io::Error::from_raw_os_error(failure.errno);
        let program = job.program.clone();
        match (failure.stage, &job.stdin, &job.output) {
            (Stage::Terminal, ..) => Error::WantsTerminal { program },
            (Stage::Stopped, ..) => {
                Error::Stopped { process: program.to_string_lossy().into_owned(), program }
            }
            (Stage::Skipped, ..) => {
                Error::Program { program, source: io::Error::other("one before it in the queue failed") }
            }
            (Stage::Cores, ..) => {
                Error::Cores { cores: queued.cores.clone(), available: available_cores(), source }
            }
            (Stage::Counters, ..) => Error::Counters { program, source: NoCounters::from(source) },
            (Stage::Directory, ..) => Error::Directory { path: job.dir.clone() },
            (Stage::Stdin, Stdin::File(path), _) => Error::Input { path: path.clone(), source },
            (Stage::Output, _, Output::File(path) | Output::Files { stdout: path, .. }) => {
                Error::Output { path: path.clone(), source }
            }
            _ => Error::Program { program, source },
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.end();
    }
}

fn describe(job: &Job, message: &mut Message) -> Result<(), Error> {
    let failed = |source| Error::Program { program: job.program.clone(), source };
    if !job.dir.is_dir() {
        return Err(Error::Directory { path: job.dir.clone() });
    }
    let mut env: Vec<(OsString, OsString)> = env::vars_os().collect();
    let replaced = |name: &OsStr| job.env.iter().any(|(set, _)| name == set.as_str());
    env.retain(|(name, _)| name != MARKER && name != PADDING && !replaced(name));
    env.extend(job.env.iter().map(|(name, value)| (name.into(), value.into())));
    let path = env.iter().find(|(name, _)| name == "PATH").map_or(OsStr::new(""), |(_, path)| path);
    if has_nul(job) {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "its command line has a NUL byte")));
    }
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
    let (kind, files) = match &job.output {
        Output::Null => (NULL, [None, None]),
        Output::Inherit => (INHERIT, [None, None]),
        Output::File(path) => (FILE, [Some(absolute(path)?), None]),
        Output::Files { stdout, stderr } => (FILES, [Some(absolute(stdout)?), Some(absolute(stderr)?)]),
        Output::Pipe => (PIPE, [None, None]),
    };
    message.number(kind);
    files.iter().for_each(|file| message.path(file.as_deref()));
    Ok(())
}

fn has_nul(job: &Job) -> bool {
    let env = job.env.iter().flat_map(|(name, value)| [name, value]);
    job.program.as_bytes().contains(&0) || job.args.iter().chain(env).any(|string| string.contains('\0'))
}

/// The path of the job's executable file, looked up on `path` if it is a name. An error if no executable file is
/// found.
fn program(job: &Job, path: &OsStr) -> io::Result<PathBuf> {
    if job.program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(&job.program));
    }
    let candidates = env::split_paths(path).map(|dir| job.dir.join(dir).join(&job.program));
    let executable = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let found = candidates.into_iter().find(executable).ok_or(Errno::NOENT)?;
    std::path::absolute(found)
}
