//! Finds descendants of this process that somebody else has stopped.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::proc_fs::{self, Stat};

/// The number of looks at known processes for each look for new ones.
const LOOKS_PER_SCAN: u32 = 2;

/// The number of holds that there are now; `EVER_HELD` counts all that there have been.
static HELD: AtomicU64 = AtomicU64::new(0);
static EVER_HELD: AtomicU64 = AtomicU64::new(0);

/// While a hold lives, we stop processes ourselves, and [`Stops`] finds none. Make it before the first signal, and
/// drop it after the last SIGCONT. A freeze by cgroups needs none, because a frozen process is not in state T.
#[derive(Debug)]
pub(crate) struct Hold(());

impl Hold {
    pub fn begin() -> Hold {
        // In this order whoever looks meanwhile sees one of them.
        HELD.fetch_add(1, SeqCst);
        EVER_HELD.fetch_add(1, SeqCst);
        Hold(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        HELD.fetch_sub(1, SeqCst);
    }
}

/// Looks for stopped processes among the descendants of this process, such as trees and helpers. An unseen descendant
/// whose parent has ended is found only if a subreaper has taken it over: this process ([`crate::become_subreaper`]) or
/// one of the descendants.
#[derive(Debug)]
pub struct Stops {
    /// The starts of the known descendants, by their ids.
    known: BTreeMap<i32, u64>,
    newest: Option<i32>,
    looks: u32,
}

impl Stops {
    /// Begins with the descendants that this process has now. To find them, it looks once at every process on the
    /// machine.
    pub fn begin() -> Stops {
        let mut stops = Stops { known: BTreeMap::new(), newest: proc_fs::newest(), looks: 0 };
        stops.adopt(|_| true);
        stops
    }

    /// The name of a descendant that stands still, stopped by a signal (state T) or a tracer (t); its id if the name
    /// cannot be read. `None` if there is none, or we stop processes ourselves. It is made to be called 20 times a
    /// second: each call looks at the known descendants, and every second call also for new ones.
    pub fn look(&mut self) -> Option<String> {
        self.looks += 1;
        if self.looks.is_multiple_of(LOOKS_PER_SCAN) {
            self.adopt_new();
        }
        let ever_held = EVER_HELD.load(SeqCst);
        if HELD.load(SeqCst) > 0 {
            return None;
        }
        let mut stopped = None;
        self.known.retain(|&pid, started| {
            let stat = Stat::read_leader(pid).filter(|stat| stat.started == *started);
            if stat.as_ref().is_some_and(Stat::is_stopped) {
                stopped = Some(pid);
            }
            stat.is_some()
        });
        // Otherwise we may have stopped it ourselves meanwhile.
        let not_us = HELD.load(SeqCst) == 0 && EVER_HELD.load(SeqCst) == ever_held;
        stopped.filter(|_| not_us).map(|pid| proc_fs::name(pid).unwrap_or_else(|| format!("process {pid}")))
    }

    /// Looks for new descendants. The kernel gives out ids in a circle, so new processes lie between the newest of
    /// then and of now. The newest of then is looked at again, because it has its id a moment before it can be seen.
    fn adopt_new(&mut self) {
        let newest = proc_fs::newest();
        match (self.newest, newest) {
            (Some(old), Some(new)) if old < new => self.adopt(|pid| old <= pid && pid <= new),
            (Some(old), Some(new)) if old > new => self.adopt(|pid| old <= pid || pid <= new),
            (Some(_), Some(_)) => {}
            _ => self.adopt(|_| true),
        }
        self.newest = newest;
    }

    /// Takes in all candidates that descend from this process.
    fn adopt(&mut self, candidate: impl Fn(i32) -> bool) {
        let us = std::process::id().cast_signed();
        let unknown =
            proc_fs::pids().into_iter().filter(|&pid| candidate(pid) && !self.known.contains_key(&pid));
        let mut unknown: Vec<(i32, Stat)> =
            unknown.filter_map(|pid| Some((pid, Stat::read_leader(pid)?))).collect();
        loop {
            let is_ours =
                |(_, stat): &(i32, Stat)| stat.parent == us || self.known.contains_key(&stat.parent);
            let (ours, others): (Vec<_>, Vec<_>) = unknown.into_iter().partition(is_ours);
            unknown = others;
            if ours.is_empty() {
                break;
            }
            self.known.extend(ours.into_iter().map(|(pid, stat)| (pid, stat.started)));
        }
    }
}
