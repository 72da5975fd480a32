//! Real-time priority for a thread that must be on time: SCHED_FIFO on Linux, "time critical" on Windows, none elsewhere.
//!
//! Linux permits it to root, with CAP_SYS_NICE, and where RLIMIT_RTPRIO is 10 or more (`ulimit -r`; `rtprio` in
//! limits.conf).
//!
//! Only for threads that sleep now and then: the kernel takes a CPU from a real-time thread that wants it always, for 50 ms
//! in a second, if anybody else waits. And for threads that start none: those would have it too.

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
