//! Stopping a tree where it is, and letting it go on.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::stops::Hold;
use crate::{Tree, proc_fs};

/// The time within which a tree must stand still. On a machine that is not overloaded milliseconds are enough.
const LIMIT: Duration = Duration::from_secs(5);

impl Tree {
    /// Stops every process of the tree where it is (SIGSTOP), also those that left the root's process group. Returns
    /// `true` when all of them stand still and no new one is found. Returns `false` if that is not so within 5
    /// seconds, as when one may not be signalled (another user's).
    ///
    /// Only the work of the tree's processes is stopped. The kernel still works for them (accepts connections into
    /// the backlog, data into buffers), and time goes on: a timer that expired meanwhile fires at the resume.
    /// Processes that are no members go on, too: a daemon that works for the tree (such as a container's), or one
    /// that has escaped. Memory stays taken. A parent that asks for it (WUNTRACED) sees that its child was stopped.
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

    /// Lets every process of the tree go on (SIGCONT), even one that had stopped itself.
    pub fn resume(&mut self) {
        self.members.rescan();
        self.signal_all(Signal::SIGCONT);
        self.hold = None;
    }
}
