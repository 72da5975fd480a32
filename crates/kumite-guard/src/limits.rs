//! Limits on the clients of a server.

use std::time::Duration;

/// The most that clients may take, in time, connections and memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest time from the first byte of a request to the end of its head. After it the connection is closed.
    pub head: Duration,
    /// The longest time from the end of a request's head to the end of its body. A later body is broken off.
    pub body: Duration,
    /// The longest time without a byte, from the opening of the connection or from an answer to the next request;
    /// none for no limit.
    pub idle: Option<Duration>,
    /// The largest number of open connections. If one more comes, the connection that has been unused for longest is
    /// closed; if all are being answered, the new one is closed.
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
