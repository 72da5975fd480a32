//! The buffers that the kernel receives into. They are listed in a ring, of which the kernel takes the next when
//! bytes have come.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

/// The number of buffers, of [`SIZE`] bytes each: 4 MiB together. Only pages that were written to take memory: with
/// small answers the first page of each buffer.
const COUNT: u16 = 128;
const SIZE: usize = 32 * 1024;

const ENTRIES: usize = COUNT as usize * size_of::<BufRingEntry>();
const LEN: usize = COUNT as usize * SIZE + ENTRIES;

/// The mapped memory of all buffers: the ring of entries first, the buffers behind it.
pub(crate) struct Buffers {
    mapping: NonNull<u8>,
    /// The number of buffers given to the kernel so far, modulo 65,536, as the kernel counts them.
    given: u16,
}

impl Buffers {
    /// Maps memory for all buffers, and gives them all to the kernel. An error if there is no memory.
    pub fn new() -> Result<Buffers, Errno> {
        // SAFETY: a new anonymous mapping, at a place of the kernel's choice, overlaps nothing.
        let mapping = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), LEN, access, MapFlags::PRIVATE)?
        };
        let mapping = NonNull::new(mapping.cast()).ok_or(Errno::NOMEM)?;
        let mut buffers = Buffers { mapping, given: 0 };
        (0..COUNT).for_each(|id| buffers.give(id));
        Ok(buffers)
    }

    /// The address of the ring of entries, which is aligned to a page, and the number of entries.
    pub fn ring(&self) -> (u64, u16) {
        (self.mapping.as_ptr() as u64, COUNT)
    }

    /// The first `len` bytes of the buffer `id`.
    ///
    /// # Safety
    ///
    /// The kernel has put at least `len` bytes into the buffer `id`, and it is not [given](Self::give) back while the
    /// slice is alive.
    pub unsafe fn bytes(&self, id: u16, len: usize) -> &[u8] {
        debug_assert!(id < COUNT && len <= SIZE, "buffer {id} with {len} bytes");
        // SAFETY: the buffer is part of the mapping, holds `len` bytes, and is ours until it is given back.
        unsafe { std::slice::from_raw_parts(self.buffer(id), len) }
    }

    /// Gives the buffer `id` to the kernel, to receive into.
    pub fn give(&mut self, id: u16) {
        let entry = usize::from(self.given % COUNT) * size_of::<BufRingEntry>();
        // SAFETY: the entry is one of the `COUNT` at the beginning of the mapping, whose pages are zeroed and aligned. The
        // kernel does not read it before the tail that is stored below says so, and has read what it said before: it
        // cannot have more than `COUNT` buffers.
        let entry = unsafe { &mut *self.mapping.as_ptr().add(entry).cast::<BufRingEntry>() };
        entry.set_addr(self.buffer(id) as u64);
        entry.set_len(SIZE as u32);
        entry.set_bid(id);
        self.given = self.given.wrapping_add(1);
        // SAFETY: the tail is in the first entry, where `set_addr` and the like do not write; it is aligned, and only
        // accessed atomically after the kernel knows of it.
        let tail =
            unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.mapping.as_ptr().cast()).cast_mut()) };
        tail.store(self.given, Ordering::Release);
    }

    fn buffer(&self, id: u16) -> *mut u8 {
        let offset = ENTRIES + usize::from(id % COUNT) * SIZE;
        // SAFETY: behind the entries the mapping has `COUNT` buffers of `SIZE` bytes.
        unsafe { self.mapping.as_ptr().add(offset) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, no slice of it is alive (they borrow from it), and the kernel is done with it, or
        // the ring would have leaked it. It is whole, so unmapping it cannot fail in a way that matters.
        let _ = unsafe { rustix::mm::munmap(self.mapping.as_ptr().cast(), LEN) };
    }
}
