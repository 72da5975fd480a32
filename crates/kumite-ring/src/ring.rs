//! The ring: operations go in, events come out.
//!
//! Three ideas carry it:
//!
//! - **A slot outlives its connections.** A completion may come when its connection has been closed and the slot has
//!   another. So each connection of a slot has a number, its *generation*, which its operations carry in their
//!   [`Tag`]. Completions of an older generation give back what they hold and are not told.
//! - **Most sends are quiet.** A small request fits into the empty buffer of a socket, so its success need not
//!   be told: a quiet send asks for no completion if it succeeds (`SKIP_SUCCESS`), and not to wait if it does not fit
//!   (`MSG_DONTWAIT`). So it is over when the system call that submits it returns, and only a failure is told. Its
//!   bytes are kept until every completion was seen that could be that failure (`settle_quiet`).
//! - **The other sends go one at a time.** Of a connection's sends that are not quiet one is with the kernel, which
//!   may take it in parts, and the others wait in a list. So no bytes overtake others. A send is quiet only while
//!   that list is empty.
//!
//! When the kernel refuses to go on, `failed` says why, and every later call returns it.

mod completion;
mod submission;
mod teardown;

use std::mem::ManuallyDrop;
use std::os::fd::{OwnedFd, RawFd};
use std::time::Duration;

use io_uring::types::{Fixed, Timespec};
use io_uring::{EnterFlags, IoUring, opcode, squeue};
use rustix::io::Errno;
use rustix::net::SocketAddrAny;

use crate::buffers::Buffers;
use crate::error::{RingError, errno};
use crate::sends::{Bytes, NONE, Send, Sends};
use crate::tag::Tag;

/// When so many operations are queued, a system call submits them, wait or not.
const QUEUE: u32 = 1024;
/// When so many connects are queued, they are submitted.
const CONNECTS: usize = 256;
/// The kernel's own limit of completions that it keeps for us.
const MAX_COMPLETIONS: usize = 65_536;
/// A send that is at most this large is quiet, and so are those after it until as many bytes were sent, or an answer
/// comes: they fit in any socket's buffer, so there is nothing to tell.
pub const QUIET_BYTES: usize = 4096;

const BUFFER_GROUP: u16 = 0;

/// Written to a slot, it unregisters the slot's socket.
static NO_SOCKET: RawFd = -1;

/// All connections of a thread. Each has a slot, a number below that of connections; another number panics.
///
/// A ring is used by the thread that made it:
///
/// ```compile_fail
/// fn elsewhere(ring: kumite_ring::Ring) {
///     std::thread::spawn(move || drop(ring));
/// }
/// ```
pub struct Ring {
    uring: IoUring,
    buffers: ManuallyDrop<Buffers>,
    shared: ManuallyDrop<Vec<Box<[u8]>>>,
    sends: ManuallyDrop<Sends>,
    /// Connects that are queued, and not submitted. Its capacity is fixed: the kernel will look into it.
    connects: ManuallyDrop<Vec<Connect>>,
    slots: Vec<Slot>,
    /// Quiet sends that may yet fail; the first `submitted` of them are with the kernel.
    quiet: Vec<u32>,
    submitted: usize,
    /// The buffer that the last event showed.
    lent: Option<u16>,
    /// Why the ring has failed; `None` while it works.
    failed: Option<Errno>,
}

/// Something that happened on a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The end of [`Ring::connect`], once for each. After an error there is no other event.
    Connected(Result<(), Errno>),
    /// Bytes from the peer, in order; never none, and at most 32 KiB.
    Received(&'a [u8]),
    /// The peer has closed its side and will send no more.
    Ended,
    /// Receiving or sending has failed; there is no other event after it.
    Broken(Errno),
    /// The kernel has taken the last byte of the oldest send that was not quiet.
    Sent,
}

struct Connect {
    socket: OwnedFd,
    address: SocketAddrAny,
}

