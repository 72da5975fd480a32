//! The slow disk: a read-only mirror of a folder's plain files, mounted by FUSE, on which every seek takes a set
//! time.
//!
//! A program that reads from it waits in the kernel as for a real disk, whatever it reads with: `read`, `pread`,
//! io_uring, a thread pool. (Maps of a file into memory go through the kernel's cache. io_uring takes every file of
//! FUSE for pollable and ready, and waits within the submission, unless it is asked with `IOSQE_ASYNC`.)
//!
//! - **A seek waits, what follows it does not.** A read is a seek if it does not begin where the last read of the
//!   same open file ended; the first read of an open file is one. Reads that go on from there, and those at the end
//!   of the file, are answered at once. So a file that is read from beginning to end costs one delay, be it read at
//!   one go or in chunks of 8 KiB. Were each read to wait, the sizes of contenders' buffers would decide. (A disk
//!   does likewise, for it reads ahead.) A further chunk costs the way here and back, which is FUSE's own cost. A
//!   read that goes on from a seek which is still under way waits for that seek.
//! - **There is one head.** Seeks are served one at a time, in the order in which they came: N at once are done after
//!   N delays. Each begins when the last one was due, so lateness does not add up.
//! - **Nothing else waits**: neither opening a file nor asking for its size, nor do these queue behind reads. A real
//!   disk has them in the kernel's memory.
//! - **The kernel caches nothing** and reads nothing ahead (`FOPEN_DIRECT_IO`): the same file costs the same again.
//!   Names and sizes it may keep: the folder must not change while it is mounted.
//! - **The delay counts from when the request came here**, and is never shorter. How much longer, until the kernel
//!   had the answer, is recorded for each read that waited ([`Report::lateness`]). What the reader waits beside that,
//!   for its request to come here and to be woken, is not in it.

mod disk;
mod error;
mod file_system;
mod files;
mod head;
mod left;
mod mirror;
mod priority;
mod queue;
mod report;

pub use disk::{Disk, available, unmount};
pub use error::{Error, NoFuse};
pub use files::{file_text, write_files};
pub use left::{dead, unmount_below};
pub use report::Report;

/// The longest delay of a seek. A reader that waits cannot be killed, and many may wait for each other.
pub const LONGEST_DELAY: std::time::Duration = std::time::Duration::from_secs(10);
