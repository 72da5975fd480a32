//! The bytes that are on their way to the kernel, and whose they are. They neither move nor change while the kernel
//! may read them: a place is freed only when its send is over.

/// Stands for no send.
pub(crate) const NONE: u32 = u32::MAX;

/// The bytes of a send.
pub(crate) enum Bytes {
    /// The shared byte string of this index.
    Shared(usize),
    /// Bytes of this send alone.
    Own(Vec<u8>),
}

/// A send, or a free place for one.
pub(crate) struct Send {
    pub bytes: Bytes,
    /// Bytes of it that the kernel has taken.
    pub written: usize,
    pub slot: usize,
    pub generation: u64,
    /// The kernel says nothing if it succeeds.
    pub quiet: bool,
    /// Its end is told as [`Event::Sent`](crate::Event::Sent).
    pub told: bool,
    /// The send after this on the same connection, or the next free place.
    pub next: u32,
}

/// All sends. A place is used again when its send is over, so an index means one send as long as the kernel knows it.
pub(crate) struct Sends {
    all: Vec<Send>,
    free: u32,
    /// Empty vectors to send out of, at most `spares` of them.
    pool: Vec<Vec<u8>>,
    spares: usize,
}

impl Sends {
    pub fn new(spares: usize) -> Sends {
        Sends { all: Vec::new(), free: NONE, pool: Vec::new(), spares }
    }

    pub fn add(&mut self, send: Send) -> u32 {
        if self.free == NONE {
            self.all.push(send);
            return (self.all.len() - 1) as u32;
        }
        let index = self.free;
        let place = &mut self.all[index as usize];
        self.free = place.next;
        *place = send;
        index
    }

    pub fn get(&mut self, index: u32) -> &mut Send {
        &mut self.all[index as usize]
    }

    /// Takes a send's bytes away, and leaves none.
    pub fn take(&mut self, index: u32) -> Bytes {
        std::mem::replace(&mut self.all[index as usize].bytes, Bytes::Own(Vec::new()))
    }

    /// Frees the place of a send that is over, and returns the one that came after it.
    pub fn free(&mut self, index: u32) -> u32 {
        if let Bytes::Own(bytes) = self.take(index) {
            self.recycle(bytes);
        }
        let next = std::mem::replace(&mut self.all[index as usize].next, self.free);
        self.free = index;
        next
    }

    pub fn spare(&mut self) -> Vec<u8> {
        self.pool.pop().unwrap_or_default()
    }

    pub fn recycle(&mut self, mut bytes: Vec<u8>) {
        if bytes.capacity() > 0 && self.pool.len() < self.spares {
            bytes.clear();
            self.pool.push(bytes);
        }
    }
}