struct Slot {
    /// Counts the connections of the slot, so that completions of an older one are known.
    generation: u64,
    state: SlotState,
    /// There is a receive operation.
    receiving: bool,
    /// The sends that are not quiet: the first is with the kernel, the others wait for their turn.
    first: u32,
    last: u32,
    /// The last send, of either kind.
    latest: u32,
    /// Bytes of the sends that are not quiet.
    unsent: usize,
    /// Why nothing can be sent any more. What has come is still received, and then this is told.
    failed: Option<Errno>,
    /// Bytes sent quietly since something was received.
    quiet_bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotState {
    Closed,
    Connecting,
    Open,
    /// To be closed: there is nothing more to tell.
    Broken,
}

impl Ring {
    /// A ring for so many connections; `shared` is what [`send_shared`](Self::send_shared) can send.
    ///
    /// # Errors
    ///
    /// The kernel has no io_uring, or an old one, or forbids it; the process may not have so many files; no memory.
    pub fn new(connections: usize, shared: Vec<Box<[u8]>>) -> Result<Ring, RingError> {
        let completions =
            connections.saturating_mul(2).clamp(4 * QUEUE as usize, MAX_COMPLETIONS).next_power_of_two();
        let uring = IoUring::builder()
            .dontfork()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_coop_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(completions as u32)
            .build(QUEUE)
            .map_err(|error| RingError::from_step("set up a ring", &error))?;
        let files = u32::try_from(connections).unwrap_or(u32::MAX).max(1);
        uring.submitter().register_files_sparse(files).map_err(|error| match errno(&error) {
            Errno::MFILE => RingError::Files { connections },
            _ => RingError::from_step("register sockets", &error),
        })?;
        let buffers = Buffers::new()
            .map_err(|source| RingError::Refused { step: "get memory to receive into", source })?;
        let (address, count) = buffers.ring();
        // SAFETY: the entries are `count` whole ones in a mapping that outlives the ring: when the ring is dropped it is
        // unmapped after the kernel is done, or never.
        unsafe { uring.submitter().register_buf_ring_with_flags(address, count, BUFFER_GROUP, 0) }
            .map_err(|error| RingError::from_step("register buffers", &error))?;
        Ok(Ring {
            uring,
            buffers: ManuallyDrop::new(buffers),
            shared: ManuallyDrop::new(shared),
            sends: ManuallyDrop::new(Sends::new(connections)),
            connects: ManuallyDrop::new(Vec::with_capacity(CONNECTS)),
            slots: std::iter::repeat_with(Slot::new).take(connections).collect(),
            quiet: Vec::new(),
            submitted: 0,
            lent: None,
            failed: None,
        })
    }

    /// Begins to connect a stream socket, TCP or Unix, that nothing was done with yet but setting options. What was in the
    /// slot is closed. [`Event::Connected`] tells the end.
    ///
    /// # Errors
    ///
    /// The ring has failed, as [`wait`](Self::wait) says.
    pub fn connect(&mut self, slot: usize, socket: OwnedFd, address: &SocketAddrAny) -> Result<(), Errno> {
        self.close(slot);
        // Neither of the two operations below may submit the other things: that would clear `connects`.
        let queue = self.uring.submission();
        let room = queue.capacity() - queue.len();
        drop(queue);
        if self.connects.len() == CONNECTS || room < 2 {
            self.submit()?;
        }
        self.connects.push(Connect { socket, address: address.clone() });
        let connect = &self.connects[self.connects.len() - 1];
        // An `OwnedFd` has the representation of a descriptor.
        let number: *const RawFd = (&raw const connect.socket).cast();
        let register = opcode::FilesUpdate::new(number, 1)
            .offset(slot as i32)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(Tag::Ignored.pack());
        let generation = self.slots[slot].generation;
        let address = &connect.address;
        let connect = opcode::Connect::new(Fixed(slot as u32), address.as_ptr().cast(), address.addr_len())
            .build()
            .user_data(Tag::Connect { slot, generation }.pack());
        self.slots[slot].state = SlotState::Connecting;
        // SAFETY: both read from the element of `connects` that was just added. It is removed after they are submitted;
        // the kernel registers the socket, and copies the address, while it takes them in.
        unsafe {
            self.push(&register);
            self.push(&connect);
        }
        self.failed.map_or(Ok(()), Err)
    }

    /// Sends one of the shared byte strings. Quiet if it is small, as [`QUIET_BYTES`] says; after the bytes of earlier sends.
    /// Nothing happens if the slot is closed or broken.
    pub fn send_shared(&mut self, slot: usize, which: usize) {
        self.send(slot, Bytes::Shared(which));
    }

    /// Sends bytes as [`send_shared`](Self::send_shared) does. The vector can be had again through [`spare`](Self::spare).
    pub fn send_own(&mut self, slot: usize, bytes: Vec<u8>) {
        self.send(slot, Bytes::Own(bytes));
    }

    /// An empty vector, if possible one that was sent before and so needs no new memory.
    pub fn spare(&mut self) -> Vec<u8> {
        self.sends.spare()
    }

    /// A send waits for the kernel to take it, or cannot be taken. A quiet one does so only if it turned out not to
    /// fit in the socket's buffer.
    pub fn is_sending(&self, slot: usize) -> bool {
        self.slots[slot].first != NONE || self.slots[slot].failed.is_some()
    }

