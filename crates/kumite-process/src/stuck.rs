//! Finds a tree that waits for a stopped process of its own, and would wait for ever.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::proc_fs::{self, Stat};

/// The time between two looks at a tree, each of which reads every process. A process that stands still this long
/// could have been let go on.
const EVERY: Duration = Duration::from_secs(1);

/// The stopped processes of a tree at one moment.
#[derive(Debug)]
pub(crate) struct Stood {
    at: Instant,
    cpu: Duration,
    stopped: BTreeSet<i32>,
}

impl Stood {
    /// `true` if a second has passed since `started` and since the last look. Looks are that far apart because each
    /// reads every process.
    pub(crate) fn is_due(last: Option<&Stood>, started: Instant) -> bool {
        let at = Instant::now();
        started.elapsed() >= EVERY && last.is_none_or(|stood| at >= stood.at + EVERY)
    }

    /// The command line of a process that was stopped at two looks in a row (its id if that cannot be read), if the
    /// tree used no CPU time between them. `None` if there is none.
    pub(crate) fn look(
        last: &mut Option<Stood>,
        cpu: Duration,
        running: impl Iterator<Item = i32>,
    ) -> Option<String> {
        let stands = |pid: &i32| Stat::read(*pid).is_some_and(|stat| stat.is_stopped_by_signal());
        let stopped: BTreeSet<i32> = running.filter(stands).collect();
        let before = last.replace(Stood { at: Instant::now(), cpu, stopped: stopped.clone() });
        let stood = before.filter(|before| before.cpu == cpu)?.stopped;
        let &pid = stood.intersection(&stopped).next()?;
        Some(proc_fs::command_line(pid).unwrap_or_else(|| format!("process {pid}")))
    }
}
