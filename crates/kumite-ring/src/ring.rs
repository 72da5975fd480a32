//! The ring: operations go in, events come out.
//!
//! Three ideas carry it:
//!
//! - **A slot outlives its connections.** A completion may come when its connection has been closed and the slot has
//!   another. So each connection of a slot has a number, its *generation*, which its operations carry in their
//!   [`Tag`] or, if they are sends, in their [`Send`]. Completions of an older generation give back what they hold
//!   and are not told.
//! - **Most sends are quiet.** A small request fits into the empty buffer of a socket, so its success need not
//!   be told: a quiet send asks for no completion if it succeeds (`SKIP_SUCCESS`), and not to wait if it does not fit
//!   (`MSG_DONTWAIT`). So it is over when the system call that submits it returns, and only a failure is told. Its
//!   bytes are kept until every completion was seen that could be that failure (`settle_quiet`).
//! - **The other sends go one at a time.** Of a connection's sends that are not quiet one is with the kernel, which
//!   may take it in parts, and the others wait in a list. So no bytes overtake others. A send is quiet only while
//!   that list is empty.
//!
//! When the kernel refuses to go on, `failed` says why, and every later connect, submit or wait returns it.

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

/// The capacity of the submission queue. When it is full, its operations are submitted at once, without a wait.
const QUEUE: u32 = 1024;
/// The most connects that are queued; at this number they are submitted.
const CONNECTS: usize = 256;
/// The largest size of a ring's completion queue.
const MAX_COMPLETIONS: usize = 65_536;
/// The most bytes that a connection sends quietly between two answers. They fit in any socket's buffer, so there is
/// no [`Event::Sent`] for them. A send that would exceed this number is not quiet.
pub const QUIET_BYTES: usize = 4096;

const BUFFER_GROUP: u16 = 0;

/// Stands for no socket. Written to a slot of the kernel's table, it unregisters the slot's socket.
static NO_SOCKET: RawFd = -1;

/// All connections of a thread. Each has a slot: a number from 0 on, below the number of connections that the ring was
/// made for. A method that is given another slot panics.
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
    /// Connects that are queued and not submitted yet. The capacity is fixed, because the kernel is given pointers
    /// into this list.
    connects: ManuallyDrop<Vec<Connect>>,
    slots: Vec<Slot>,
    /// The indexes of quiet sends that may yet fail; the kernel has the first `submitted` of them.
    quiet: Vec<u32>,
    submitted: usize,
    /// The buffer that the last event borrowed, to be given back to the kernel. `None` if that event had no buffer.
    lent: Option<u16>,
    /// The error with which the ring has failed; `None` while it works.
    failed: Option<Errno>,
}

/// Something that happened on a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The connect that [`Ring::connect`] began has succeeded or failed. It comes once for each connect, unless the
    /// slot is closed or connected anew before. After an error, no further event comes from the connection.
    Connected(Result<(), Errno>),
    /// Bytes from the peer, in the order in which they were sent: at least 1 and at most 32 KiB.
    Received(&'a [u8]),
    /// The peer has closed its side and will send no more.
    Ended,
    /// Receiving or sending has failed. No further event comes from the connection.
    Broken(Errno),
    /// The kernel has taken the last byte of the oldest send that was not quiet.
    Sent,
}

struct Connect {
    socket: OwnedFd,
    address: SocketAddrAny,
}

struct Slot {
    /// The number of connections that this slot has had before. Completions of an older connection carry a smaller
    /// one.
    generation: u64,
    state: SlotState,
    /// A receive operation is with the kernel.
    receiving: bool,
    /// The first of the sends that are not quiet, [`NONE`] if there is none. The kernel has the first, and the others
    /// wait for their turn, as a list up to `last`.
    first: u32,
    last: u32,
    /// The latest send of this connection, quiet or not; [`NONE`] before the first.
    latest: u32,
    /// The number of bytes in the sends that are not quiet and not over.
    unsent: usize,
    /// The error after which nothing can be sent any more; `None` while sending works. Bytes that have come are still
    /// received, and then the error is told.
    failed: Option<Errno>,
    /// The number of bytes sent quietly since something was last received.
    quiet_bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotState {
    Closed,
    Connecting,
    Open,
    /// The connection has failed, and there is no other event of it. It is still to be closed.
    Broken,
}

impl Ring {
    /// Sets up a ring for this number of connections. [`send_shared`](Self::send_shared) sends the byte strings of
    /// `shared`, by index.
    ///
    /// # Errors
    ///
    /// The kernel has no io_uring, or one that is too old, or forbids it; or the process may not have so many files;
    /// or the kernel refuses for another reason, such as a lack of memory.
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
        // SAFETY: the entries are `count` whole ones in a mapping that outlives the ring: when the ring is dropped it
        // is unmapped after the kernel is done, or never.
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

    /// Closes the slot's connection, if it has one, and begins to connect a new stream socket, TCP or Unix. Nothing
    /// may have been done with the socket but to set options. [`Event::Connected`] tells the outcome.
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

    /// Sends the shared byte string of the index `which`, after the bytes of all earlier sends. The send is quiet if
    /// it is small, as [`QUIET_BYTES`] says. Nothing happens if the slot is closed or broken, if its sending has
    /// failed, or if the string is empty.
    pub fn send_shared(&mut self, slot: usize, which: usize) {
        self.send(slot, Bytes::Shared(which));
    }

    /// Sends the bytes of a vector, as [`send_shared`](Self::send_shared) sends shared ones. [`spare`](Self::spare)
    /// returns the vector for reuse once it is sent.
    pub fn send_own(&mut self, slot: usize, bytes: Vec<u8>) {
        self.send(slot, Bytes::Own(bytes));
    }

    /// An empty vector to fill for [`send_own`](Self::send_own): one that was sent before, with its memory, or else a
    /// new one.
    pub fn spare(&mut self) -> Vec<u8> {
        self.sends.spare()
    }

    /// `true` if a send waits for the kernel to take it, or sending has failed. A quiet send waits only if it did not
    /// fit in the socket's buffer.
    pub fn is_sending(&self, slot: usize) -> bool {
        self.slots[slot].first != NONE || self.slots[slot].failed.is_some()
    }

    /// The number of bytes in all sends of the slot that are not over. A send counts with all its bytes until the
    /// kernel has taken the last one. Quiet sends do not count.
    pub fn unsent(&self, slot: usize) -> usize {
        self.slots[slot].unsent
    }

    /// Closes the slot's connection, if it has one. No event of that connection comes after this call. The kernel
    /// closes the socket at the next [`submit`](Self::submit) or [`wait`](Self::wait).
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

    /// Submits the queued operations, and does not wait.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub fn submit(&mut self) -> Result<(), Errno> {
        self.enter(0, EnterFlags::empty(), None)
    }

    /// Submits the queued operations, and waits until an operation has completed, a signal arrives, or `timeout_ns`
    /// nanoseconds are over, none of which is an error. Not every completion is an event of [`next`](Self::next).
    /// With a time of 0 it returns at once.
    ///
    /// # Errors
    ///
    /// The kernel refuses to go on, most often for lack of memory, or took only a part of the operations in 16 tries
    /// (`EAGAIN`). The ring can then no longer be used.
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

    /// `true` if no completion has come that [`next`](Self::next) could read.
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

    /// Cancels the connection's sends that are not quiet. The one that the kernel has is freed when it completes, the
    /// others at once.
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
