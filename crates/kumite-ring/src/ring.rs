//! The ring: operations go in, events come out.

use std::mem::ManuallyDrop;
use std::os::fd::{OwnedFd, RawFd};
use std::time::{Duration, Instant};

use io_uring::types::{CancelBuilder, Fixed, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use rustix::net::SocketAddrAny;

use crate::buffers::Buffers;
use crate::error::{RingError, errno};
use crate::sends::{Bytes, NONE, Send, Sends};
use crate::tag::Tag;

/// Operations that are queued before a system call submits them, wait or not.
const QUEUE: u32 = 1024;
/// Connects among them.
const CONNECTS: usize = 256;
/// The kernel's own limit of completions that it keeps for us.
const MAX_COMPLETIONS: usize = 65_536;
/// A send that is at most this large is quiet, and so are those after it until as many bytes were sent, or an answer
/// comes: they fit in any socket's buffer, so there is nothing to tell.
pub const QUIET_BYTES: usize = 4096;
/// The longest single operation, in bytes; the kernel's limit is just below 2 GiB.
const MAX_SEND: usize = 1 << 30;
/// How often what the kernel did not take is submitted again.
const TRIES: usize = 16;
/// How long a ring that is dropped waits for the kernel.
const PATIENCE: Duration = Duration::from_secs(1);

const BUFFER_GROUP: u16 = 0;
const MSG_NOSIGNAL: i32 = rustix::net::SendFlags::NOSIGNAL.bits() as i32;
const MSG_DONTWAIT: i32 = rustix::net::SendFlags::DONTWAIT.bits() as i32;
const MSG_WAITALL: i32 = rustix::net::RecvFlags::WAITALL.bits() as i32;

/// What unregisters a socket.
static NO_SOCKET: RawFd = -1;

/// All connections of a thread. Each has a slot: a number below that of connections (another panics).
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
    /// The ring has failed.
    failed: Option<Errno>,
}

