//! Stopping a tree where it is, and letting it go on.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::stops::Hold;
use crate::{Tree, proc_fs};

/// Milliseconds will do, on a machine that is not overloaded.
const LIMIT: Duration = Duration::from_secs(5);

impl Tree {
    /// Stops every process of the tree where it is (SIGSTOP), also those that left the root's process group. Returns
    /// when all of them stand still and no new one is found, and whether that was so within 5 seconds: `false` if one
    /// may not be signalled (another user's).
    ///
    /// Stopped is what the tree's processes do. Not stopped is what the kernel does for them (connections are accepted
    /// into the backlog, data into buffers), and time: a timer that expired meanwhile fires at the resume. Nor are those
    /// that are no members: what a daemon from before runs for them (a container), and who escaped. Memory stays
    /// taken. A parent that asks for it (WUNTRACED) sees that its child was stopped.
    pub fn pause(&mut self) -> bool {
        self.hold.get_or_insert_with(Hold::begin);
        let last = Instant::now() + LIMIT;
        let mut stopped = BTreeSet::new();
        loop {
            self.members.rescan();
            let running: Vec<i32> = self.members.running().map(|(pid, _)| pid).collect();
            // All stood still before the scan that found them, so there is nobody left to start another.
            if running.iter().all(|pid| stopped.contains(pid)) {
                return true;
            }
            if Instant::now() >= last {
                return false;
            }
            self.signal_all(Signal::SIGSTOP);
            thread::sleep(Duration::from_millis(1));
            stopped = running.into_iter().filter(|&pid| proc_fs::stands_still(pid)).collect();
        }
    }

    /// Lets every process of the tree go on (SIGCONT), also one that had stopped itself.
    pub fn resume(&mut self) {
        self.members.rescan();
        self.signal_all(Signal::SIGCONT);
        self.hold = None;
    }
}
