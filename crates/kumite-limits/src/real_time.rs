//! Real-time priority for a thread that must be on time: SCHED_FIFO on Linux, "time critical" on Windows, none
//! elsewhere.
//!
//! Linux permits SCHED_FIFO to root, with CAP_SYS_NICE, and where RLIMIT_RTPRIO is 10 or more (`ulimit -r`; `rtprio`
//! in limits.conf).
//!
//! Only a thread that sleeps now and then should have it. If a real-time thread never sleeps and another thread waits
//! for its CPU, the kernel takes the CPU from it for 50 ms in each second. A real-time thread should not start other
//! threads either: they would inherit the priority.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::RealTime;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::RealTime;

#[cfg(not(any(target_os = "linux", windows)))]
mod elsewhere;
#[cfg(not(any(target_os = "linux", windows)))]
pub use elsewhere::RealTime;
