//! Reading of whole files by io_uring. The only file with unsafe code.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use io_uring::{IoUring, opcode, squeue, types};

/// A ring, and what it reads.
pub struct Ring {
    uring: IoUring,
    flags: squeue::Flags,
    // By slots, whose numbers the kernel gives back. Their bytes are the kernel's to write until it has.
    readings: Vec<Option<Reading>>,
    free: Vec<usize>,
}

struct Reading {
    number: u64,
    file: File,
    bytes: Vec<u8>,
}

impl Ring {
    /// A ring for so many readings at once, whose submissions have these flags.
    pub fn new(readings: u32, flags: squeue::Flags) -> io::Result<Ring> {
        let uring = IoUring::new(readings)?;
        let slots = 0..readings as usize;
        Ok(Ring { uring, flags, readings: slots.clone().map(|_| None).collect(), free: slots.collect() })
    }

    /// Begins to read a whole file. There must be room for it.
    pub fn start(&mut self, number: u64, path: &Path) -> io::Result<()> {
        let file = File::open(path)?;
        let bytes = Vec::with_capacity(file.metadata()?.len() as usize);
        let slot = self.free.pop().expect("room for a reading");
        self.readings[slot] = Some(Reading { number, file, bytes });
        self.queue(slot);
        self.uring.submit()?;
        Ok(())
    }

    /// Whether anything is being read.
    pub fn is_reading(&self) -> bool {
        self.free.len() < self.readings.len()
    }

    /// Waits until something was read.
    pub fn wait(&mut self) -> io::Result<()> {
        self.uring.submit_and_wait(1)?;
        Ok(())
    }

    /// A file that was read, by the number it was started with. Does not wait.
    pub fn next(&mut self) -> Option<(u64, io::Result<Vec<u8>>)> {
        loop {
            let completion = self.uring.completion().next()?;
            let slot = completion.user_data() as usize;
            let reading = self.readings[slot].as_mut().expect("a reading");
            let failed = match completion.result() {
                error @ ..0 => Some(io::Error::from_raw_os_error(-error)),
                count => {
                    let length = reading.bytes.len() + count as usize;
                    // SAFETY: the kernel has written so many bytes behind those that were there, within the capacity.
                    unsafe { reading.bytes.set_len(length) };
                    if count > 0 && length < reading.bytes.capacity() {
                        // The rest goes to the kernel with whatever is submitted next.
                        self.queue(slot);
                        continue;
                    }
                    None
                }
            };
            let Reading { number, bytes, .. } = self.readings[slot].take().expect("a reading");
            self.free.push(slot);
            return Some((number, failed.map_or(Ok(bytes), Err)));
        }
    }

    /// Queues the reading of what is not yet read.
    fn queue(&mut self, slot: usize) {
        let reading = self.readings[slot].as_mut().expect("a reading");
        let (from, room) = (reading.bytes.len() as u64, reading.bytes.spare_capacity_mut());
        let (pointer, length) = (room.as_mut_ptr().cast(), room.len().try_into().unwrap_or(u32::MAX));
        let file = types::Fd(reading.file.as_raw_fd());
        let read = opcode::Read::new(file, pointer, length).offset(from).build();
        let read = read.user_data(slot as u64).flags(self.flags);
        // SAFETY: file and bytes stay where they are, and untouched, until the completion: the slot owns them.
        unsafe { self.uring.submission().push(&read) }.expect("the ring has room for all slots");
    }
}

impl Drop for Ring {
    /// The kernel may still write to what is being read.
    fn drop(&mut self) {
        while self.is_reading() {
            if self.next().is_none() && self.wait().is_err() {
                std::process::abort();
            }
        }
    }
}
