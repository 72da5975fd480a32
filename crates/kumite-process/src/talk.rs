//! A conversation with a process, in lines of text over pipes.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use crate::{Error, Spawn, Tree};

const CHUNK: usize = 64 << 10;
const LOOK: Duration = Duration::from_millis(50);

/// The standard input and output of a tree's root, line by line. While something is written, what the process says is
/// read too, so that two processes that both write do not wait for each other.
#[derive(Debug)]
pub struct Talk {
    to: Option<PipeWriter>,
    from: PipeReader,
    /// The buffer that is read into: kept, because to make it anew would take longer than to read a line.
    chunk: Box<[u8]>,
    /// Bytes that were read and not yet returned as a line.
    read: Vec<u8>,
    /// The number of bytes at the beginning of `read` that are known to have no line's end.
    searched: usize,
    /// The moment at which the newest bytes of `read` came.
    came: Instant,
    most: usize,
    ended: bool,
}

/// The next line of a process, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// A line, without its end, and the moment at which its last byte was read; or that of the newest bytes, if more
    /// were read since, as during [`Talk::say`].
    Line(Vec<u8>, Instant),
    /// No whole line came within the time that was given, and none has become too long.
    Nothing,
    /// A line has reached the most bytes that it may have, and has no end yet. Nothing more is read, so this stays
    /// so.
    TooLong,
    /// The output is closed by all that had it open. These are the bytes after the last line's end; a later call has
    /// none.
    Ended(Vec<u8>),
}

impl Tree {
    /// Starts a command as [`Tree::start`] does, but with pipes at its standard input and output; standard error goes
    /// to the log. A line of which `most` bytes have come without its end is [`Heard::TooLong`].
    pub fn start_talking(spawn: &Spawn, most: usize) -> Result<(Tree, Talk), Error> {
        let failed = |source| Error::Start { command: spawn.command.to_owned(), source };
        let log = |source| Error::Log { path: spawn.log.to_owned(), source };
        let err = std::fs::File::create(spawn.log).map_err(log)?;
        let (stdin, to) = io::pipe().map_err(failed)?;
        let (from, stdout) = io::pipe().map_err(failed)?;
        for ours in [to.as_fd(), from.as_fd()] {
            ioctl_fionbio(ours, true).map_err(|errno| failed(errno.into()))?;
        }
        let tree = Tree::start_with(spawn, Stdio::from(stdin), Stdio::from(stdout), err.into())?;
        let came = Instant::now();
        let chunk = vec![0; CHUNK].into_boxed_slice();
        let talk =
            Talk { to: Some(to), from, chunk, read: Vec::new(), searched: 0, came, most, ended: false };
        Ok((tree, talk))
    }
}

impl Talk {
    /// Writes all bytes into the pipe to the process. `true` once the pipe has them all, even if the process has not
    /// read them yet. `false` if `limit` passed before, or `stop` was set (looked at 20 times a second); a part of the
    /// bytes may be in the pipe then. An error if the process's input is closed, by the process or by [`Talk::close`],
    /// or if its output cannot be read.
    pub fn say(&mut self, bytes: &[u8], limit: Duration, stop: &AtomicBool) -> io::Result<bool> {
        let until = Instant::now() + limit;
        let mut left = bytes;
        while !left.is_empty() {
            let wants_more = !self.ended && self.read.len() < self.most;
            let Some(to) = &mut self.to else { return Err(io::ErrorKind::BrokenPipe.into()) };
            match to.write(left) {
                Ok(written) => {
                    left = &left[written..];
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            let Some(wait) = until.checked_duration_since(Instant::now()) else { return Ok(false) };
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let readable = wait_for(to.as_fd(), wants_more.then(|| self.from.as_fd()), wait.min(LOOK))?;
            if readable {
                self.take_in()?;
            }
        }
        Ok(true)
    }

    /// Waits for the next line, at most for `limit`. Returns [`Heard::Nothing`] if none has come by then. An error only
    /// if the output cannot be read, or `limit` is longer than the system can wait.
    pub fn hear(&mut self, limit: Duration) -> io::Result<Heard> {
        let until = Instant::now() + limit;
        loop {
            let new = &self.read[self.searched..];
            if let Some(end) = new.iter().position(|byte| *byte == b'\n') {
                let rest = self.read.split_off(self.searched + end + 1);
                let mut line = std::mem::replace(&mut self.read, rest);
                line.pop();
                self.searched = 0;
                return Ok(Heard::Line(line, self.came));
            }
            self.searched = self.read.len();
            if self.read.len() >= self.most {
                return Ok(Heard::TooLong);
            }
            if self.ended {
                self.searched = 0;
                return Ok(Heard::Ended(std::mem::take(&mut self.read)));
            }
            let wait = until.saturating_duration_since(Instant::now());
            let mut fds = [PollFd::from_borrowed_fd(self.from.as_fd(), PollFlags::IN)];
            if poll_for(&mut fds, wait)? == 0 {
                if wait.is_zero() {
                    return Ok(Heard::Nothing);
                }
                continue;
            }
            self.take_in()?;
        }
    }

    /// Closes the process's input, which tells it that nothing more comes.
    pub fn close(&mut self) {
        self.to = None;
    }

    fn take_in(&mut self) -> io::Result<()> {
        let read = self.from.read(&mut self.chunk);
        self.came = Instant::now();
        match read {
            Ok(0) => self.ended = true,
            Ok(read) => self.read.extend_from_slice(&self.chunk[..read]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Waits until `to` takes more or `from` has more, at most for `wait`. `true` if `from` has more.
fn wait_for(to: BorrowedFd, from: Option<BorrowedFd>, wait: Duration) -> io::Result<bool> {
    let to = PollFd::from_borrowed_fd(to, PollFlags::OUT);
    match from {
        None => poll_for(&mut [to], wait).map(|_| false),
        Some(from) => {
            let mut fds = [to, PollFd::from_borrowed_fd(from, PollFlags::IN)];
            poll_for(&mut fds, wait)?;
            Ok(!fds[1].revents().is_empty())
        }
    }
}

/// Waits until one of the descriptors is ready, at most for `wait`. Returns the number that are ready: 0 if none is,
/// or a signal came.
fn poll_for(fds: &mut [PollFd], wait: Duration) -> io::Result<usize> {
    let wait = Timespec::try_from(wait).map_err(|_| io::ErrorKind::InvalidInput)?;
    match poll(fds, Some(&wait)) {
        Ok(ready) => Ok(ready),
        Err(rustix::io::Errno::INTR) => Ok(0),
        Err(errno) => Err(errno.into()),
    }
}
