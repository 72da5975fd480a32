//! The account that a slow disk gives of itself: how long it was there, and how late its answers were.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The greatest lateness that is recorded, two minutes in ns: a greater one counts as that.
const LATEST: u64 = 120_000_000_000;

/// A slow disk's own account of its whole life.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The time from mounting to the end.
    pub duration: Duration,
    /// The number of times that a file was opened.
    pub opens: u64,
    /// The number of requests to read, those at the end of a file included. The kernel divides a large read of a
    /// program into requests of 1 MiB.
    pub reads: u64,
    /// The number of reads that were seeks, and waited for the delay.
    pub seeks: u64,
    /// The number of bytes that reads got, including bytes of reads that failed, or were still to be answered when the
    /// disk ended.
    pub bytes: u64,
    /// True if the thread that answers reads had real-time priority; without it, `lateness` has the waits for a CPU
    /// in it.
    pub real_time: bool,
    /// The lateness of each read that waited and was answered: the time in ns from when it was due until the kernel
    /// had the answer; at most two minutes.
    pub lateness: Histogram<u64>,
}

impl Report {
    pub(crate) fn new() -> Report {
        let lateness = Histogram::new_with_bounds(1, LATEST, 3);
        Report {
            duration: Duration::ZERO,
            opens: 0,
            reads: 0,
            seeks: 0,
            bytes: 0,
            real_time: false,
            lateness: lateness.expect("these bounds are sound"),
        }
    }
}
