//! A process tree: a command and all that it starts, from its start to the end of the last member.
//!
//! The root is in a process group of its own, and on its CPUs, before its first instruction. It is not reaped before
//! the tree is ended, so that no other process gets its id. Once the tree is stopped or dropped nothing of it runs,
//! but for a process that hangs in the kernel: after about a second that is left to the guardian.
//!
//! A process is signalled only if the last look found it to be a member.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgid, getpgrp};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, pidfd_open};

use crate::group::{CgroupDirs, Hierarchies};
use crate::mark::starting;
use crate::members::{Members, Usage};
use crate::owner::MARKER;
use crate::stops::Hold;
use crate::stuck::Stood;
use crate::terminal::{self, Terminal};
use crate::token::token_and_mark;
use crate::{Error, Group, Waits, guardian, pin_thread, proc_fs};

/// The time within which killed processes should be gone. A process in an uninterruptible sleep of the kernel may
/// take longer.
const LAST_WAIT: Duration = Duration::from_secs(1);
/// The least number of kills and looks, even if [`LAST_WAIT`] is over: if the machine stood still for that time,
/// nobody could kill or die in it.
const LEAST_LOOKS: u32 = 20;

/// The wait for killed processes to be gone.
pub(crate) struct LastWait {
    until: Instant,
    looks: u32,
}

impl LastWait {
    pub(crate) fn begin() -> LastWait {
        LastWait { until: Instant::now() + LAST_WAIT, looks: 0 }
    }

    /// `true` if one more kill and look is allowed: until [`LAST_WAIT`] has passed, and always [`LEAST_LOOKS`] times.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.looks += 1;
        self.looks <= LEAST_LOOKS || Instant::now() < self.until
    }
}

/// The time within which a process that stops itself must stand still, on a machine that may be busy.
const STOPS_WITHIN: Duration = Duration::from_secs(10);

/// The script of a command that is to be in a control group: it stops itself until it has been put into the group,
/// and then becomes the command.
const STOPPED: &str = r#"kill -s STOP $$; exec /bin/sh -c "$1""#;

/// A command that is to be started, with its surroundings.
#[derive(Debug, Clone, Copy)]
pub struct Spawn<'a> {
    /// The command line, which is run by `sh -c`.
    pub command: &'a str,
    /// The directory that the command runs in.
    pub dir: &'a Path,
    /// Variables that are set on top of our own environment.
    pub env: &'a [(String, String)],
    /// The names of the variables that are kept of our own environment; `None` keeps all.
    pub keeps: Option<&'a [&'a str]>,
    /// The cores that the command may use; if empty, those of the calling thread.
    pub cores: &'a [usize],
    /// The file for standard output and standard error, which is created or emptied; for [`Tree::start_talking`] it
    /// is for standard error alone. Without a [`Talk`](crate::Talk) standard input is empty.
    pub log: &'a Path,
    /// The control group that the command runs in, with all that it starts. It is put there before its first
    /// instruction. `None` for no group of its own.
    pub group: Option<&'a Group>,
}

/// A running command and all processes that it has started, which end when this is dropped.
#[derive(Debug)]
pub struct Tree {
    /// The id of the root, which is not reaped before the end, so that the id stays the tree's: as a process, as a
    /// process group, and for signals.
    root: Pid,
    pidfd: OwnedFd,
    pub(crate) members: Members,
    pub(crate) started: Instant,
    exit: Option<(ExitStatus, Instant)>,
    /// The peak memory that a child may have inherited from us, in bytes; `u64::MAX` if we cannot tell.
    inherited_rss: u64,
    group: Option<Arc<CgroupDirs>>,
    /// The hold that says that we have stopped processes; `None` if the tree is not paused.
    pub(crate) hold: Option<Hold>,
    /// The stopped members at the last look; `None` before the first.
    pub(crate) stood: Option<Stood>,
    /// The root may have the terminal if it wants it.
    lends: bool,
    pub(crate) lent: Option<Terminal>,
    /// The signal with which the root was stopped for the terminal when it was not lent it; `None` if that did not
    /// happen.
    refused: Option<Signal>,
    ended: bool,
}

