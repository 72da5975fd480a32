//! Memory straight from the kernel, and all unsafe code of this crate.
//!
//! An allocator hands out pages that were used before, and the kernel may join small pages to large ones during a
//! run: then a probe's figure would change although the machine had not. So the memory is mapped here, in small
//! pages, and unmapped when it is dropped.

use std::io;
use std::ptr::{NonNull, null_mut};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Mapped memory of zeros, to which the kernel gives no page before it is touched.
#[derive(Debug)]
pub(crate) struct Fresh {
    start: NonNull<u32>,
    words: usize,
}

impl Fresh {
    /// Maps `bytes` bytes, a multiple of the size of a page. An error if the kernel gives no memory.
    pub fn map(bytes: usize) -> io::Result<Fresh> {
        let (read_write, private) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the kernel chooses a place where nothing is mapped.
        let start = unsafe { mmap_anonymous(null_mut(), bytes, read_write, private) }?;
        // SAFETY: these are the bytes that were just mapped, and the advice changes none of them. A kernel that knows no
        // large pages refuses it, and needs no advice.
        let _ = unsafe { madvise(start, bytes, Advice::LinuxNoHugepage) };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Fresh { start, words: bytes / size_of::<u32>() })
    }

    /// The memory as words of 32 bits.
    pub fn words(&mut self) -> &mut [u32] {
        // SAFETY: the mapping is of this size, aligned to a page, zeroed, and nobody else's until it is dropped.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.words) }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // SAFETY: it was mapped by us in this size, and no slice of it outlives us.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.words * size_of::<u32>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_memory_is_zero_and_can_be_written_to_its_end() {
        let mut fresh = Fresh::map(1 << 20).unwrap();
        let words = fresh.words();
        assert_eq!(words.len(), 1 << 18);
        assert!(words.iter().all(|word| *word == 0));
        words.fill(7);
        assert_eq!(fresh.words()[(1 << 18) - 1], 7);
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        assert!(Fresh::map(1 << 60).is_err());
    }
}
