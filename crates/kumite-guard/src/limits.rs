//! Limits on the clients of a server.

use std::time::Duration;

/// The most that clients may take, in time, connections and memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest time from the first byte of a request to the end of its head. A connection whose head takes longer
    /// is closed.
    pub head: Duration,
    /// The longest time from the end of a request's head to the end of its body. A body that takes longer is broken
    /// off.
    pub body: Duration,
    /// The longest time that a connection may be idle: from its opening, or from the last byte of an answer, to the
    /// first byte of the next request. None for no limit.
    pub idle: Option<Duration>,
    /// The largest number of open connections. If one more comes, the connection that has been unused for longest is
    /// closed; if all wait for an answer, the new one is closed. A client that does not read its answer does not use its
    /// connection.
    pub connections: usize,
    /// The most bytes of all bodies that are being read. A body that comes beyond that is broken off.
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
