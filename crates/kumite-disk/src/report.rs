use std::time::Duration;

use hdrhistogram::Histogram;

/// Two minutes in ns; what is later counts as that.
const LATEST: u64 = 120_000_000_000;

/// A slow disk's own account of its life.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// From mounting to its end.
    pub duration: Duration,
    /// Files that were opened.
    pub opens: u64,
    /// Requests to read, those at the end of a file included. The kernel divides what a program reads at once into
    /// requests of 1 MiB.
    pub reads: u64,
    /// Reads that were seeks, and waited for the delay.
    pub seeks: u64,
    /// Bytes that were asked for and there.
    pub bytes: u64,
    /// True if its threads had real-time priority; without it, `lateness` has the waits for a CPU in it.
    pub real_time: bool,
    /// Of each read that waited: the time in ns from when it was due until the kernel had the answer.
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
