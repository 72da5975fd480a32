//! Resources that the system limits: open files for a process, and real-time priority for a thread.
//!
//! Ask for both before anything is measured. The limit on open files is raised on Linux only; real-time priority is
//! to be had on Linux, and on Windows for the macro player.

#[cfg(target_os = "linux")]
mod open_files;
mod real_time;

#[cfg(target_os = "linux")]
pub use open_files::{TooManyConnections, make_room};
pub use real_time::RealTime;
