//! Completions: each is made an event, or nothing if the caller need not know of it.
//!
//! The tag says which operation completed, and the generation tells a completion of an older connection. A buffer
//! that comes with a completion is always either lent to the caller or given back; otherwise it would be missing for
//! ever.

use io_uring::cqueue;
use rustix::io::Errno;

use super::{Event, Ring, SlotState};
use crate::sends::{Bytes, NONE, Send};
use crate::tag::Tag;

/// An event that does not borrow from the ring yet: it has a buffer's id and length, and not its bytes.
enum Completed {
    Connected(Result<(), Errno>),
    Received(u16, usize),
    Ended,
    Broken(Errno),
    Sent,
}

impl Ring {
    /// The next event, with the slot of its connection; `None` if no more has come, so that [`wait`](Self::wait) is
    /// needed. The buffer that the previous event borrowed goes back to the kernel.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Option<(usize, Event<'_>)> {
        self.give_back();
        loop {
            let Some(entry) = self.uring.completion().next() else {
                self.settle_quiet();
                return None;
            };
            let completed = match Tag::unpack(entry.user_data()) {
                Tag::Ignored | Tag::CancelAll => None,
                Tag::Connect { slot, generation } => self.connected(slot, generation, entry.result()),
                Tag::Receive { slot, generation } => self.received(slot, generation, &entry),
                Tag::Send { index } => self.sent(index, entry.result()),
            };
            let Some((slot, completed)) = completed else { continue };
            let event = match completed {
                Completed::Connected(result) => Event::Connected(result),
                Completed::Received(id, len) => {
                    self.lent = Some(id);
                    // SAFETY: the kernel has just said that it has put `len` bytes into the buffer `id`. It is given back
                    // by `give_back`, which needs the ring that the event borrows.
                    Event::Received(unsafe { self.buffers.bytes(id, len) })
                }
                Completed::Ended => Event::Ended,
                Completed::Broken(error) => Event::Broken(error),
                Completed::Sent => Event::Sent,
            };
            return Some((slot, event));
        }
    }

    fn connected(&mut self, slot: usize, generation: u64, result: i32) -> Option<(usize, Completed)> {
        if self.slots[slot].generation != generation {
            return None;
        }
        if result < 0 {
            self.slots[slot].state = SlotState::Broken;
            return Some((slot, Completed::Connected(Err(Errno::from_raw_os_error(-result)))));
        }
        self.slots[slot].state = SlotState::Open;
        self.receive(slot);
        Some((slot, Completed::Connected(Ok(()))))
    }

    fn received(
        &mut self,
        slot: usize,
        generation: u64,
        entry: &cqueue::Entry,
    ) -> Option<(usize, Completed)> {
        let buffer = cqueue::buffer_select(entry.flags());
        let current = self.slots[slot].generation == generation;
        if current && !cqueue::more(entry.flags()) {
            self.slots[slot].receiving = false;
        }
        if !current || self.slots[slot].state != SlotState::Open {
            buffer.into_iter().for_each(|id| self.buffers.give(id));
            return None;
        }
        let completed = match (buffer, entry.result()) {
            (Some(id), len @ 1..) => {
                self.slots[slot].quiet_bytes = 0;
                Completed::Received(id, len as usize)
            }
            (buffer, result) => {
                buffer.into_iter().for_each(|id| self.buffers.give(id));
                match (result, self.slots[slot].failed) {
                    (0, None) => return Some((slot, Completed::Ended)),
                    // All buffers hold bytes that the caller has yet to read; by the next submission it has read
                    // some.
                    _ if result == -Errno::NOBUFS.raw_os_error() => {
                        self.receive(slot);
                        return None;
                    }
                    (_, failed) => {
                        let error = failed.unwrap_or_else(|| Errno::from_raw_os_error(-result));
                        return Some((slot, self.broken(slot, error)));
                    }
                }
            }
        };
        if !self.slots[slot].receiving {
            self.receive(slot);
        }
        Some((slot, completed))
    }

    fn sent(&mut self, index: u32, result: i32) -> Option<(usize, Completed)> {
        let send = self.sends.get(index);
        let (slot, quiet, told) = (send.slot, send.quiet, send.told);
        let state = self.slots[slot].state;
        let current = self.slots[slot].generation == send.generation && state != SlotState::Broken;
        let current = current && self.slots[slot].failed.is_none();
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
            return self.send_failed(slot, error);
        }
        self.sends.get(index).written += result.max(0) as usize;
        if !self.bytes_left(index).is_empty() {
            self.push_send(index);
            return None;
        }
        let length = self.sends.get(index).written;
        let next = self.sends.free(index);
        self.slots[slot].unsent -= length;
        self.slots[slot].first = next;
        if next != NONE {
            self.push_send(next);
        }
        told.then_some((slot, Completed::Sent))
    }

    /// Takes up a quiet send that did not fit, or failed. If it did not fit, the rest is sent as one that is not
    /// quiet; if it failed, or another send came after it so that the order of bytes is lost, sending has failed.
    /// Returns the event that this is; `None` if it is none.
    fn quiet_failed(&mut self, slot: usize, index: u32, result: i32) -> Option<(usize, Completed)> {
        let error = if result < 0 { Errno::from_raw_os_error(-result) } else { Errno::AGAIN };
        if error != Errno::AGAIN || self.slots[slot].latest != index {
            return self.send_failed(slot, error);
        }
        let bytes = self.sends.take(index);
        let length = match &bytes {
            Bytes::Shared(which) => self.shared[*which].len(),
            Bytes::Own(bytes) => bytes.len(),
        };
        let generation = self.slots[slot].generation;
        let written = result.max(0) as usize;
        let rest = Send { bytes, written, slot, generation, quiet: false, told: false, next: NONE };
        let rest = self.sends.add(rest);
        let slot = &mut self.slots[slot];
        (slot.first, slot.last, slot.latest) = (rest, rest, rest);
        slot.unsent += length;
        self.push_send(rest);
        None
    }

    /// Ends the connection's sending after an error. If the peer has closed, and receiving still goes on, the bytes
    /// that have come are received first; otherwise the connection is broken at once. Returns the event that this is;
    /// `None` if it is none yet.
    fn send_failed(&mut self, slot: usize, error: Errno) -> Option<(usize, Completed)> {
        let gone = matches!(error, Errno::PIPE | Errno::CONNRESET);
        if !gone || !self.slots[slot].receiving {
            return Some((slot, self.broken(slot, error)));
        }
        self.slots[slot].failed.get_or_insert(error);
        self.cancel_sends(slot);
        None
    }

    /// Marks the connection as broken: its sends are cancelled, and no other event of it is told.
    fn broken(&mut self, slot: usize, error: Errno) -> Completed {
        self.slots[slot].state = SlotState::Broken;
        self.cancel_sends(slot);
        Completed::Broken(error)
    }

    /// Frees the submitted quiet sends, once all completions were seen: without a completion they have succeeded. If
    /// the kernel holds back completions (`cq_overflow`), a failure may be among those, so the sends are kept.
    fn settle_quiet(&mut self) {
        if self.submitted > 0 && !self.uring.submission().cq_overflow() {
            for index in self.quiet.drain(..self.submitted) {
                self.sends.free(index);
            }
            self.submitted = 0;
        }
    }

    pub(super) fn give_back(&mut self) {
        if let Some(id) = self.lent.take() {
            self.buffers.give(id);
        }
    }
}
