//! The helper of a [`crate::Runner`]: starts commands, times them and waits for them, in a process so small that what
//! they inherit of its memory does not show.
//!
//! One run is: go to its cores and its directory, open its files; *clock*; posix_spawn, wait until it has ended;
//! *clock*; reap it, see whether it has left anybody behind, report. What is spent outside of the two clocks is the
//! overhead.

use std::collections::BTreeSet;
use std::env;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

use crate::owner::MARKER;
use crate::proc_fs::{self, Stat};
use crate::tree::LAST_WAIT;
use crate::wire::{Message, Wire};
use crate::{available_cores, pin_thread};

/// Where a run failed to start: what the helper answers instead of figures.
pub(crate) const STAGES: [Stage; 5] =
    [Stage::Cores, Stage::Directory, Stage::Stdin, Stage::Output, Stage::Program];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Cores,
    Directory,
    Stdin,
    Output,
    Program,
}

/// The kinds of output on the wire.
pub(crate) const NULL: u64 = 0;
pub(crate) const INHERIT: u64 = 1;
pub(crate) const FILE: u64 = 2;
pub(crate) const PIPE: u64 = 3;

/// How many numbers an answer has.
pub(crate) const ANSWER: usize = 9;

/// The name of the variable that varies the size of the environment.
const PADDING: &str = "KUMITE_PADDING=";

struct Job {
    program: CString,
    args: Vec<CString>,
    /// Its last entry is for the padding.
    env: Vec<CString>,
    dir: PathBuf,
    stdin: Option<PathBuf>,
    output: Output,
}

enum Output {
    Null,
    Inherit,
    File(PathBuf),
    Pipe,
}

struct Order {
    job: usize,
    padding: usize,
    cores: Vec<usize>,
}

/// A run that could not be started: at which stage, and what the system said.
type Failure = (Stage, i32);

/// A command that has ended and is still to be reaped.
struct Ran {
    pid: Pid,
    began: Duration,
    ended: Duration,
}

/// The monotonic clock, which is the same for all processes.
pub(crate) fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

/// What the helper process of a [`crate::Runner`] does, speaking over its standard input; returns when that ends. To be
/// called before anything else that would take memory.
pub fn runner_main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: the runner cannot go on: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut answers = stream.try_clone()?;
    let mut requests = BufReader::new(stream);
    let mut helper = Helper::new(jobs(&mut requests)?)?;
    let mut hello = Message::new();
    hello.number(proc_fs::resident("self").map_or(u64::MAX, |(_, highest)| highest));
    answers.write_all(hello.bytes())?;
    while let Some(orders) = orders(&mut requests)? {
        let mut answer = Message::new();
        helper.execute(&orders, &mut answer)?;
        answers.write_all(answer.bytes())?;
    }
    Ok(())
}

fn jobs(from: &mut impl Read) -> io::Result<Vec<Job>> {
    // All that a command starts must carry the name of our tree.
    let marker = env::var_os(MARKER).unwrap_or_default();
    let marker = CString::new([MARKER.as_bytes(), b"=", marker.as_bytes()].concat())?;
    let count = from.count()?;
    let job = |_| {
        let program = CString::new(from.string()?.as_bytes())?;
        let args = from.strings()?;
        let mut env = from.strings()?;
        env.extend([marker.clone(), CString::default()]);
        let dir = from.path()?.unwrap_or_default();
        let stdin = from.path()?;
        let output = match (from.number()?, from.path()?) {
            (FILE, Some(path)) => Output::File(path),
            (INHERIT, _) => Output::Inherit,
            (PIPE, _) => Output::Pipe,
            _ => Output::Null,
        };
        Ok(Job { program, args, env, dir, stdin, output })
    };
    (0..count).map(job).collect()
}

/// Those that are to run at the same time; `None` at the end.
fn orders(from: &mut impl Read) -> io::Result<Option<Vec<Order>>> {
    let count = match from.count() {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        count => count?,
    };
    let order = |_| {
        let (job, padding, cores) = (from.count()?, from.count()?, from.count()?);
        let cores = (0..cores).map(|_| from.count()).collect::<io::Result<_>>()?;
        Ok(Order { job, padding, cores })
    };
    (0..count).map(order).collect::<io::Result<_>>().map(Some)
}

