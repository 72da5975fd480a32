//! Disturbances that are made on purpose, to see how a server recovers.

use std::time::Duration;

/// A disturbance that begins when the window closes, and the time for which the server is watched after it. The load
/// itself, in a closed or an open loop, goes on all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disturbance {
    /// The kind of disturbance.
    pub kind: DisturbanceKind,
    /// The time for which the server is watched, counted from when the disturbance is over and the last request of a
    /// burst is finished. A recovery is confirmed only if the watch goes on for 1.5 time-outs after it.
    pub watch: Duration,
}

/// The kinds of disturbance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisturbanceKind {
    /// The server is stopped for this time: the caller stops it at [`Event::Pause`](crate::Event::Pause), and lets it
    /// go on at [`Event::Resume`](crate::Event::Resume). The disturbance is over then.
    Pause(Duration),
    /// This number of connections is opened at once, beside the load's own and without their limit of 64. Each sends
    /// one request when it is established, and is closed when the request is finished. This takes at most two
    /// time-outs: one to connect, one to answer. The disturbance is over when the last connect is begun: the recovery
    /// counts from then, or from the first failure if it comes later.
    Burst(usize),
    /// Nothing is done to the server: the load's own arrivals are to fall off when the window closes. The disturbance
    /// is over at once.
    Drop,
}

impl Disturbance {
    /// The number of connections that the disturbance needs beside the load's own.
    pub fn connections(&self) -> usize {
        match self.kind {
            DisturbanceKind::Pause(_) | DisturbanceKind::Drop => 0,
            DisturbanceKind::Burst(connections) => connections,
        }
    }
}
