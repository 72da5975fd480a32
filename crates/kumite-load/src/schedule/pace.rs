//! Pace: when the engine wakes up to send a request that is due.

use std::time::Duration;

/// The precision with which an open loop keeps its schedule, and its cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// The engine wakes up shortly before a request is due, and stays awake until then. This is as exact as can be,
    /// and needs a CPU of its own.
    #[default]
    Precise,
    /// The engine sleeps until a request is due, and is late by the time that the system takes to wake it.
    Sleeping,
    /// The engine wakes up once for all requests that were due in a millisecond, and so sends them up to 1 ms late.
    Economical,
}

/// The time in ns by which the engine wakes up before a request is due. It is longer than the system's usual
/// lateness.
const AWAKE_NS: u64 = 60_000;
const GRAIN_NS: u64 = 1_000_000;

impl Pace {
    /// The share of the time for which this pace keeps a thread awake before requests are due, if the thread sends
    /// `rate` requests a second. It is 1 or more if the thread never sleeps, and 0 if the pace does not keep it
    /// awake.
    pub(crate) fn awake(self, rate: f64) -> f64 {
        if self == Pace::Precise { rate * AWAKE_NS as f64 / 1e9 } else { 0.0 }
    }

    /// The longest time by which this pace intends to send a request late: 1 ms if it is `Economical`, otherwise 0.
    pub fn grain(self) -> Duration {
        Duration::from_nanos(if self == Pace::Economical { GRAIN_NS } else { 0 })
    }

    /// The instant at which to wake up for a request that is due at `due`; `u64::MAX`, for no request, is returned as
    /// it is.
    pub(crate) fn wake(self, due: u64) -> u64 {
        match self {
            Pace::Precise if due < u64::MAX => due.saturating_sub(AWAKE_NS),
            Pace::Economical if due < u64::MAX => due.next_multiple_of(GRAIN_NS),
            _ => due,
        }
    }
}
