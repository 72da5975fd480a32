//! The slots for instances, and the choice of the slot that a call gets.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Routing;

/// The slots for instances, at most one in each.
#[derive(Debug)]
pub(crate) struct Slots<I> {
    routing: Routing,
    random: ChaCha8Rng,
    slots: Vec<Slot<I>>,
    /// The number of times that a slot was freed: it tells which instance was used last.
    puts: u64,
}

#[derive(Debug)]
enum Slot<I> {
    Empty,
    Idle { instance: I, since: u64 },
    Busy,
}

impl<I> Slots<I> {
    pub fn new(routing: Routing, count: u32) -> Slots<I> {
        let seed = match routing {
            Routing::Spread(seed) => seed,
            Routing::WarmFirst => 0,
        };
        let slots = (0..count).map(|_| Slot::Empty).collect();
        Slots { routing, random: ChaCha8Rng::seed_from_u64(seed), slots, puts: 0 }
    }

    /// The number of slots, empty and busy ones included.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Takes a slot that is not busy, and the instance in the slot if there is one. The slot is busy from then on. None
    /// if all slots are busy.
    pub fn take(&mut self) -> Option<(usize, Option<I>)> {
        let free = |slot: &Slot<I>| !matches!(slot, Slot::Busy);
        let since = |slot: &Slot<I>| match slot {
            Slot::Idle { since, .. } => Some(*since),
            _ => None,
        };
        let nth = match self.routing {
            Routing::Spread(_) => {
                let free: Vec<usize> = (0..self.slots.len()).filter(|&nth| free(&self.slots[nth])).collect();
                *free.get(self.random.random_range(0..free.len().max(1)))?
            }
            // Empty ones have no `since`, which is less than any.
            Routing::WarmFirst => {
                let free = (0..self.slots.len()).rev().filter(|&nth| free(&self.slots[nth]));
                free.max_by_key(|&nth| since(&self.slots[nth]))?
            }
        };
        let instance = match std::mem::replace(&mut self.slots[nth], Slot::Busy) {
            Slot::Idle { instance, .. } => Some(instance),
            _ => None,
        };
        Some((nth, instance))
    }

    /// Frees slot `nth`. The instance stays in the slot; without one, the slot is empty.
    pub fn put(&mut self, nth: usize, instance: Option<I>) {
        self.puts += 1;
        let idle = |instance| Slot::Idle { instance, since: self.puts };
        self.slots[nth] = instance.map_or(Slot::Empty, idle);
    }

    /// Takes the instances of all idle slots. The second value is true if no slot is busy.
    pub fn drain(&mut self) -> (Vec<I>, bool) {
        let mut idle = Vec::new();
        for slot in &mut self.slots {
            if matches!(slot, Slot::Idle { .. })
                && let Slot::Idle { instance, .. } = std::mem::replace(slot, Slot::Empty)
            {
                idle.push(instance);
            }
        }
        let quiet = self.slots.iter().all(|slot| !matches!(slot, Slot::Busy));
        (idle, quiet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes calls one after another, to instances that are named after their slots. Returns the slot of each call, and
    /// true if it was cold.
    fn offered(routing: Routing, count: u32, calls: usize) -> Vec<(usize, bool)> {
        let mut slots = Slots::<usize>::new(routing, count);
        let one = |_| {
            let (nth, instance) = slots.take().unwrap();
            assert!(instance.is_none_or(|name| name == nth));
            slots.put(nth, Some(nth));
            (nth, instance.is_none())
        };
        (0..calls).map(one).collect()
    }

    #[test]
    fn spread_uses_all_slots_and_a_seed_repeats_it() {
        let calls = offered(Routing::Spread(7), 2, 12);
        assert_eq!(calls, offered(Routing::Spread(7), 2, 12));
        assert_ne!(calls, offered(Routing::Spread(8), 2, 12));
        assert_eq!(calls.iter().filter(|(_, cold)| *cold).count(), 2);
        assert!(calls[0].1, "the first call is cold");
        let many = offered(Routing::Spread(1), 4, 4000);
        for nth in 0..4 {
            let share = many.iter().filter(|(slot, _)| *slot == nth).count();
            assert!((850..1150).contains(&share), "slot {nth} had {share} of 4,000");
        }
    }

    #[test]
    fn with_two_slots_every_other_second_call_is_cold() {
        let cold = (0..1000).filter(|seed| offered(Routing::Spread(*seed), 2, 2)[1].1).count();
        assert!((420..580).contains(&cold), "{cold} of 1,000");
    }

    #[test]
    fn warm_first_starts_no_second_instance_while_one_is_free() {
        let calls = offered(Routing::WarmFirst, 3, 5);
        assert_eq!(calls, [(0, true), (0, false), (0, false), (0, false), (0, false)]);
    }

    #[test]
    fn warm_first_takes_the_last_used() {
        let mut slots = Slots::<&str>::new(Routing::WarmFirst, 3);
        let (a, b) = (slots.take().unwrap().0, slots.take().unwrap().0);
        slots.put(b, Some("b"));
        slots.put(a, Some("a"));
        assert_eq!(slots.take(), Some((a, Some("a"))));
        assert_eq!(slots.take(), Some((b, Some("b"))));
        assert_eq!(slots.take().unwrap().1, None, "the third is started");
        assert_eq!(slots.take(), None, "all are busy");
        assert_eq!(slots.drain(), (vec![], false));
        slots.put(b, Some("b"));
        slots.put(a, None);
        assert_eq!(slots.drain(), (vec!["b"], false));
    }

    #[test]
    fn spread_gives_no_slot_when_all_are_busy() {
        let mut slots = Slots::<()>::new(Routing::Spread(0), 1);
        assert!(slots.take().is_some());
        assert_eq!(slots.take(), None);
    }
}
