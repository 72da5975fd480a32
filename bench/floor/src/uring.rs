//! The crate's only unsafe code: a ring shares memory with the kernel.

use std::alloc::{Layout, alloc_zeroed};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{BufRingEntry, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, SubmissionQueue, Submitter, cqueue, opcode};
use rustix::io::Errno;

use crate::counted::REQUEST;

const SUBMISSIONS: u32 = 4096;
const COMPLETIONS: u32 = 32_768;
const BUFFER_BYTES: u32 = 128;
/// Few, so that they stay in the CPU's cache.
const MOST_BUFFERS: usize = 4096;
const GROUP: u16 = 0;
/// Marks the completion of a send, which there is only if it failed.
const SEND: u64 = 1 << 32;
const PAGE: usize = 4096;

/// Sends on each connection whenever its answer is complete; the number of answers.
pub fn run(sockets: &[TcpStream], answer_bytes: usize, length: Duration, drain: Duration) -> Result<u64> {
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_cqsize(COMPLETIONS)
        .build(SUBMISSIONS)
        .context("cannot make an io_uring (it needs Linux 6.1, and kernel.io_uring_disabled = 0)")?;
    let files: Vec<RawFd> = sockets.iter().map(AsRawFd::as_raw_fd).collect();
    ring.submitter().register_files(&files).context("cannot register the sockets")?;
    let mut buffers = Buffers::register(
        &ring.submitter(),
        sockets.len().next_power_of_two().clamp(64, MOST_BUFFERS) as u16,
    )?;
    let mut missing = vec![0; sockets.len()];
    let (mut in_flight, mut answers) = (0, 0);
    let (submitter, mut submissions, mut completions) = ring.split();

    let began = Instant::now();
    for (index, missing) in missing.iter_mut().enumerate() {
        push(&submitter, &mut submissions, &receive(index))?;
        push(&submitter, &mut submissions, &send(index))?;
        *missing = answer_bytes;
        in_flight += 1;
    }
    let mut starved = Vec::new();
    loop {
        let now = began.elapsed();
        if in_flight == 0 || now > length + drain {
            return Ok(answers);
        }
        let left = Timespec::from(length + drain - now);
        submissions.sync();
        match submitter.submit_with_args(1, &SubmitArgs::new().timespec(&left)) {
            Ok(_) => {}
            Err(error) if [Errno::TIME, Errno::INTR].iter().any(|errno| is(&error, *errno)) => {}
            Err(error) => return Err(error).context("cannot submit"),
        }
        completions.sync();
        for completion in &mut completions {
            let result = completion.result();
            if completion.user_data() & SEND != 0 {
                bail!("a send failed: {}", std::io::Error::from_raw_os_error(-result));
            }
            let index = completion.user_data() as usize;
            if !cqueue::more(completion.flags()) {
                starved.push(index);
            }
            let Some(buffer) = cqueue::buffer_select(completion.flags()) else {
                if result == -Errno::NOBUFS.raw_os_error() {
                    continue;
                }
                bail!("a receive ended with {result}");
            };
            buffers.give(buffer);
            missing[index] = usize::checked_sub(missing[index], usize::try_from(result)?)
                .context("an answer is too long")?;
            if missing[index] > 0 {
                continue;
            }
            in_flight -= 1;
            answers += 1;
            if now < length {
                push(&submitter, &mut submissions, &send(index))?;
                missing[index] = answer_bytes;
                in_flight += 1;
            }
        }
        buffers.publish();
        for index in starved.drain(..) {
            push(&submitter, &mut submissions, &receive(index))?;
        }
    }
}

fn is(error: &std::io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

fn receive(index: usize) -> Entry {
    opcode::RecvMulti::new(Fixed(index as u32), GROUP).build().user_data(index as u64)
}

fn send(index: usize) -> Entry {
    opcode::Send::new(Fixed(index as u32), REQUEST.as_ptr(), REQUEST.len() as u32)
        .build()
        .flags(Flags::SKIP_SUCCESS)
        .user_data(SEND | index as u64)
}

fn push(submitter: &Submitter, submissions: &mut SubmissionQueue, entry: &Entry) -> Result<()> {
    if submissions.is_full() {
        submissions.sync();
        submitter.submit().context("cannot submit")?;
        submissions.sync();
    }
    // SAFETY: a send reads REQUEST, which is static; a receive writes to registered buffers, which are never freed.
    unsafe { submissions.push(entry) }.context("the submission queue is full")
}

/// A ring of buffers from which the kernel takes one for each piece that it receives. Lives to the end of the process:
/// the kernel may write to it for as long as the ring is open.
struct Buffers {
    ring: *mut BufRingEntry,
    buffers: *mut u8,
    count: u16,
    tail: u16,
}

impl Buffers {
    /// `count` is a power of two.
    fn register(submitter: &Submitter, count: u16) -> Result<Buffers> {
        let ring_bytes = usize::from(count) * size_of::<BufRingEntry>();
        let layout = Layout::from_size_align(ring_bytes + usize::from(count) * BUFFER_BYTES as usize, PAGE)?;
        // SAFETY: the layout is not empty, and all zeros are a valid entry.
        let ring = unsafe { alloc_zeroed(layout) };
        if ring.is_null() {
            bail!("no memory for {count} buffers");
        }
        // SAFETY: within what was allocated.
        let buffers = unsafe { ring.add(ring_bytes) };
        // SAFETY: the ring has so many entries, begins with a page and is never freed.
        unsafe { submitter.register_buf_ring_with_flags(ring as u64, count, GROUP, 0) }
            .context("cannot register buffers")?;
        let mut all = Buffers { ring: ring.cast(), buffers, count, tail: 0 };
        (0..count).for_each(|buffer| all.give(buffer));
        all.publish();
        Ok(all)
    }

    /// Puts a buffer back, which the kernel sees at the next [`Buffers::publish`].
    fn give(&mut self, buffer: u16) {
        let at = usize::from(self.tail & (self.count - 1));
        // SAFETY: `at` is below `count`; the kernel reads this entry only after the tail has been published.
        let entry = unsafe { &mut *self.ring.add(at) };
        // SAFETY: the kernel names only buffers that it was given, so it is below `count`.
        let address = unsafe { self.buffers.add(usize::from(buffer) * BUFFER_BYTES as usize) };
        entry.set_addr(address as u64);
        entry.set_len(BUFFER_BYTES);
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&self) {
        // SAFETY: the tail lies in the first entry, is aligned, and is written by nobody else; the kernel reads it.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.ring).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}
