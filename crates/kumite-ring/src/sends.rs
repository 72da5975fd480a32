//! The sends that are not over, each with its bytes. The bytes neither move nor change while the kernel may read
//! them: a place is freed only when its send is over.

/// The index that stands for no send.
pub(crate) const NONE: u32 = u32::MAX;

/// The bytes of a send, by owner.
pub(crate) enum Bytes {
    /// The shared byte string of this index.
    Shared(usize),
    /// Bytes that belong to this send alone.
    Own(Vec<u8>),
}

/// A send, or a free place for one.
pub(crate) struct Send {
    pub bytes: Bytes,
    /// The number of this send's bytes that the kernel has taken.
    pub written: usize,
    pub slot: usize,
    pub generation: u64,
    /// The kernel makes no completion for this send if it succeeds.
    pub quiet: bool,
    /// The end of this send is told as [`Event::Sent`](crate::Event::Sent).
    pub told: bool,
    /// The index of the send after this one on the same connection; for a free place, that of the next free place.
    /// [`NONE`] if there is none.
    pub next: u32,
}

/// All sends, by index. A place is used again once its send is over, so an index means one send as long as the kernel
/// knows it.
pub(crate) struct Sends {
    all: Vec<Send>,
    free: u32,
    /// Empty vectors, kept for reuse: at most `spares` of them.
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

    /// Takes the bytes of a send, and leaves an empty vector in their place.
    pub fn take(&mut self, index: u32) -> Bytes {
        std::mem::replace(&mut self.all[index as usize].bytes, Bytes::Own(Vec::new()))
    }

    /// Frees the place of a send that is over. Returns the index of the send after it, or [`NONE`].
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
