//! Which connection a request came on, and whether it is still open.

use tokio::sync::watch;

/// The connection of a request: an extension of each.
#[derive(Clone, Debug)]
pub struct Connection(watch::Receiver<()>);

/// Its connection is closed when this is dropped.
#[derive(Debug)]
pub struct Open(watch::Sender<()>);

impl Open {
    /// A connection that is open now.
    pub fn new() -> Open {
        Open(watch::Sender::new(()))
    }

    /// As its requests know it.
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
    /// Until it is closed.
    pub async fn closed(&self) {
        while self.0.clone().changed().await.is_ok() {}
    }

    /// Whether both are the same.
    pub fn is(&self, other: &Connection) -> bool {
        self.0.same_channel(&other.0)
    }
}
