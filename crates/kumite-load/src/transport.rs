//! Transport: moves bytes over connections, and says what became of them. It knows no HTTP and no clock.
//!
//! Both transports have one shape. What is asked for is begun ([`Transport::connect`], [`Transport::send`]); what
//! happened is collected with [`Transport::wait`] and handed out by [`Transport::next`], one event at a time, in the
//! order of each connection. After [`Transport::close`] nothing more is told of a connection, also not what was
//! collected before.

pub(crate) mod epoll;
pub(crate) mod uring;

use rustix::io::Errno;

/// Something that happened on a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TransportEvent<'a> {
    /// The end of a [`Transport::connect`], once for each that began.
    Connected(Result<(), Errno>),
    /// The next bytes that came; never none.
    Received(&'a [u8]),
    /// The other side has closed its direction.
    Ended,
    /// The kernel has taken the rest of what it could not take at once.
    Sent,
    /// Nothing can be sent or received any more. No other event follows.
    Broken(Errno),
}

/// Connections by slot, from 0, and the bytes on them.
pub(crate) trait Transport {
    /// Begins to connect; [`TransportEvent::Connected`] tells how it went.
    fn connect(&mut self, slot: usize) -> Result<(), Errno>;

    /// Sends one of the requests that were given to the transport when it was made, after what was given before. No
    /// bytes are copied.
    fn send_fixed(&mut self, slot: usize, which: usize) -> Result<(), Errno>;

    /// Sends these bytes, after what was given before.
    fn send(&mut self, slot: usize, bytes: Vec<u8>) -> Result<(), Errno>;

    /// Has the kernel take now what was given and only queued, which else happens at the next wait.
    fn flush(&mut self) -> Result<(), Errno>;

    /// An empty buffer to fill for [`send`](Self::send).
    fn spare(&mut self) -> Vec<u8>;

    fn is_sending(&self, slot: usize) -> bool;

    /// Bytes that were given and that the kernel has not yet taken.
    fn unsent(&self, slot: usize) -> usize;

    /// Closes the connection, if it is open. Nothing more happens on it; it can be connected again.
    fn close(&mut self, slot: usize);

    /// Waits until something has happened, for `timeout_ns` at most. Returns `false` if something had happened
    /// before, so that it did not sleep.
    fn wait(&mut self, timeout_ns: u64) -> Result<bool, Errno>;

    /// The next of what the last [`wait`](Self::wait) found; none if that was all.
    fn next(&mut self) -> Option<(usize, TransportEvent<'_>)>;
}

/// The system interface that moves the bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Io {
    /// io_uring where the system has it and allows it, else epoll.
    #[default]
    Auto,
    /// epoll.
    Epoll,
    /// io_uring.
    Uring,
}

impl std::fmt::Display for Io {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Io::Auto => "auto",
            Io::Epoll => "epoll",
            Io::Uring => "io_uring",
        })
    }
}
