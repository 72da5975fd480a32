//! Resources that the system limits: open files for a process, and real-time priority for a thread.
//!
//! Both are asked for before what is measured begins. Open files are Linux's; real-time priority is also Windows's, for
//! the macro player.

#[cfg(target_os = "linux")]
mod open_files;
mod real_time;

#[cfg(target_os = "linux")]
pub use open_files::{TooManyConnections, make_room};
pub use real_time::RealTime;