/// What became of a connection.
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
    state: State,
    /// There is a receive operation.
    receiving: bool,
    /// The sends that are not quiet: the first is with the kernel, the others wait for their turn.
    first: u32,
    last: u32,
    /// The last send, of either kind.
    latest: u32,
    /// Bytes sent quietly since something was received.
    quiet_bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
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
            .map_err(|error| RingError::of("set up a ring", &error))?;
        let files = u32::try_from(connections).unwrap_or(u32::MAX).max(1);
        uring.submitter().register_files_sparse(files).map_err(|error| match errno(&error) {
            Errno::MFILE => RingError::Files { connections },
            _ => RingError::of("register sockets", &error),
        })?;
        let buffers = Buffers::new()
            .map_err(|source| RingError::Refused { step: "get memory to receive into", source })?;
        let (address, count) = buffers.ring();
        // SAFETY: the entries are `count` whole ones in a mapping that outlives the ring: when the ring is dropped it is
        // unmapped after the kernel is done, or never.
        unsafe { uring.submitter().register_buf_ring_with_flags(address, count, BUFFER_GROUP, 0) }
            .map_err(|error| RingError::of("register buffers", &error))?;
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
        self.slots[slot].state = State::Connecting;
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

    /// Whether a send waits for the kernel to take it. A quiet one does so only if it turned out not to fit in the
    /// socket's buffer.
    pub fn is_sending(&self, slot: usize) -> bool {
        self.slots[slot].first != NONE
    }

    /// Closes the connection, if there is one. There is no event of it after this; the kernel closes the socket at the
    /// next [`submit`](Self::submit) or [`wait`](Self::wait).
    pub fn close(&mut self, slot: usize) {
        let generation = self.slots[slot].generation;
        if self.slots[slot].state == State::Closed {
            return;
        }
        if self.slots[slot].state == State::Connecting {
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

    /// Whether there is nothing that [`next`](Self::next) could give.
    pub fn is_idle(&mut self) -> bool {
        self.uring.completion().is_empty()
    }

    /// The next event and its slot; none when [`wait`](Self::wait) is needed for more. What the event before showed goes
    /// back to the kernel.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Option<(usize, Event<'_>)> {
        self.give_back();
        loop {
            let Some(entry) = self.uring.completion().next() else {
                self.settle_quiet();
                return None;
            };
            let told = match Tag::unpack(entry.user_data()) {
                Tag::Ignored | Tag::CancelAll => None,
                Tag::Connect { slot, generation } => self.connected(slot, generation, entry.result()),
                Tag::Receive { slot, generation } => self.received(slot, generation, &entry),
                Tag::Send { index } => self.sent(index, entry.result()),
            };
            let Some((slot, told)) = told else { continue };
            let event = match told {
                Told::Connected(result) => Event::Connected(result),
                Told::Received(id, len) => {
                    self.lent = Some(id);
                    // SAFETY: the kernel has just said that it has put `len` bytes into the buffer `id`. It is given back
                    // by `give_back`, which needs the ring that the event borrows.
                    Event::Received(unsafe { self.buffers.bytes(id, len) })
                }
                Told::Ended => Event::Ended,
                Told::Broken(error) => Event::Broken(error),
                Told::Sent => Event::Sent,
            };
            return Some((slot, event));
        }
    }

    fn connected(&mut self, slot: usize, generation: u64, result: i32) -> Option<(usize, Told)> {
        if self.slots[slot].generation != generation {
            return None;
        }
        if result < 0 {
            self.slots[slot].state = State::Broken;
            return Some((slot, Told::Connected(Err(Errno::from_raw_os_error(-result)))));
        }
        self.slots[slot].state = State::Open;
        self.receive(slot);
        Some((slot, Told::Connected(Ok(()))))
    }

    fn received(&mut self, slot: usize, generation: u64, entry: &cqueue::Entry) -> Option<(usize, Told)> {
        let buffer = cqueue::buffer_select(entry.flags());
        let current = self.slots[slot].generation == generation;
        if current && !cqueue::more(entry.flags()) {
            self.slots[slot].receiving = false;
        }
        if !current || self.slots[slot].state != State::Open {
            buffer.into_iter().for_each(|id| self.buffers.give(id));
            return None;
        }
        let told = match (buffer, entry.result()) {
            (Some(id), len @ 1..) => {
                self.slots[slot].quiet_bytes = 0;
                Told::Received(id, len as usize)
            }
            (buffer, result) => {
                buffer.into_iter().for_each(|id| self.buffers.give(id));
                match result {
                    0 => return Some((slot, Told::Ended)),
                    // All buffers are full of what we have yet to read: by the next submission we shall have.
                    _ if result == -Errno::NOBUFS.raw_os_error() => {
                        self.receive(slot);
                        return None;
                    }
                    _ => return Some((slot, self.broken(slot, Errno::from_raw_os_error(-result)))),
                }
            }
        };
        if !self.slots[slot].receiving {
            self.receive(slot);
        }
        Some((slot, told))
    }

    fn sent(&mut self, index: u32, result: i32) -> Option<(usize, Told)> {
        let send = self.sends.get(index);
        let (slot, quiet, told) = (send.slot, send.quiet, send.told);
        let state = self.slots[slot].state;
        let current = self.slots[slot].generation == send.generation && state != State::Broken;
        if quiet {
            return if current { self.quiet_failed(slot, index, result) } else { None };
        }
        if !current {
            self.sends.free(index);
            return None;
        }
        let error = match result {
            1.. => None,
            0 => Some(Errno::PIPE),
            _ => Some(Errno::from_raw_os_error(-result)).filter(|&error| error != Errno::INTR),
        };
        if let Some(error) = error {
            let rest = self.sends.free(index);
            self.slots[slot].first = NONE;
            self.forget(rest);
            return Some((slot, self.broken(slot, error)));
        }
        self.sends.get(index).written += result.max(0) as usize;
        if !self.bytes_left(index).is_empty() {
            self.push_send(index);
            return None;
        }
        let next = self.sends.free(index);
        self.slots[slot].first = next;
        if next != NONE {
            self.push_send(next);
        }
        told.then_some((slot, Told::Sent))
    }

    /// A quiet send did not fit, or failed. What is left of it is sent as any other, unless another went after it: then
    /// the order of the bytes is lost.
    fn quiet_failed(&mut self, slot: usize, index: u32, result: i32) -> Option<(usize, Told)> {
        let error = if result < 0 { Errno::from_raw_os_error(-result) } else { Errno::AGAIN };
        if error != Errno::AGAIN || self.slots[slot].latest != index {
            return Some((slot, self.broken(slot, error)));
        }
        let bytes = self.sends.take(index);
        let generation = self.slots[slot].generation;
        let written = result.max(0) as usize;
        let rest = Send { bytes, written, slot, generation, quiet: false, told: false, next: NONE };
        let rest = self.sends.add(rest);
        let slot = &mut self.slots[slot];
        (slot.first, slot.last, slot.latest) = (rest, rest, rest);
        self.push_send(rest);
        None
    }

    fn send(&mut self, slot: usize, bytes: Bytes) {
        let len = match &bytes {
            Bytes::Shared(which) => self.shared[*which].len(),
            Bytes::Own(bytes) => bytes.len(),
        };
        let Slot { generation, state, first, last, quiet_bytes, .. } = self.slots[slot];
        if len == 0 || matches!(state, State::Closed | State::Broken) {
            if let Bytes::Own(bytes) = bytes {
                self.sends.recycle(bytes);
            }
            return;
        }
        let quiet = state == State::Open && first == NONE && quiet_bytes + len <= QUIET_BYTES;
        let send = Send { bytes, written: 0, slot, generation, quiet, told: !quiet, next: NONE };
        let index = self.sends.add(send);
        let of = &mut self.slots[slot];
        of.latest = index;
        if quiet {
            of.quiet_bytes += len;
            self.push_send(index);
            // Not before: what is in the list counts as submitted when the queue is, which may happen while pushing.
            self.quiet.push(index);
            return;
        }
        of.last = index;
        if first == NONE {
            of.first = index;
            self.push_send(index);
        } else {
            self.sends.get(last).next = index;
        }
    }

    /// The connection is lost: forgets its sends, and everything that may still be told of it.
    fn broken(&mut self, slot: usize, error: Errno) -> Told {
        self.slots[slot].state = State::Broken;
        self.cancel_sends(slot);
        Told::Broken(error)
    }

    /// Cancels the send that is with the kernel, which frees its place when it completes, and forgets the others.
    fn cancel_sends(&mut self, slot: usize) {
        let index = std::mem::replace(&mut self.slots[slot].first, NONE);
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

    /// All completions were seen, so the quiet sends that were submitted before have succeeded or were dealt with.
    fn settle_quiet(&mut self) {
        if self.submitted > 0 && !self.uring.submission().cq_overflow() {
            for index in self.quiet.drain(..self.submitted) {
                self.sends.free(index);
            }
            self.submitted = 0;
        }
    }

    fn give_back(&mut self) {
        if let Some(id) = self.lent.take() {
            self.buffers.give(id);
        }
    }

    fn bytes_left(&mut self, index: u32) -> &[u8] {
        let send = self.sends.get(index);
        let bytes = match &send.bytes {
            Bytes::Shared(which) => &self.shared[*which][..],
            Bytes::Own(bytes) => &bytes[..],
        };
        &bytes[send.written..]
    }

    fn push_send(&mut self, index: u32) {
        let left = self.bytes_left(index);
        let (start, len) = (left.as_ptr(), left.len().min(MAX_SEND) as u32);
        let send = self.sends.get(index);
        // MSG_WAITALL: the kernel goes on by itself when the socket's buffer is full. With MSG_DONTWAIT it gives up there,
        // and MSG_WAITALL makes that a failure: without it, a quiet send that ends early would pass for a success.
        let flags = MSG_NOSIGNAL | MSG_WAITALL | if send.quiet { MSG_DONTWAIT } else { 0 };
        let skip = if send.quiet { squeue::Flags::SKIP_SUCCESS } else { squeue::Flags::empty() };
        let entry = opcode::Send::new(Fixed(send.slot as u32), start, len)
            .flags(flags)
            .build()
            .flags(skip)
            .user_data(Tag::Send { index }.pack());
        // SAFETY: the bytes are part of `shared` or of the send, neither of which changes or frees them before the send is
        // over: when its completion has come, or, if it is quiet, when no completion has come with its submission.
        unsafe { self.push(&entry) };
    }

    fn receive(&mut self, slot: usize) {
        self.slots[slot].receiving = true;
        let generation = self.slots[slot].generation;
        let entry = opcode::RecvMulti::new(Fixed(slot as u32), BUFFER_GROUP)
            .build()
            .user_data(Tag::Receive { slot, generation }.pack());
        // SAFETY: refers to no memory but the registered buffers.
        unsafe { self.push(&entry) };
    }

    fn cancel(&mut self, tag: Tag) {
        let entry = opcode::AsyncCancel::new(tag.pack())
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(Tag::Ignored.pack());
        // SAFETY: refers to no memory.
        unsafe { self.push(&entry) };
    }

    /// Queues an operation, after submitting those before it if there is no room. If that fails the ring has failed.
    ///
    /// # Safety
    ///
    /// The memory that the operation refers to stays valid until the operation is over.
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: the caller's promise.
        let mut pushed = unsafe { self.uring.submission().push(entry) };
        if pushed.is_err() && self.submit().is_ok() {
            // SAFETY: the caller's promise.
            pushed = unsafe { self.uring.submission().push(entry) };
        }
        if pushed.is_err() {
            self.failed.get_or_insert(Errno::AGAIN);
        }
    }

    fn enter(&mut self, want: u32, flags: EnterFlags, timeout: Option<&Timespec>) -> Result<(), Errno> {
        let mut error = self.failed;
        let args = timeout.map_or(SubmitArgs::new(), |timeout| SubmitArgs::new().timespec(timeout));
        let flags = (flags | EnterFlags::EXT_ARG).bits();
        for _ in 0..TRIES {
            if let Some(error) = error {
                self.failed = Some(error);
                return Err(error);
            }
            let queued = self.uring.submission().len() as u32;
            // SAFETY: the arguments are what EXT_ARG means and live through the call. Whoever queued an operation has
            // answered for the memory that it refers to.
            let entered = unsafe { self.uring.submitter().enter(queued, want, flags, Some(&args)) };
            error = match entered.map_err(|error| errno(&error)) {
                Ok(_) | Err(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => None,
                Err(error) => Some(error),
            };
            if error.is_none() && self.uring.submission().is_empty() {
                self.connects.clear();
                self.submitted = self.quiet.len();
                return Ok(());
            }
        }
        let error = error.unwrap_or(Errno::AGAIN);
        self.failed = Some(error);
        Err(error)
    }

    /// Ends everything; whether the kernel has let go of all our memory.
    fn end(&mut self) -> bool {
        // What is queued and was never submitted finds no socket.
        let none = vec![NO_SOCKET; self.slots.len()];
        let _ = self.uring.submitter().register_files_update(0, &none);
        self.failed = None;
        // One by one they are found at once; to cancel all takes time in the square of their number, so wait until they have
        // gone.
        let receiving = self.slots.iter().filter(|slot| slot.receiving).count();
        for slot in 0..self.slots.len() {
            self.close(slot);
        }
        let _ = self.enter(receiving as u32, EnterFlags::GETEVENTS, Some(&Timespec::from(PATIENCE / 10)));
        self.failed = None;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let everything = opcode::AsyncCancel2::new(CancelBuilder::any()).build();
            // SAFETY: refers to no memory.
            unsafe { self.push(&everything.user_data(Tag::CancelAll.pack())) };
            if self.enter(1, EnterFlags::GETEVENTS, Some(&Timespec::from(PATIENCE / 10))).is_err() {
                return false;
            }
            // Cancelling everything says how many operations there were to cancel; one is there until it has completed.
            let nothing = [0, -Errno::NOENT.raw_os_error()];
            let cancelled =
                self.uring.completion().find(|entry| Tag::unpack(entry.user_data()) == Tag::CancelAll);
            if cancelled.is_some_and(|entry| nothing.contains(&entry.result())) {
                return true;
            }
        }
        false
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if !self.end() {
            return;
        }
        // SAFETY: none of them is used again. The kernel has no operation left that would use their memory, and none can
        // be submitted any more.
        unsafe {
            ManuallyDrop::drop(&mut self.buffers);
            ManuallyDrop::drop(&mut self.shared);
            ManuallyDrop::drop(&mut self.sends);
            ManuallyDrop::drop(&mut self.connects);
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
            state: State::Closed,
            receiving: false,
            first: NONE,
            last: NONE,
            latest: NONE,
            quiet_bytes: 0,
        }
    }
}

/// An event without what it borrows.
enum Told {
    Connected(Result<(), Errno>),
    Received(u16, usize),
    Ended,
    Broken(Errno),
    Sent,
}
