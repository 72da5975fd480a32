//! Runs a command that is not timed, such as a build or a version, to its end.
//!
//! However a run ends, its tree is ended with it, but for [`run_leaving`], which returns the tree. The caller limits
//! the time, and [`STDOUT_LIMIT`] the output that is kept; the log has all output.

use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::ending::is_interrupt;
use crate::tree::ready;
use crate::{Error, Spawn, Tree, TreeEnd};

/// The most of the standard output that [`run`] keeps, in bytes. The log has all of it.
pub const STDOUT_LIMIT: usize = 1 << 20;

const BUFFER: usize = 1 << 16;
/// The most bytes that a pipe can hold without privileges.
const PIPE_LIMIT: usize = 1 << 20;
const GRACE: Duration = Duration::from_secs(1);

/// The result of a command that has run to its end.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The status of the command itself.
    pub status: ExitStatus,
    /// The first [`STDOUT_LIMIT`] bytes of the command's standard output.
    pub stdout: Vec<u8>,
    /// The usage of the command's tree, and the number of descendants that the command left behind; they have been
    /// ended.
    pub ended: TreeEnd,
}

/// Runs a command, such as a build, to its end. The log gets standard output and standard error as they come. If the
/// command takes longer than `limit`, `stop` is set (looked at 20 times a second), or a process of the command is
/// stopped by a signal and nobody lets it go on, the tree is ended, and an error is returned.
pub fn run(spawn: &Spawn, limit: Duration, stop: &AtomicBool) -> Result<Finished, Error> {
    let unlogged = |source| Error::Log { path: spawn.log.to_owned(), source };
    // One open file for its stderr and for us, and so one position in it.
    let mut log = File::create(spawn.log).map_err(unlogged)?;
    let stderr = log.try_clone().map_err(unlogged)?;
    let (pipe, stdout) = std::io::pipe().map_err(unlogged)?;
    let mut tree = Tree::start_with(spawn, Stdio::null(), stdout.into(), stderr.into())?;

    let mut kept = Vec::new();
    let mut buffer = vec![0; BUFFER];
    let mut take = |pipe: &mut PipeReader| {
        let count = pipe.read(&mut buffer)?;
        log.write_all(&buffer[..count])?;
        kept.extend_from_slice(&buffer[..count.min(STDOUT_LIMIT - kept.len())]);
        Ok(count)
    };
    let began = Instant::now();
    let mut open = Some(pipe);
    let mut left = limit;
    let mut stopped;
    let status = loop {
        let status = tree.exited()?;
        stopped = tree.stuck();
        left = left.min(limit.saturating_sub(began.elapsed()));
        if status.is_some() || stopped.is_some() || left.is_zero() || stop.load(Ordering::Relaxed) {
            break status;
        }
        if tree.wait_a_little(left, open.as_ref().map(|pipe| pipe.as_fd()))?
            && let Some(pipe) = &mut open
            && take(pipe).map_err(unlogged)? == 0
        {
            open = None;
        }
    };
    let ended = tree.stop(if status.is_some() { Duration::ZERO } else { GRACE });
    // The pipe may still hold something. Nobody is left to write more; a process that has escaped is not followed.
    if let Some(pipe) = &mut open {
        for _ in 0..PIPE_LIMIT / BUFFER {
            let ready = ready([pipe.as_fd()], Duration::ZERO).map_err(unlogged)?;
            if ready == [false] || take(pipe).map_err(unlogged)? == 0 {
                break;
            }
        }
    }
    let (command, log) = (spawn.command.to_owned(), spawn.log.to_owned());
    match status {
        Some(status) => Ok(Finished { status, stdout: kept, ended }),
        None if let Some(process) = stopped => Err(Error::Stopped { program: command.into(), process }),
        None if stop.load(Ordering::Relaxed) => Err(Error::Interrupted { command, log }),
        None => Err(Error::TimedOut { command, limit, log }),
    }
}

/// Runs a command to its end as [`run`] does, but as a shell would: processes that the command leaves behind live as
/// long as the returned tree, and the command may have the terminal. All output goes to the log, and none is returned.
/// The errors are those of [`run`], but once the command has had the terminal, a stopped process is no error, and
/// Ctrl-C there is [`Error::Interrupted`].
pub fn run_leaving(spawn: &Spawn, limit: Duration, stop: &AtomicBool) -> Result<(ExitStatus, Tree), Error> {
    let mut tree = Tree::start(spawn)?;
    tree.lend_terminal();
    let (command, log) = (spawn.command.to_owned(), spawn.log.to_owned());
    let began = Instant::now();
    let mut had_terminal = false;
    loop {
        let left = limit.saturating_sub(began.elapsed());
        tree.wait_a_little(left, None)?;
        had_terminal |= tree.lent.is_some();
        let status = tree.exited()?;
        had_terminal |= tree.lent.is_some();
        // A person at the terminal may well stop something there.
        let stopped = if had_terminal { None } else { tree.stuck() };
        match status {
            // Ctrl-C went to the command, and not to us.
            Some(status) if had_terminal && is_interrupt(status) => {
                return Err(Error::Interrupted { command, log });
            }
            Some(status) => return Ok((status, tree)),
            None => {}
        }
        if let Some(process) = stopped {
            return Err(Error::Stopped { program: command.into(), process });
        }
        if left.is_zero() || stop.load(Ordering::Relaxed) {
            tree.stop(GRACE);
            return Err(match stop.load(Ordering::Relaxed) {
                true => Error::Interrupted { command, log },
                false => Error::TimedOut { command, limit, log },
            });
        }
    }
}
