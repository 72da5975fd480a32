//! Ending a warm-up whose length is not known beforehand.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::record::times::INTERVAL_NS;

/// A handle that opens a load's window sooner than [`Load::warm_up`](crate::Load::warm_up) says: that time is then the
/// longest for the warm-up. A handle works for one load only.
///
/// All threads of the engine open their windows at the same instant, which no thread has passed when it is chosen.
#[derive(Debug, Clone, Default)]
pub struct Opener(Arc<Mutex<Instants>>);

/// Instants in ns since the load began.
#[derive(Debug, Default)]
struct Instants {
    /// The latest end of an interval that any thread has reached.
    reached: u64,
    opens: Option<u64>,
}

impl Opener {
    /// Makes the window open 0.2 s after the latest end of an interval that any thread has reached. Returns the instant
    /// of opening, counted from the load's beginning. Further calls return the same instant. If the warm-up ends
    /// earlier anyway, the call changes nothing, and the window opens before the returned instant.
    pub fn open(&self) -> Duration {
        let mut instants = self.lock();
        let soon = instants.reached.saturating_add(2 * INTERVAL_NS);
        Duration::from_nanos(*instants.opens.get_or_insert(soon))
    }

    /// Notes that a thread has reached this end of an interval. Returns the instant at which the window opens, if it
    /// was chosen; both are in ns since the load began.
    pub(crate) fn reach(&self, end: u64) -> Option<u64> {
        let mut instants = self.lock();
        instants.reached = instants.reached.max(end);
        instants.opens
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Instants> {
        self.0.lock().expect("nobody panics while it holds two numbers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_opens_beyond_what_any_thread_has_reached_and_all_are_told_the_same() {
        let opener = Opener::default();
        for end in [1, 2, 5, 3].map(|nth| nth * INTERVAL_NS) {
            assert_eq!(opener.reach(end), None);
        }
        assert_eq!(opener.open(), Duration::from_millis(700));
        assert_eq!([4, 6].map(|nth| opener.reach(nth * INTERVAL_NS)), [Some(7 * INTERVAL_NS); 2]);
        assert_eq!(opener.open(), Duration::from_millis(700), "it is chosen once");
    }
}
