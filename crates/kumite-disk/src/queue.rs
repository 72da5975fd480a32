//! The reads that wait, and the thread that answers them in time.
//!
//! No read is answered before it is due, and each is answered once: when it is due, or by an error when the disk is
//! stopped. The bytes are fetched while the delay passes, so that a disk below that is faster than the delay adds
//! nothing.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::{Errno, FileHandle, ReplyData};

use crate::Report;
use crate::head::{Head, Position, Wait};
use crate::priority::take_real_time;

#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug)]
struct QueueState {
    head: Head,
    open: HashMap<FileHandle, Open>,
    opened: u64,
    /// The reads that wait, by when they are due, then by when they came. The kernel limits their number: a reader
    /// that waits asks for nothing more.
    waiting: BTreeMap<(Instant, u64), Read>,
    stopped: bool,
    report: Report,
}

#[derive(Debug)]
struct Open {
    file: Arc<File>,
    size: u64,
    position: Position,
}

/// A read of bytes that the file has.
#[derive(Debug)]
struct Read {
    file: Arc<File>,
    offset: u64,
    bytes: u64,
    reply: ReplyData,
}

impl Queue {
    pub fn new(delay: Duration) -> Queue {
        let state = QueueState {
            head: Head::new(delay),
            open: HashMap::new(),
            opened: 0,
            waiting: BTreeMap::new(),
            stopped: false,
            report: Report::new(),
        };
        Queue { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub fn open(&self, file: File, size: u64) -> FileHandle {
        let mut state = self.lock();
        state.report.opens += 1;
        state.opened += 1;
        let handle = FileHandle(state.opened);
        state.open.insert(handle, Open { file: Arc::new(file), size, position: Position::default() });
        handle
    }

    pub fn close(&self, handle: FileHandle) {
        self.lock().open.remove(&handle);
    }

    /// Answers a read at once if it is due, or else leaves it to [`answer_in_time`](Queue::answer_in_time).
    pub fn read(&self, handle: FileHandle, offset: u64, most: u32, reply: ReplyData) {
        let now = Instant::now();
        let mut state = self.lock();
        let QueueState { head, open, report, waiting, .. } = &mut *state;
        let Some(open) = open.get_mut(&handle) else {
            return reply.error(Errno::EBADF);
        };
        let bytes = open.size.saturating_sub(offset).min(u64::from(most));
        report.reads += 1;
        report.bytes += bytes;
        let read = Read { file: Arc::clone(&open.file), offset, bytes, reply };
        let due = match open.position.read(head, now, offset, bytes) {
            Wait::AtEnd => now,
            Wait::GoesOn(due) => due,
            Wait::Seek(due) => {
                report.seeks += 1;
                due
            }
        };
        if due > now {
            waiting.insert((due, report.reads), read);
            self.changed.notify_one();
        } else {
            drop(state);
            read.answer();
        }
    }

    /// Answers reads that wait, each when it is due, until the queue is stopped.
    pub fn answer_in_time(&self) {
        // Else the kernel may wake us 50 µs late, to save wake-ups. If it refuses, the report shows it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let real_time = take_real_time();
        let mut state = self.lock();
        state.report.real_time = real_time;
        while !state.stopped {
            let Some(((due, _), read)) = state.waiting.pop_first() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            // The head moves while the bytes are fetched. What comes meanwhile is due later, or goes on from this read.
            drop(state);
            let bytes = read.fetch();
            state = self.wait_until(due);
            if state.stopped {
                return;
            }
            drop(state);
            read.reply_with(bytes);
            let late = due.elapsed().as_nanos() as u64;
            state = self.lock();
            state.report.lateness.saturating_record(late);
        }
    }

    fn wait_until(&self, due: Instant) -> MutexGuard<'_, QueueState> {
        let mut state = self.lock();
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() || state.stopped {
                return state;
            }
            // Until an absolute time, as the standard library asks the kernel for it.
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Stops the queue, and answers all reads that still wait by an error.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.waiting.clear();
        self.changed.notify_all();
    }

    pub fn report(&self) -> Report {
        self.lock().report.clone()
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // Nothing in here panics half way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read {
    fn answer(self) {
        let bytes = self.fetch();
        self.reply_with(bytes);
    }

    fn fetch(&self) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; self.bytes as usize];
        self.file.read_exact_at(&mut bytes, self.offset).map_err(|_| Errno::EIO)?;
        Ok(bytes)
    }

    fn reply_with(self, bytes: Result<Vec<u8>, Errno>) {
        match bytes {
            Ok(bytes) => self.reply.data(&bytes),
            Err(error) => self.reply.error(error),
        }
    }
}
