//! Whether a tree waits for one of its own that was stopped, and will wait for ever.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::Tree;
use crate::proc_fs::{self, Stat};

/// Between two looks, each of which is at every process there is. Who stands still that long has time to be let go on.
const EVERY: Duration = Duration::from_secs(1);

/// What a look has seen.
#[derive(Debug)]
pub(crate) struct Stood {
    at: Instant,
    cpu: Duration,
    stopped: BTreeSet<i32>,
}

impl Tree {
    /// The name of a member that was stopped at two looks in a row, between which no other has done anything either. Looks
    /// once a second, and may be called oftener.
    pub(crate) fn stuck(&mut self) -> Option<String> {
        let at = Instant::now();
        if self.started.elapsed() < EVERY || self.stood.as_ref().is_some_and(|stood| at < stood.at + EVERY) {
            return None;
        }
        let cpu = self.usage().cpu;
        let stands = |pid: &i32| Stat::of(*pid).is_some_and(|stat| stat.is_stopped_by_signal());
        let stopped: BTreeSet<i32> = self.members.running().map(|(pid, _)| pid).filter(stands).collect();
        let before = self.stood.replace(Stood { at, cpu, stopped: stopped.clone() });
        let stood = before.filter(|before| before.cpu == cpu)?.stopped;
        let &pid = stood.intersection(&stopped).next()?;
        Some(proc_fs::command_line(pid).unwrap_or_else(|| format!("process {pid}")))
    }
}
