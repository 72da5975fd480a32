//! The order of calls where all instances are busy: calls that somebody waits for go before those that nobody waits
//! for, each kind in the order in which they came.
//!
//! Calls that nobody waits for use what the others leave, and never cost them their place: there is room for as many
//! calls with a caller as there are slots, whatever is in the slots now.

use std::sync::{Mutex as StdMutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex, Notify};

use crate::slots::Slots;

/// The slots, and the calls that wait for one.
pub(crate) struct Turns<I> {
    state: StdMutex<TurnState<I>>,
    /// Tells waiting calls that the state has changed.
    changed: Notify,
    /// The line of calls with a caller; `events` is that of the others. tokio's mutex lets them in in order, and the
    /// one inside is the next of its kind.
    callers: Mutex<()>,
    events: Mutex<()>,
}

struct TurnState<I> {
    slots: Slots<I>,
    /// The number of calls that somebody waits for, with a slot or without.
    callers: usize,
    /// The number of calls that somebody waits for and that have a slot.
    served: usize,
}

/// The place of a call: first in a line, then in a slot. Dropping it frees both.
pub(crate) struct Turn<'t, I> {
    turns: &'t Turns<I>,
    is_caller: bool,
    slot: Option<usize>,
    /// The instance in the slot; none if it has none.
    pub instance: Option<I>,
}

impl<I> Turns<I> {
    pub fn new(slots: Slots<I>) -> Turns<I> {
        Turns {
            state: StdMutex::new(TurnState { slots, callers: 0, served: 0 }),
            changed: Notify::new(),
            callers: Mutex::default(),
            events: Mutex::default(),
        }
    }

    /// Waits for the turn of a call that somebody waits for. `None` if as many such calls are waiting or served as
    /// there are slots.
    pub async fn of_caller(&self) -> Option<Turn<'_, I>> {
        {
            let mut state = self.state();
            if state.callers >= state.slots.count() {
                return None;
            }
            state.callers += 1;
        }
        let mut turn = Turn { turns: self, is_caller: true, slot: None, instance: None };
        let _next = self.callers.lock().await;
        let taken = self.until(|state| {
            let taken = state.slots.take()?;
            state.served += 1;
            Some(taken)
        });
        let (slot, instance) = taken.await;
        (turn.slot, turn.instance) = (Some(slot), instance);
        Some(turn)
    }

    /// Waits for the turn of a call that nobody waits for.
    pub async fn of_event(&self) -> Turn<'_, I> {
        let _next = self.events.lock().await;
        let taken = self.until(|state| {
            let callers_wait = state.callers > state.served;
            if callers_wait { None } else { state.slots.take() }
        });
        let (slot, instance) = taken.await;
        Turn { turns: self, is_caller: false, slot: Some(slot), instance }
    }

    /// Takes the instances of all idle slots. The second value is true if no slot is busy.
    pub fn drain(&self) -> (Vec<I>, bool) {
        self.state().slots.drain()
    }

    async fn until<T>(&self, mut found: impl FnMut(&mut TurnState<I>) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = found(&mut self.state()) {
                return found;
            }
            changed.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, TurnState<I>> {
        // Nothing here panics while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<I> Drop for Turn<'_, I> {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        state.callers -= usize::from(self.is_caller);
        if let Some(slot) = self.slot {
            state.served -= usize::from(self.is_caller);
            state.slots.put(slot, self.instance.take());
        }
        drop(state);
        self.turns.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::mpsc;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::Routing;

    fn turns(count: u32) -> Arc<Turns<()>> {
        Arc::new(Turns::new(Slots::new(Routing::WarmFirst, count)))
    }

    /// Calls in their order, and a way to end each.
    struct Calls {
        turns: Arc<Turns<()>>,
        told: mpsc::UnboundedReceiver<&'static str>,
        tell: mpsc::UnboundedSender<&'static str>,
    }

    impl Calls {
        fn new(count: u32) -> Calls {
            let (tell, told) = mpsc::unbounded_channel();
            Calls { turns: turns(count), told, tell }
        }

        /// A call that keeps its slot until its task is aborted.
        async fn call(&self, name: &'static str, is_caller: bool) -> JoinHandle<()> {
            let (turns, tell) = (Arc::clone(&self.turns), self.tell.clone());
            let task = tokio::spawn(async move {
                let turn = match is_caller {
                    true => turns.of_caller().await,
                    false => Some(turns.of_event().await),
                };
                if turn.is_none() {
                    let _ = tell.send("refused");
                    return;
                }
                let _ = tell.send(name);
                std::future::pending::<()>().await;
            });
            settle().await;
            task
        }

        async fn ended(&self, task: JoinHandle<()>) {
            task.abort();
            settle().await;
        }

        /// The names of the calls that have had their turn since the last look.
        fn had(&mut self) -> Vec<&'static str> {
            std::iter::from_fn(|| self.told.try_recv().ok()).collect()
        }
    }

    /// Waits until no call can go on.
    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn calls_that_nobody_waits_for_go_on_in_the_order_in_which_they_came() {
        let mut calls = Calls::new(2);
        let a = calls.call("a", false).await;
        let b = calls.call("b", false).await;
        let c = calls.call("c", false).await;
        let _d = calls.call("d", false).await;
        assert_eq!(calls.had(), ["a", "b"]);
        calls.ended(b).await;
        assert_eq!(calls.had(), ["c"]);
        calls.ended(a).await;
        assert_eq!(calls.had(), ["d"]);
        let _e = calls.call("e", false).await;
        assert!(calls.had().is_empty());
        calls.ended(c).await;
        assert_eq!(calls.had(), ["e"]);
    }

    #[tokio::test]
    async fn a_caller_is_next_and_is_not_refused_for_calls_that_nobody_waits_for() {
        let mut calls = Calls::new(2);
        let a = calls.call("a", false).await;
        let b = calls.call("b", false).await;
        let _c = calls.call("c", false).await;
        let first = calls.call("first", true).await;
        let _second = calls.call("second", true).await;
        assert_eq!(calls.had(), ["a", "b"]);
        let _third = calls.call("third", true).await;
        assert_eq!(calls.had(), ["refused"], "there are as many callers as slots");
        calls.ended(a).await;
        assert_eq!(calls.had(), ["first"]);
        calls.ended(b).await;
        assert_eq!(calls.had(), ["second"]);
        calls.ended(first).await;
        assert_eq!(calls.had(), ["c"]);
    }

    #[tokio::test]
    async fn callers_that_come_again_and_again_do_not_keep_out_the_others() {
        let mut calls = Calls::new(1);
        let mut caller = calls.call("caller", true).await;
        let mut event = calls.call("event", false).await;
        for _ in 0..3 {
            assert_eq!(calls.had(), ["caller"]);
            calls.ended(caller).await;
            assert_eq!(calls.had(), ["event"]);
            caller = calls.call("caller", true).await;
            let next = calls.call("event", false).await;
            calls.ended(std::mem::replace(&mut event, next)).await;
        }
    }

    #[tokio::test]
    async fn who_goes_away_leaves_its_place() {
        let mut calls = Calls::new(1);
        let a = calls.call("a", false).await;
        let gone = calls.call("gone", false).await;
        let _b = calls.call("b", false).await;
        let caller = calls.call("caller", true).await;
        for task in [gone, caller] {
            calls.ended(task).await;
        }
        assert_eq!(calls.had(), ["a"]);
        calls.ended(a).await;
        assert_eq!(calls.had(), ["b"]);
        assert_eq!(calls.turns.drain(), (vec![], false));
    }
}