    /// Bytes that wait for the kernel to take them; those that it has taken of an unfinished send are among them.
    pub fn unsent(&self, slot: usize) -> usize {
        self.slots[slot].unsent
    }

    /// Closes the connection, if there is one. There is no event of it after this; the kernel closes the socket at the
    /// next [`submit`](Self::submit) or [`wait`](Self::wait).
    pub fn close(&mut self, slot: usize) {
        let generation = self.slots[slot].generation;
        if self.slots[slot].state == SlotState::Closed {
            return;
        }
        if self.slots[slot].state == SlotState::Connecting {
            self.cancel(Tag::Connect { slot, generation });
        }
        if self.slots[slot].receiving {
            self.cancel(Tag::Receive { slot, generation });
        }
        self.cancel_sends(slot);
        let unregister = opcode::FilesUpdate::new(&raw const NO_SOCKET, 1)
            .offset(slot as i32)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(Tag::Ignored.pack());
        // SAFETY: reads from a static.
        unsafe { self.push(&unregister) };
        self.slots[slot] = Slot { generation: generation + 1, ..Slot::new() };
    }

    /// Submits what is queued.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub fn submit(&mut self) -> Result<(), Errno> {
        self.enter(0, EnterFlags::empty(), None)
    }

    /// Submits what is queued, and waits until [`next`](Self::next) has something, a signal arrives, or the time is over.
    /// With no time it only looks.
    ///
    /// # Errors
    ///
    /// The kernel refuses to go on, for lack of memory above all. The ring is of no use any more.
    pub fn wait(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        self.give_back();
        if timeout_ns == 0 {
            let queue = self.uring.submission();
            if queue.is_empty() && !queue.taskrun() && !queue.cq_overflow() {
                drop(queue);
                return self.failed.map_or(Ok(()), Err);
            }
            drop(queue);
            return self.enter(0, EnterFlags::GETEVENTS, None);
        }
        let timeout = Timespec::from(Duration::from_nanos(timeout_ns));
        self.enter(1, EnterFlags::GETEVENTS, Some(&timeout))
    }

    /// There is nothing that [`next`](Self::next) could give.
    pub fn is_idle(&mut self) -> bool {
        self.uring.completion().is_empty()
    }

    fn send(&mut self, slot: usize, bytes: Bytes) {
        let len = match &bytes {
            Bytes::Shared(which) => self.shared[*which].len(),
            Bytes::Own(bytes) => bytes.len(),
        };
        let Slot { generation, state, first, last, quiet_bytes, failed, .. } = self.slots[slot];
        if len == 0 || failed.is_some() || matches!(state, SlotState::Closed | SlotState::Broken) {
            if let Bytes::Own(bytes) = bytes {
                self.sends.recycle(bytes);
            }
            return;
        }
        let quiet = state == SlotState::Open && first == NONE && quiet_bytes + len <= QUIET_BYTES;
        let send = Send { bytes, written: 0, slot, generation, quiet, told: !quiet, next: NONE };
        let index = self.sends.add(send);
        let state = &mut self.slots[slot];
        state.latest = index;
        if quiet {
            state.quiet_bytes += len;
            self.push_send(index);
            // Not before it is pushed: an index that is in the list counts as submitted when the queue is, which may
            // happen while pushing.
            self.quiet.push(index);
            return;
        }
        state.last = index;
        state.unsent += len;
        if first == NONE {
            state.first = index;
            self.push_send(index);
        } else {
            self.sends.get(last).next = index;
        }
    }

    /// Cancels the send that is with the kernel, which frees its place when it completes, and forgets the others.
    fn cancel_sends(&mut self, slot: usize) {
        let index = std::mem::replace(&mut self.slots[slot].first, NONE);
        self.slots[slot].unsent = 0;
        if index != NONE {
            let rest = std::mem::replace(&mut self.sends.get(index).next, NONE);
            self.forget(rest);
            self.cancel(Tag::Send { index });
        }
    }

    fn forget(&mut self, mut index: u32) {
        while index != NONE {
            index = self.sends.free(index);
        }
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("connections", &self.slots.len()).finish_non_exhaustive()
    }
}

impl Slot {
    fn new() -> Slot {
        Slot {
            generation: 0,
            state: SlotState::Closed,
            receiving: false,
            first: NONE,
            last: NONE,
            latest: NONE,
            unsent: 0,
            failed: None,
            quiet_bytes: 0,
        }
    }
}