struct Helper {
    jobs: Vec<Job>,
    null: File,
    pipe: PipeWriter,
    attributes: PosixSpawnAttr,
    /// The cores that "any" means, and those we are on.
    all: Vec<usize>,
    cores: Vec<usize>,
    dir: PathBuf,
    involuntary_switches: u64,
}

impl Helper {
    fn new(jobs: Vec<Job>) -> io::Result<Helper> {
        crate::become_subreaper()?;
        let all = available_cores();
        let (reader, pipe) = pipe()?;
        if jobs.iter().any(|job| matches!(job.output, Output::Pipe)) {
            thread::Builder::new().stack_size(1 << 17).spawn(move || throw_away(reader))?;
        }
        let mut attributes = PosixSpawnAttr::init()?;
        // A group of its own: a command that signals its whole group does not mean us.
        attributes.set_pgroup(Pid::from_raw(0))?;
        attributes.set_sigmask(&SigSet::empty())?;
        attributes.set_sigdefault(&Signal::SIGPIPE.into())?;
        attributes.set_flags(
            PosixSpawnFlags::POSIX_SPAWN_SETPGROUP
                | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK
                | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF,
        )?;
        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        let (cores, dir) = (all.clone(), PathBuf::new());
        Ok(Helper { jobs, null, pipe, attributes, all, cores, dir, involuntary_switches: 0 })
    }

    fn execute(&mut self, orders: &[Order], answer: &mut Message) -> io::Result<()> {
        for order in orders {
            let job = self.jobs.get_mut(order.job).ok_or(io::ErrorKind::InvalidData)?;
            pad(&mut job.env, order.padding)?;
        }
        let ran = match orders {
            [order] => vec![self.alone(order)],
            _ => self.together(orders),
        };
        let ends: Vec<Result<(Ran, wait4::ResUse, u64), Failure>> =
            ran.into_iter().map(|ran| self.reap(ran?)).collect();
        let left_behind = end_children();
        for end in ends {
            match end {
                Ok((ran, end, switches)) => {
                    answer.number(0);
                    answer.number(nanos(ran.began));
                    answer.number(nanos(ran.ended));
                    answer.number(nanos(end.rusage.utime));
                    answer.number(nanos(end.rusage.stime));
                    answer.number(end.rusage.maxrss);
                    answer.number(raw(end.status));
                    answer.number(switches);
                    answer.count(left_behind);
                }
                Err((stage, errno)) => {
                    let failure = [1, stage as u64, errno.unsigned_abs().into(), 0, 0, 0, 0, 0, 0];
                    failure.into_iter().for_each(|number| answer.number(number));
                }
            }
        }
        Ok(())
    }

    fn alone(&mut self, order: &Order) -> Result<Ran, Failure> {
        let cores = if order.cores.is_empty() { &self.all } else { &order.cores };
        if self.cores != *cores {
            self.cores.clear();
            pin(cores)?;
            self.cores.clone_from(cores);
        }
        let dir = &self.jobs[order.job].dir;
        if self.dir != *dir {
            self.dir.clear();
            enter(dir)?;
            self.dir.clone_from(dir);
        }
        self.run(&self.jobs[order.job], || {})
    }

    /// Each in a thread of its own, which is on its cores and in its directory.
    fn together(&self, orders: &[Order]) -> Vec<Result<Ran, Failure>> {
        let start = Barrier::new(orders.len());
        let run = |order: &Order| {
            let job = &self.jobs[order.job];
            let there = pin(if order.cores.is_empty() { &self.all } else { &order.cores })
                .and_then(|()| {
                    unshare(CloneFlags::CLONE_FS).map_err(|errno| (Stage::Directory, errno as i32))
                })
                .and_then(|()| enter(&job.dir));
            match there {
                Ok(()) => self.run(job, || _ = start.wait()),
                Err(failure) => {
                    start.wait();
                    Err(failure)
                }
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = orders.iter().map(|order| scope.spawn(|| run(order))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a run does not panic")).collect()
        })
    }

    fn run(&self, job: &Job, ready: impl FnOnce()) -> Result<Ran, Failure> {
        let prepared = self.actions(job);
        ready();
        let (actions, _files) = prepared?;
        let failed = |errno: Errno| (Stage::Program, errno as i32);
        let began = now();
        let pid =
            posix_spawn(&*job.program, &actions, &self.attributes, &job.args, &job.env).map_err(failed)?;
        // It stays a zombie until it is reaped, outside of the timed part.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        while let Err(errno) = waitid(Id::Pid(pid), flags) {
            if errno != Errno::EINTR {
                return Err(failed(errno));
            }
        }
        Ok(Ran { pid, began, ended: now() })
    }

