//! Transport: moves bytes over connections, and says what became of them. When, and what counts, is not its affair.
//!
//! Both transports have one shape: what is asked for is begun ([`Transport::connect`], [`Transport::send`]), and what
//! happened is collected with [`Transport::wait`] and handed out by [`Transport::next`].

pub(crate) mod epoll;
pub(crate) mod uring;

use rustix::io::Errno;

/// What became of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TransportEvent<'a> {
    /// The answer to a [`Transport::connect`], once.
    Connected(Result<(), Errno>),
    /// The next bytes that came; never none.
    Received(&'a [u8]),
    /// The other side sends no more.
    Ended,
    /// The kernel has taken the rest of what it could not take at once.
    Sent,
    /// Nothing can be sent or received any more.
    Broken(Errno),
}

/// Connections by number, from 0, and the bytes on them.
pub(crate) trait Transport {
    /// Begins to connect; [`TransportEvent::Connected`] tells how it went.
    fn connect(&mut self, slot: usize) -> Result<(), Errno>;

    /// Sends one of the requests that are known from the beginning, after what was given before.
    fn send_fixed(&mut self, slot: usize, which: usize) -> Result<(), Errno>;

    /// Sends these bytes, after what was given before.
    fn send(&mut self, slot: usize, bytes: Vec<u8>) -> Result<(), Errno>;

    /// Has the kernel take what was given and only queued, as it does at the next wait.
    fn flush(&mut self) -> Result<(), Errno>;

    /// An empty buffer to fill for [`send`](Self::send).
    fn spare(&mut self) -> Vec<u8>;

    /// Whether the kernel has not yet taken all that was given.
    fn is_sending(&self, slot: usize) -> bool;

    /// How many bytes the kernel has not yet taken, of what was given.
    fn unsent(&self, slot: usize) -> usize;

    /// Closes the connection, if it is open. Nothing more happens on it; it can be connected again.
    fn close(&mut self, slot: usize);

    /// Waits until something has happened, at most for so many ns; whether it had to: if not, it may have happened before.
    fn wait(&mut self, timeout_ns: u64) -> Result<bool, Errno>;

    /// The next of what the last [`wait`](Self::wait) found; none if that was all.
    fn next(&mut self) -> Option<(usize, TransportEvent<'_>)>;
}

/// What moves the bytes.
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