/// The end of a tree, and what it used until then.
#[derive(Debug, Clone, Copy)]
pub struct TreeEnd {
    /// The status of the root; `None` if the kernel would not let it end in time, or it could not be waited for.
    pub status: Option<ExitStatus>,
    /// `true` if the root or a process of its group had to be killed, because SIGTERM was not enough or there was no
    /// grace.
    pub killed: bool,
    /// The time from the call of [`Tree::stop`] until nothing ran, or the wait for that was over.
    pub took: Duration,
    /// The number of descendants that outlived the root. If the root had ended before the stop, all that still ran then
    /// count; if it ended at SIGTERM, those that had to be killed.
    pub left_behind: usize,
    /// The time from the start to the end of the root. The end is the moment at which [`Tree::wait`] (within
    /// microseconds), [`Tree::exited`] or the stop saw it; the end of the stop if the root has not ended.
    pub wall: Duration,
    /// User time of the root and of the descendants that were waited for, to a microsecond, as `time` shows it. Zero
    /// without a `status`.
    pub user: Duration,
    /// System time of the root and of the descendants that were waited for, to a microsecond. Zero without a
    /// `status`.
    pub system: Duration,
    /// The usage of the whole tree to its end.
    pub usage: Usage,
}

impl Tree {
    /// Starts a command in a process group of its own, pinned to its cores before its first instruction. An error if
    /// the directory is missing, a core may not be used, the log cannot be written, or the shell cannot be started or
    /// put into its control group. A program that the shell does not find is no error: the root's status is then 127.
    pub fn start(spawn: &Spawn) -> Result<Tree, Error> {
        let log = |source| Error::Log { path: spawn.log.to_owned(), source };
        let out = File::create(spawn.log).map_err(log)?;
        let err = out.try_clone().map_err(log)?;
        Tree::start_with(spawn, Stdio::null(), out.into(), err.into())
    }