    fn actions(&self, job: &Job) -> Result<(PosixSpawnFileActions, [Option<File>; 2]), Failure> {
        let input = job.stdin.as_ref().map(File::open).transpose().map_err(at(Stage::Stdin))?;
        let output = match &job.output {
            Output::File(path) => Some(File::create(path).map_err(at(Stage::Output))?),
            _ => None,
        };
        let null = self.null.as_raw_fd();
        let raw = |file: &Option<File>| file.as_ref().map_or(null, |file| file.as_raw_fd());
        let dup = |actions: &mut PosixSpawnFileActions, from: RawFd, to: BorrowedFd| {
            actions.add_dup2(from, to.as_raw_fd()).map_err(|errno| (Stage::Program, errno as i32))
        };
        let mut actions = PosixSpawnFileActions::init().map_err(|errno| (Stage::Program, errno as i32))?;
        dup(&mut actions, raw(&input), io::stdin().as_fd())?;
        if !matches!(job.output, Output::Inherit) {
            let to = if matches!(job.output, Output::Pipe) { self.pipe.as_raw_fd() } else { raw(&output) };
            dup(&mut actions, to, io::stdout().as_fd())?;
            dup(&mut actions, null, io::stderr().as_fd())?;
        }
        Ok((actions, [input, output]))
    }

    /// How it ended, and its involuntary switches: those of all we have reaped, less those of before.
    fn reap(&mut self, ran: Ran) -> Result<(Ran, wait4::ResUse, u64), Failure> {
        let end = wait4::try_wait4_pid(ran.pid.as_raw().cast_unsigned()).map_err(at(Stage::Program))?;
        let end = end.ok_or((Stage::Program, Errno::ECHILD as i32))?;
        let all =
            getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.involuntary_context_switches());
        let all = all.unsigned_abs();
        let switches = all.saturating_sub(self.involuntary_switches);
        self.involuntary_switches = all;
        Ok((ran, end, switches))
    }
}

fn pin(cores: &[usize]) -> Result<(), Failure> {
    pin_thread(cores).map_err(|_| (Stage::Cores, Errno::EINVAL as i32))
}

fn enter(dir: &std::path::Path) -> Result<(), Failure> {
    env::set_current_dir(dir).map_err(at(Stage::Directory))
}

fn at(stage: Stage) -> impl Fn(io::Error) -> Failure {
    move |error| (stage, error.raw_os_error().unwrap_or(Errno::EIO as i32))
}

fn pad(env: &mut [CString], padding: usize) -> io::Result<()> {
    if let Some(last) = env.last_mut() {
        *last = CString::new([PADDING.as_bytes(), &vec![b'x'; padding]].concat())?;
    }
    Ok(())
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn raw(status: std::process::ExitStatus) -> u64 {
    use std::os::unix::process::ExitStatusExt;
    u64::from(status.into_raw().cast_unsigned())
}

/// Reads what commands write, as fast as it comes.
fn throw_away(mut pipe: PipeReader) {
    let mut buffer = [0; 1 << 16];
    while pipe.read(&mut buffer).is_ok_and(|count| count > 0) {}
}

/// Ends all our children, and theirs, which become ours, and says how many still ran.
fn end_children() -> usize {
    let none_left = || loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return true,
            Ok(WaitStatus::StillAlive) | Err(_) => return false,
            Ok(_) => {}
        }
    };
    let mut ended = BTreeSet::new();
    let last = Instant::now() + LAST_WAIT;
    let us = std::process::id().cast_signed();
    while !none_left() && Instant::now() < last {
        for pid in proc_fs::pids() {
            if Stat::of(pid).is_some_and(|stat| stat.parent == us && !stat.is_zombie()) {
                ended.insert(pid);
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
        thread::sleep(Duration::from_micros(200));
    }
    ended.len()
}
