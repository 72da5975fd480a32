//! The connection that a request came on. By it a handler can tell one client's requests from another's, and stop
//! work for a client that has gone.

use tokio::sync::watch;

/// The connection of a request. Each request has it as an extension.
#[derive(Clone, Debug)]
pub struct Connection(watch::Receiver<()>);

/// The server's end of a [`Connection`], which is closed when this is dropped.
#[derive(Debug)]
pub struct Open(watch::Sender<()>);

impl Open {
    /// A new connection, which is open.
    pub fn new() -> Open {
        Open(watch::Sender::new(()))
    }

    /// The connection, which each of its requests gets as an extension.
    pub fn connection(&self) -> Connection {
        Connection(self.0.subscribe())
    }
}

impl Default for Open {
    fn default() -> Open {
        Open::new()
    }
}

impl Connection {
    /// Waits until the connection is closed, by either side; returns at once if it is.
    pub async fn closed(&self) {
        while self.0.clone().changed().await.is_ok() {}
    }

    /// True if both are the same connection.
    pub fn is(&self, other: &Connection) -> bool {
        self.0.same_channel(&other.0)
    }
}
