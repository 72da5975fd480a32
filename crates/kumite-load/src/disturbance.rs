//! Failures that are induced on purpose, to see how a server recovers.

use std::time::Duration;

/// A failure that is induced when the window closes, and watched. The load's own connections go on all the time, in
/// their closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disturbance {
    /// The kind of failure.
    pub kind: DisturbanceKind,
    /// How long the server is watched once it is over and the last request of a burst is finished. To confirm a recovery
    /// it takes 1.5 time-outs more than the recovery itself.
    pub watch: Duration,
}

/// How a server is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisturbanceKind {
    /// The caller stops the server when it is told [`Event::Pause`](crate::Event::Pause) and lets it go on when it is
    /// told [`Event::Resume`](crate::Event::Resume), so long after. The disturbance is over then.
    Pause(Duration),
    /// So many connections are opened at once, beside the load's own and without their limit of 64. Each sends one
    /// request when it is established, and is closed when that is finished, which is after two time-outs at most: one to
    /// connect, one to answer. The disturbance is over when the last connect is begun: what the server makes of them is
    /// its recovery.
    Burst(usize),
    /// Nothing is done to it: the load's own arrivals are to fall off then. It is over at once.
    Drop,
}

impl Disturbance {
    /// The connections that it needs beside the load's own.
    pub fn connections(&self) -> usize {
        match self.kind {
            DisturbanceKind::Pause(_) | DisturbanceKind::Drop => 0,
            DisturbanceKind::Burst(connections) => connections,
        }
    }
}
