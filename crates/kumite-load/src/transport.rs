//! Transport: it moves bytes over connections, and says what became of them. It knows no HTTP and no clock.
//!
//! Both transports have one shape. [`Transport::connect`] and [`Transport::send`] begin an operation.
//! [`Transport::wait`] collects what has happened, and [`Transport::next`] hands it out, one event at a time, in the
//! order of each connection. After [`Transport::close`] no more events of a connection are handed out, not even those
//! collected before.

pub(crate) mod epoll;
pub(crate) mod uring;

use rustix::io::Errno;

/// Something that happened on a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TransportEvent<'a> {
    /// A connect that [`Transport::connect`] began has succeeded or failed, told once for each.
    Connected(Result<(), Errno>),
    /// The next bytes that came, at least one.
    Received(&'a [u8]),
    /// The other side has closed its direction.
    Ended,
    /// The kernel has taken all bytes of a send that was not quiet. Only io_uring tells this.
    Sent,
    /// The connection is lost: nothing can be sent or received any more. No other event follows.
    Broken(Errno),
}

/// Connections by slot, from 0, and the bytes on them.
pub(crate) trait Transport {
    /// Begins to connect a slot. [`TransportEvent::Connected`] tells the outcome, unless the error returned here
    /// does.
    fn connect(&mut self, slot: usize) -> Result<(), Errno>;

    /// Sends the request at index `which` among those that the transport was made with, after all bytes sent before.
    /// Only bytes that the kernel does not take at once may be copied.
    fn send_fixed(&mut self, slot: usize, which: usize) -> Result<(), Errno>;

    /// Sends these bytes, after all bytes sent before.
    fn send(&mut self, slot: usize, bytes: Vec<u8>) -> Result<(), Errno>;

    /// Gives the kernel the sends that are only queued, which otherwise happens at the next wait.
    fn flush(&mut self) -> Result<(), Errno>;

    /// An empty buffer to fill for [`send`](Self::send).
    fn spare(&mut self) -> Vec<u8>;

    fn is_sending(&self, slot: usize) -> bool;

    /// The number of bytes to be sent that the kernel has not yet taken. Over io_uring a send counts whole until all
    /// of it is taken, and a quiet one not at all.
    fn unsent(&self, slot: usize) -> usize;

    /// Closes the slot's connection, if it is open. No event of it follows, and the slot can be connected again.
    fn close(&mut self, slot: usize);

    /// Waits until something has happened, at most for `timeout_ns` nanoseconds. Returns `false` if it did not sleep,
    /// because something had happened already or `timeout_ns` is 0.
    fn wait(&mut self, timeout_ns: u64) -> Result<bool, Errno>;

    /// The next event that the last [`wait`](Self::wait) found, with its slot; `None` if there is no more.
    fn next(&mut self) -> Option<(usize, TransportEvent<'_>)>;
}
