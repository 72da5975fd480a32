//! The end of a ring: its memory is freed once the kernel has let go of it, and otherwise leaked.
//!
//! Freed memory that the kernel still wrote to would corrupt whatever is put there next. A leak of some megabytes, if
//! a kernel does not answer for a second, harms nobody.

use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use io_uring::types::{CancelBuilder, Timespec};
use io_uring::{EnterFlags, opcode};
use rustix::io::Errno;

use super::{NO_SOCKET, Ring};
use crate::tag::Tag;

/// The time that a dropped ring waits for the kernel to let go of its memory.
const PATIENCE: Duration = Duration::from_secs(1);

impl Ring {
    /// Closes all connections and cancels all operations. Returns `true` if the kernel has let go of the ring's
    /// memory, `false` if it has not within [`PATIENCE`], or refuses to go on.
    fn end(&mut self) -> bool {
        // So operations that are queued and were never submitted find no socket.
        let none = vec![NO_SOCKET; self.slots.len()];
        let _ = self.uring.submitter().register_files_update(0, &none);
        self.failed = None;
        // A receive that is cancelled by its own tag is found at once. To cancel everything takes time in the square
        // of the number of operations, so the receives are to be gone before that.
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
            // The result is the number of operations that there were to cancel; each counts until it has completed.
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
