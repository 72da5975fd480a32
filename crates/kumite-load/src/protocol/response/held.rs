//! The memory for bodies that a check must see whole: of all connections together it is bounded, not only of each.

use std::cell::Cell;
use std::rc::Rc;

/// The bytes that the connections of a load may hold, all together.
pub(crate) const HELD_LIMIT: usize = 512 * 1024 * 1024;

/// The bytes that are left of it for the connections of one thread.
#[derive(Debug, Clone)]
pub(crate) struct HeldRoom(Rc<Cell<usize>>);

impl HeldRoom {
    pub fn new(bytes: usize) -> HeldRoom {
        HeldRoom(Rc::new(Cell::new(bytes)))
    }
}

/// How much of it one connection has taken; given back when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Held(Option<(HeldRoom, usize)>);

impl Held {
    /// Takes `bytes` instead of those that it has. Returns `false`, and has none, if there is no room for them.
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
