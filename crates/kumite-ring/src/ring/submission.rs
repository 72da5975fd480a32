//! Submissions: operations are queued one by one, and submitted together.
//!
//! Every `unsafe` block here rests on one promise, that of [`Ring::push`]: memory that an operation refers to stays
//! where it is until the operation is over. The comment above each call says whose memory that is, and what keeps it
//! there.

use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{EnterFlags, opcode, squeue};
use rustix::io::Errno;

use super::{BUFFER_GROUP, Ring};
use crate::error::errno;
use crate::sends::Bytes;
use crate::tag::Tag;

/// The most bytes of a single send operation, 1 GiB; the kernel's limit is just below 2 GiB.
const MAX_SEND: usize = 1 << 30;
/// The number of times that the queue is submitted, if the kernel takes only a part of it. After that the ring has
/// failed.
const TRIES: usize = 16;
const MSG_NOSIGNAL: i32 = rustix::net::SendFlags::NOSIGNAL.bits() as i32;
const MSG_DONTWAIT: i32 = rustix::net::SendFlags::DONTWAIT.bits() as i32;
const MSG_WAITALL: i32 = rustix::net::RecvFlags::WAITALL.bits() as i32;

impl Ring {
    pub(super) fn bytes_left(&mut self, index: u32) -> &[u8] {
        let send = self.sends.get(index);
        let bytes = match &send.bytes {
            Bytes::Shared(which) => &self.shared[*which][..],
            Bytes::Own(bytes) => &bytes[..],
        };
        &bytes[send.written..]
    }

    pub(super) fn push_send(&mut self, index: u32) {
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

    pub(super) fn receive(&mut self, slot: usize) {
        self.slots[slot].receiving = true;
        let generation = self.slots[slot].generation;
        let entry = opcode::RecvMulti::new(Fixed(slot as u32), BUFFER_GROUP)
            .build()
            .user_data(Tag::Receive { slot, generation }.pack());
        // SAFETY: refers to no memory but the registered buffers.
        unsafe { self.push(&entry) };
    }

    pub(super) fn cancel(&mut self, tag: Tag) {
        let entry = opcode::AsyncCancel::new(tag.pack())
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(Tag::Ignored.pack());
        // SAFETY: refers to no memory.
        unsafe { self.push(&entry) };
    }

    /// Queues an operation. If there is no room, the queued ones are submitted first; if that fails, the ring has
    /// failed.
    ///
    /// # Safety
    ///
    /// The memory that the operation refers to stays valid until the operation is over.
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) {
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

    pub(super) fn enter(
        &mut self,
        want: u32,
        flags: EnterFlags,
        timeout: Option<&Timespec>,
    ) -> Result<(), Errno> {
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
}
