//! Pace: when the engine wakes for a request that is due.

use std::time::Duration;

/// How exactly an open loop keeps its schedule, and what that may cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As exactly as can be: the engine wakes shortly before a request is due and stays awake until then. It needs a CPU
    /// of its own.
    #[default]
    Precise,
    /// The engine sleeps until a request is due, and wakes late by what the system takes.
    Sleeping,
    /// The engine wakes once for all requests that were due in a millisecond.
    Economical,
}

/// The engine wakes so long before a request is due: longer than the system usually wakes late.
const AWAKE_NS: u64 = 60_000;
const GRAIN_NS: u64 = 1_000_000;

impl Pace {
    /// The share of the time for which it keeps a thread awake that sends `rate` requests a second.
    pub(crate) fn awake(self, rate: f64) -> f64 {
        if self == Pace::Precise { rate * AWAKE_NS as f64 / 1e9 } else { 0.0 }
    }

    /// The most by which a request is sent later than it is due by design.
    pub fn grain(self) -> Duration {
        Duration::from_nanos(if self == Pace::Economical { GRAIN_NS } else { 0 })
    }

    /// The instant to wake at for a request that is due at `due`; `u64::MAX` stays that.
    pub(crate) fn wake(self, due: u64) -> u64 {
        match self {
            Pace::Precise if due < u64::MAX => due.saturating_sub(AWAKE_NS),
            Pace::Economical if due < u64::MAX => due.next_multiple_of(GRAIN_NS),
            _ => due,
        }
    }
}
