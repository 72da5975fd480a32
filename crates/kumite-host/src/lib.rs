//! The machine: its facts, its CPUs and clocks, and the noise on it.
//!
//! This crate reads what the kernel says in `/proc` and `/sys`, and starts no process. The only file that it makes is
//! that of the [`Lock`].

mod clock;
mod cores;
mod cpu_list;
mod facts;
mod groups;
mod heartbeat;
mod lock;
mod machine;
mod noise;
mod system;

pub use clock::{Clock, RealClock};
pub use cores::{AskedCores, CoresError, GivenCores, WantedCores};
pub use cpu_list::{CpuList, CpuListError};
pub use facts::facts;
pub use heartbeat::Heartbeat;
pub use lock::{Holder, Lock, LockError, LockFileError, User};
pub use machine::{boot, cores, machine};
pub use noise::{Clocks, Noise, Ours, Watch, own_cpu};
