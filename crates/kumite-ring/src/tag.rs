//! Tags: 64 bits that the kernel brings back with a completion, and that say which operation it is of.

/// An operation that a completion can be of. A slot has 20 bits, enough for all files that a ring can register; a
/// generation has 40, and the kind of operation has 4. A slot that connects a thousand times a second uses up its
/// generations in 34 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    /// An operation whose outcome nobody needs.
    Ignored,
    /// The connect of a slot.
    Connect { slot: usize, generation: u64 },
    /// The receiving of a slot.
    Receive { slot: usize, generation: u64 },
    /// The send of this index.
    Send { index: u32 },
    /// The cancelling of all operations, when the ring is dropped.
    CancelAll,
}

const SLOT_BITS: u32 = 20;
const GENERATION_BITS: u32 = 40;

impl Tag {
    pub fn pack(self) -> u64 {
        let slot_and_generation = |slot: usize, generation: u64| {
            let generation = generation & ((1 << GENERATION_BITS) - 1);
            (generation << SLOT_BITS | slot as u64) << 4
        };
        match self {
            Tag::Ignored => 0,
            Tag::Connect { slot, generation } => slot_and_generation(slot, generation) | 1,
            Tag::Receive { slot, generation } => slot_and_generation(slot, generation) | 2,
            Tag::Send { index } => u64::from(index) << 4 | 3,
            Tag::CancelAll => 4,
        }
    }

    pub fn unpack(bits: u64) -> Tag {
        let slot = (bits >> 4) as usize & ((1 << SLOT_BITS) - 1);
        let generation = bits >> (4 + SLOT_BITS);
        match bits & 15 {
            1 => Tag::Connect { slot, generation },
            2 => Tag::Receive { slot, generation },
            3 => Tag::Send { index: (bits >> 4) as u32 },
            4 => Tag::CancelAll,
            _ => Tag::Ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_tag_unpacks_to_itself() {
        let slot = (1 << SLOT_BITS) - 1;
        let generation = (1 << GENERATION_BITS) - 1;
        for tag in [
            Tag::Ignored,
            Tag::CancelAll,
            Tag::Connect { slot, generation: 0 },
            Tag::Connect { slot: 0, generation },
            Tag::Receive { slot, generation },
            Tag::Receive { slot: 7, generation: 9 },
            Tag::Send { index: 0 },
            Tag::Send { index: u32::MAX },
        ] {
            assert_eq!(Tag::unpack(tag.pack()), tag);
        }
    }
}