    pub(crate) fn start_with(
        spawn: &Spawn,
        stdin: Stdio,
        stdout: Stdio,
        stderr: Stdio,
    ) -> Result<Tree, Error> {
        if !spawn.dir.is_dir() {
            return Err(Error::Directory { path: spawn.dir.to_owned() });
        }
        let failed = |source| Error::Start { command: spawn.command.to_owned(), source };
        guardian::post(Hierarchies::beginnings);
        // A command that is to have a group stops itself until it is in the group.
        let _hold = spawn.group.map(|_| Hold::begin());
        let (token, mark) = token_and_mark();
        let mut command = Command::new("/bin/sh");
        match spawn.group {
            None => command.arg("-c").arg(spawn.command),
            Some(_) => command.args(["-c", STOPPED, "/bin/sh", spawn.command]),
        };
        command.current_dir(spawn.dir);
        if let Some(keeps) = spawn.keeps {
            command.env_clear();
            command.envs(keeps.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        command.envs(spawn.env.iter().map(|(name, value)| (name, value))).env(MARKER, &token);
        command.stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
        // A child inherits its thread's affinity. A thread of its own leaves ours as it was.
        #[expect(clippy::disallowed_methods, reason = "it has its own mark")]
        let start = || {
            if !spawn.cores.is_empty() {
                pin_thread(spawn.cores)?;
            }
            starting(mark, || {
                let started = Instant::now();
                Ok((command.spawn().map_err(failed)?, started))
            })
        };
        let (child, started) =
            thread::scope(|scope| scope.spawn(start).join().expect("starting does not panic"))?;
        let root = Pid::from_raw(child.id().cast_signed());
        let pid = rustix::process::Pid::from_child(&child);
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(|errno| {
            // Without a pidfd we could not end the tree as promised.
            let _ = killpg(root, Signal::SIGKILL);
            failed(errno.into())
        })?;
        let mut tree = Tree {
            root,
            pidfd,
            members: Members::new(root.as_raw(), format!("{MARKER}={token}"), mark),
            started,
            exit: None,
            inherited_rss: proc_fs::resident("self").map_or(u64::MAX, |(_, highest)| highest),
            group: spawn.group.map(|group| group.dirs().clone()),
            hold: None,
            stood: None,
            lends: false,
            lent: None,
            refused: None,
            ended: false,
        };
        if let Some(group) = spawn.group {
            tree.wait_until_stopped().map_err(failed)?;
            group.dirs().join(root.as_raw())?;
            tree.started = Instant::now();
            kill(root, Signal::SIGCONT).map_err(|errno| failed(errno.into()))?;
        }
        Ok(tree)
    }

    fn wait_until_stopped(&self) -> io::Result<()> {
        let last = Instant::now() + STOPS_WITHIN;
        let flags =
            WaitPidFlag::WSTOPPED | WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while Instant::now() < last {
            match waitid(Id::Pid(self.root), flags)? {
                WaitStatus::Stopped(..) => return Ok(()),
                WaitStatus::StillAlive => thread::sleep(Duration::from_micros(100)),
                other => return Err(io::Error::other(format!("it ended before its group: {other:?}"))),
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// The root's pidfd, which becomes readable when the root has ended. [`Tree::exited`] then has its status.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// The process id of the root, and the id of its process group. No other process gets it until the tree is
    /// stopped or dropped.
    pub fn id(&self) -> u32 {
        self.root.as_raw().cast_unsigned()
    }

    /// Lends the root the terminal from now on, as a shell does: when the root is stopped because it wants the
    /// terminal, and we are in the terminal's foreground. Without this call the root is killed at that point, and its
    /// status is the signal that had stopped it.
    pub(crate) fn lend_terminal(&mut self) {
        self.lends = true;
    }

    /// Takes back the terminal, if it was lent. `killed` says that the borrower was killed, and could not restore it.
    fn take_terminal_back(&mut self, killed: bool) {
        if let Some(terminal) = self.lent.take() {
            terminal.take_back(killed);
        }
    }

    fn wants_terminal(&mut self, signal: Signal) {
        // The next look is for what comes after it.
        let _ = waitid(Id::Pid(self.root), WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG);
        if self.lends && self.lent.is_none() {
            self.lent = Terminal::held_by(getpgrp());
        }
        let group = getpgid(Some(self.root)).unwrap_or(self.root);
        if !self.lent.as_ref().is_some_and(|terminal| terminal.lend(group)) {
            self.refused = Some(signal);
            let _ = killpg(self.root, Signal::SIGKILL);
            let _ = kill(self.root, Signal::SIGKILL);
        }
    }

    /// The command line of a member that was stopped at two looks in a row (its id if that cannot be read), if the
    /// tree used no CPU time between them; `None` if there is none. It looks once a second, however often it is
    /// called.
    pub(crate) fn stuck(&mut self) -> Option<String> {
        if !Stood::is_due(self.stood.as_ref(), self.started) {
            return None;
        }
        let cpu = self.usage().cpu;
        Stood::look(&mut self.stood, cpu, self.members.running().map(|(pid, _)| pid))
    }

    /// The command lines of the members that run, without the root.
    pub fn left(&mut self) -> Vec<String> {
        self.named(|pid, _, root| pid != root)
    }

    /// The command lines of the members that run in another process group than the root's.
    pub(crate) fn left_outside(&mut self) -> Vec<String> {
        self.named(|_, group, root| group != root)
    }

    fn named(&mut self, wanted: impl Fn(i32, i32, i32) -> bool) -> Vec<String> {
        self.members.rescan();
        self.members.refresh();
        let root = self.root.as_raw();
        let names = self.members.running().filter(|&(pid, group)| wanted(pid, group, root));
        names.filter_map(|(pid, _)| proc_fs::command_line(pid)).collect()
    }

    /// The status of the root; `None` if it still runs. Does not wait. Descendants may still run: see [`Tree::stop`].
    /// An error if the root cannot be watched.
    pub fn exited(&mut self) -> Result<Option<ExitStatus>, Error> {
        if self.exit.is_none() {
            let flags =
                WaitPidFlag::WEXITED | WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            let status = waitid(Id::Pid(self.root), flags).map_err(|errno| self.unwatched(errno.into()))?;
            let raw = match status {
                WaitStatus::Exited(_, code) => Some((code & 0xff) << 8),
                WaitStatus::Signaled(_, signal, core) => {
                    Some(self.refused.unwrap_or(signal) as i32 | if core { 0x80 } else { 0 })
                }
                WaitStatus::Stopped(_, signal) if terminal::is_wanted(signal) => {
                    self.wants_terminal(signal);
                    None
                }
                _ => None,
            };
            if let Some(raw) = raw {
                self.take_terminal_back(ExitStatus::from_raw(raw).signal().is_some());
            }
            self.exit = raw.map(|raw| (ExitStatus::from_raw(raw), Instant::now()));
        }
        Ok(self.exit.map(|(status, _)| status))
    }

    /// Waits until the root has ended, for at most `limit`, or until `stop` is set (looked at 20 times a second).
    /// `None` if the root still runs then. An error if the root cannot be watched.
    pub fn wait(&mut self, limit: Duration, stop: &AtomicBool) -> Result<Option<ExitStatus>, Error> {
        let began = Instant::now();
        loop {
            let left = limit.saturating_sub(began.elapsed());
            self.wait_a_little(left, None)?;
            let exited = self.exited()?;
            if exited.is_some() || left.is_zero() || stop.load(Ordering::Relaxed) {
                return Ok(exited);
            }
        }
    }

    /// The usage of the whole tree until now. It is made to be called ten times a second during a measurement: each
    /// call looks for new members, so that the difference of two calls is what was used between them.
    pub fn usage(&mut self) -> Usage {
        self.members.usage()
    }

    /// `true` if the process with this id runs and is a member of the tree.
    pub fn has(&mut self, pid: u32) -> bool {
        self.members.rescan();
        self.members.running().any(|(member, _)| member.cast_unsigned() == pid)
    }

    /// The counters of the threads of the members that the last [`Tree::usage`] saw. It costs about 30 µs for each
    /// thread (`examples/process_costs`), and is made to be called at the beginning and the end of a measurement.
    pub fn waits(&self) -> Waits {
        Waits::read(self.members.running().map(|(pid, _)| pid))
    }

    /// Ends the tree, even a paused or frozen one. The root's process group gets SIGTERM (and all members SIGCONT).
    /// After `grace`, SIGKILL goes to what is left of the group, and to the descendants that have left the group. With
    /// a `grace` of 0, SIGKILL comes at once. Returns as soon as nothing runs, after `grace` and about two seconds at
    /// the latest.
    pub fn stop(mut self, grace: Duration) -> TreeEnd {
        self.end(grace)
    }

    fn end(&mut self, grace: Duration) -> TreeEnd {
        self.ended = true;
        let began = Instant::now();
        let mut left_behind = BTreeSet::new();
        if let Some(group) = &self.group {
            // A frozen process cannot act on a signal.
            let _ = group.thaw();
        }
        self.members.rescan();
        if self.has_exited() {
            left_behind.extend(self.members.running().map(|(pid, _)| pid));
        }
        if !grace.is_zero() && self.group_runs() {
            self.terminate(began, grace);
        }

        self.take_terminal_back(true);
        let killed = self.group_runs();
        if !killed && !grace.is_zero() && left_behind.is_empty() {
            // A helper in a group of its own, as Erlang's, ends when it sees that its parent has.
            let mut seen = LastWait::begin();
            while self.members.running().next().is_some() && seen.goes_on() {
                self.wait_for_change(LAST_WAIT);
                self.members.refresh();
            }
        }
        self.kill_what_runs(&mut left_behind);

        // Orphans become ours only when their parents have ended, which the look above may have seen too late.
        self.members.refresh();
        self.has_exited();
        let end = self.members.reap_root().ok().flatten();
        if let Some(end) = end.filter(|end| end.rusage.maxrss > self.inherited_rss) {
            self.members.saw_peak_rss(end.rusage.maxrss);
        }
        TreeEnd {
            status: end
                .map(|end| self.refused.map_or(end.status, |signal| ExitStatus::from_raw(signal as i32))),
            killed,
            took: began.elapsed(),
            left_behind: left_behind.len(),
            wall: self.exit.map_or_else(Instant::now, |(_, at)| at).duration_since(self.started),
            user: end.map_or(Duration::ZERO, |end| end.rusage.utime),
            system: end.map_or(Duration::ZERO, |end| end.rusage.stime),
            usage: self.members.figures(),
        }
    }

    /// Sends SIGTERM to the root's process group, and waits until the group has ended, at most until `grace` has
    /// passed since `began`.
    fn terminate(&mut self, began: Instant, grace: Duration) {
        let _ = killpg(self.root, Signal::SIGTERM);
        // A process that is stopped, by a pause or by itself, would not get to handle SIGTERM.
        self.signal_all(Signal::SIGCONT);
        while self.group_runs() && began.elapsed() < grace {
            self.wait_for_change(grace.saturating_sub(began.elapsed()));
            self.members.refresh();
        }
        self.members.rescan();
    }

    /// Sends SIGKILL to all members, until nothing runs or [`LastWait`] is over. If the root had ended before, the
    /// ids of those that still ran are added to `left_behind`.
    fn kill_what_runs(&mut self, left_behind: &mut BTreeSet<i32>) {
        let mut last = LastWait::begin();
        let root_ended = self.has_exited();
        while self.members.running().next().is_some() && last.goes_on() {
            if root_ended {
                left_behind.extend(self.members.running().map(|(pid, _)| pid));
            }
            let _ = killpg(self.root, Signal::SIGKILL);
            self.signal_all(Signal::SIGKILL);
            if let Some(group) = &self.group {
                group.release();
            }
            self.wait_for_change(LAST_WAIT);
            // A child that was started before its parent was killed is there to be found now.
            self.members.rescan();
        }
    }

    pub(crate) fn signal_all(&self, signal: Signal) {
        for (pid, _) in self.members.running() {
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }

    fn group_runs(&self) -> bool {
        self.members.running().any(|(_, group)| group == self.root.as_raw())
    }

    fn has_exited(&mut self) -> bool {
        matches!(self.exited(), Ok(Some(_)))
    }

    /// Waits until the root ends, at most for 50 ms; if it has ended, waits 2 ms for the others. Never longer than
    /// `most`.
    fn wait_for_change(&mut self, most: Duration) {
        if self.has_exited() {
            thread::sleep(most.min(Duration::from_millis(2)));
        } else {
            let _ = self.wait_a_little(most, None);
        }
    }

    /// Waits until the root ends or `also` can be read, at most for `most` and never longer than 50 ms. `true` if
    /// `also` can be read.
    pub(crate) fn wait_a_little(&self, most: Duration, also: Option<BorrowedFd>) -> Result<bool, Error> {
        let most = most.min(Duration::from_millis(50));
        let ready = match also {
            Some(also) => ready([self.pidfd.as_fd(), also], most).map(|ready| ready[1]),
            None => ready([self.pidfd.as_fd()], most).map(|_| false),
        };
        ready.map_err(|source| self.unwatched(source))
    }

    fn unwatched(&self, source: io::Error) -> Error {
        Error::Watch { pid: self.id(), source }
    }
}

/// Ends the tree, so that no process of it survives.
impl Drop for Tree {
    fn drop(&mut self) {
        if !self.ended {
            self.end(Duration::ZERO);
        }
    }
}

/// Makes orphaned descendants children of this process instead of init's, so that they can be reaped and their CPU
/// time is exact. It applies to the whole process, and is to be called once, before the first tree. An orphan that
/// left group and session, and ends before any look has seen it, cannot be told from others' and stays a zombie until
/// this process ends.
pub fn become_subreaper() -> io::Result<()> {
    Ok(nix::sys::prctl::set_child_subreaper(true)?)
}

/// For each descriptor, `true` if it can be read, or nobody is left to write to it. Waits for the first of them, at
/// most for `most`.
pub(crate) fn ready<const N: usize>(fds: [BorrowedFd; N], most: Duration) -> io::Result<[bool; N]> {
    let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    let most = Timespec::try_from(most).map_err(|_| io::ErrorKind::InvalidInput)?;
    match poll(&mut fds, Some(&most)) {
        Ok(_) => Ok(fds.map(|fd| !fd.revents().is_empty())),
        Err(rustix::io::Errno::INTR) => Ok([false; N]),
        Err(errno) => Err(errno.into()),
    }
}
