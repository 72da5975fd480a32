//! A safe interface over io_uring for the sockets of a load engine: connect, send, receive and close, all by
//! completion.
//!
//! One [`Ring`] serves all connections of one thread. Operations are queued in memory, and go to the kernel with the
//! next [`Ring::wait`] or [`Ring::submit`], or when the queue is full; their outcomes are read out of memory again.
//! So all that happens between two waits shares one system call. A ring needs Linux 6.1; if io_uring is missing, too
//! old or forbidden, [`RingError`] says which.
//!
//! # Unsafe code
//!
//! This crate has most of the workspace's unsafe code. (The rest is in `titan_one.rs` of kumite-play, `memory.rs` of
//! kumite-probe and `uring.rs` of `bench/floor`.) The kernel reads and writes a program's memory behind the
//! compiler's back: after an operation is queued, and until its completion has come, its bytes must neither move nor
//! be freed nor, if the kernel writes them, be looked at. No type can say that to the compiler, so this crate keeps
//! all such memory itself, and lends it out only when the kernel is done with it:
//!
//! - Bytes to send belong to the ring ([`Ring::send_own`] takes them, [`Ring::new`] the shared ones) and are neither
//!   changed nor freed before the completion of their operation. A quiet send has no completion if it succeeds, but
//!   is told not to wait (`MSG_DONTWAIT`): it is over when the system call that submits it returns.
//! - Received bytes lie in buffers that are only reached through raw pointers. A buffer is lent as a slice after the
//!   kernel has given it up, and goes back to the kernel when that slice can no longer be alive: [`Ring::next`]
//!   borrows the ring.
//! - Addresses to connect to, and the numbers of sockets that are registered, lie in a list of fixed capacity. It is
//!   cleared after the system call that submits them, by which time the kernel has copied them.
//! - A ring that is dropped cancels all that is in flight, and frees its memory when the kernel says that nothing is
//!   left. If that takes longer than a second, the memory is leaked.
//! - A ring stays on the thread that made it (it is not `Send`): the kernel would refuse any other.

#[cfg(not(target_os = "linux"))]
compile_error!("kumite-ring is for Linux: io_uring exists nowhere else");

mod buffers;
mod error;
mod ring;
mod sends;
mod tag;

pub use error::RingError;
pub use ring::{Event, QUIET_BYTES, Ring};
