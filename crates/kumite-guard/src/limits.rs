//! Limits on clients.

use std::time::Duration;

/// The most that clients may take, in time, connections and memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the first byte of a request to the end of its head.
    pub head: Duration,
    /// From there to the end of its body.
    pub body: Duration,
    /// From one request to the next; none for no limit.
    pub idle: Option<Duration>,
    /// Connections at a time. For one more, that which has done nothing for the longest time is closed.
    pub connections: usize,
    /// Bytes of all bodies that are not whole yet.
    pub body_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head: Duration::from_secs(10),
            body: Duration::from_secs(60),
            idle: Some(Duration::from_secs(60)),
            connections: 512,
            body_bytes: 256 << 20,
        }
    }
}
