//! The memory for bodies that a check must see whole. It is limited for all connections together, not only for each.

use std::cell::Cell;
use std::rc::Rc;

/// The most bytes of bodies that all connections of a load may hold together. A body of 64 KiB or less is not
/// counted.
pub(crate) const HELD_LIMIT: usize = 512 * 1024 * 1024;

/// The bytes of [`HELD_LIMIT`] that are left for the connections of one thread.
#[derive(Debug, Clone)]
pub(crate) struct HeldRoom(Rc<Cell<usize>>);

impl HeldRoom {
    pub fn new(bytes: usize) -> HeldRoom {
        HeldRoom(Rc::new(Cell::new(bytes)))
    }
}

/// The bytes that one connection has taken of a [`HeldRoom`]. They are given back when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Held(Option<(HeldRoom, usize)>);

impl Held {
    /// Takes `bytes` in place of those taken before. Returns `false`, and takes none, if there is no room for them.
    pub fn grow_to(&mut self, bytes: usize, room: &HeldRoom) -> bool {
        self.give_back();
        let left = room.0.get();
        if bytes > left {
            return false;
        }
        room.0.set(left - bytes);
        self.0 = Some((room.clone(), bytes));
        true
    }

    pub fn give_back(&mut self) {
        if let Some((room, bytes)) = self.0.take() {
            room.0.set(room.0.get() + bytes);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.give_back();
    }
}
