//! Resources that the system limits: open files for a process, and real-time priority for a thread.
//!
//! Ask for both before anything is measured. The limit on open files is raised on Linux only. Real-time priority is
//! given on Linux, where it needs a permission, and on Windows.

#[cfg(target_os = "linux")]
mod open_files;
mod real_time;

#[cfg(target_os = "linux")]
pub use open_files::{TooManyConnections, make_room};
pub use real_time::RealTime;
