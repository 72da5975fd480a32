//! Ends the processes that a killed kumite has left behind, once the next kumite starts.
//!
//! The guardian ends most of them at once, but finds a process only by what it carries. Here, nothing is killed by
//! its id alone, and nothing that belongs to a living kumite.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::group;
use crate::mark::Mark;
use crate::owner::{MARKER, Owner};
use crate::proc_fs::{self, Stat};
use crate::tree::LastWait;

/// A process that was started by a kumite which has since been killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The id of the process, which may be another's by now.
    pub pid: u32,
    /// The arguments of the process, joined by spaces, or its name in brackets if it has none; empty if they could
    /// not be read.
    pub command: String,
}

/// Ends all processes that killed kumites have left behind on this machine, and returns those that have ended. It looks
/// once at every process if there are none. Otherwise it takes about a second at most, and up to five seconds more for
/// groups that the kernel still holds. It does nothing if `/proc` is not that of our pid namespace.
///
/// An orphan is a process whose owner was in our pid namespace and does not live any more (no process has its id, or
/// one with another start, or a zombie). The owner is named by the process's `KUMITE_TREE`, or by its mark if it has no
/// such variable. A process is an orphan, too, if an orphan is its parent, or the leader of its process group or
/// session. This process and its ancestors are never touched, nor a process with the token of an owner that lives or is
/// in another namespace. All this holds as far as we may look: only its own user can read a process's environment.
///
/// A process in a control group of such an owner is an orphan, too; the group, frozen or not, is removed.
///
/// Each orphan is killed through a pidfd, after another look at its start, so that no other process with a reused id
/// is hit.
pub fn end_orphans() -> Vec<Orphan> {
    let Some(us) = Owner::this() else { return Vec::new() };
    let mut last = LastWait::begin();
    let mut found: BTreeMap<(i32, u64), Orphan> = BTreeMap::new();
    let mut leaders = BTreeSet::new();
    let groups = group::left_over(us);
    let living = loop {
        let living = living_orphans(us, &mut leaders, &group::members(&groups));
        if living.is_empty() || !last.goes_on() {
            break living;
        }
        for &(pid, started) in &living {
            let orphan = || Orphan {
                pid: pid.cast_unsigned(),
                command: proc_fs::command_line(pid).unwrap_or_default(),
            };
            found.entry((pid, started)).or_insert_with(orphan);
            kill(pid, started);
        }
        group::release(&groups);
        thread::sleep(Duration::from_millis(2));
    };
    group::remove(&groups);
    found.retain(|orphan, _| !living.contains(orphan));
    found.into_values().collect()
}

/// The ids and starts of all living orphans. `leaders` are the ids of all orphans that were ever seen: a process in
/// the group of an orphan that has ended is an orphan, too, and as long as it lives no other process gets that id.
/// `grouped` are the processes in control groups left over.
fn living_orphans(us: Owner, leaders: &mut BTreeSet<i32>, grouped: &BTreeSet<i32>) -> Vec<(i32, u64)> {
    let processes = proc_fs::pids().into_iter().filter_map(|pid| Some((pid, Stat::read(pid)?)));
    let processes: BTreeMap<i32, Stat> = processes.filter(|(_, stat)| !stat.is_zombie()).collect();
    let ancestors = ancestors(&processes);
    let mut orphans = Vec::new();
    let mut others = Vec::new();
    for (&pid, stat) in processes.iter().filter(|(pid, _)| !ancestors.contains(pid)) {
        let owner = proc_fs::variable(pid, MARKER).and_then(|token| Owner::parse(&token));
        match owner {
            Some(owner) if owner.namespace == us.namespace && !owner.lives() => {
                orphans.push((pid, stat.started))
            }
            Some(_) => {}
            None => match Mark::read(pid) {
                Some(mark) if mark.is_left_over(pid, us) => orphans.push((pid, stat.started)),
                _ => others.push((pid, stat)),
            },
        }
    }
    loop {
        leaders.extend(orphans.iter().map(|(pid, _)| *pid));
        let before = orphans.len();
        others.retain(|(pid, stat)| {
            let below = grouped.contains(pid)
                || [stat.parent, stat.group, stat.session].iter().any(|id| leaders.contains(id));
            // During an exec the process of a living owner seems to have no token.
            let ours = below && proc_fs::lacks(*pid, MARKER);
            if ours {
                orphans.push((*pid, stat.started));
            }
            !ours
        });
        if orphans.len() == before {
            return orphans;
        }
    }
}

/// The ids of this process and those above it.
fn ancestors(processes: &BTreeMap<i32, Stat>) -> BTreeSet<i32> {
    let parent = |pid: &i32| processes.get(pid).map(|stat| stat.parent);
    std::iter::successors(Some(std::process::id().cast_signed()), parent).take(processes.len() + 1).collect()
}

fn kill(pid: i32, started: u64) {
    let Some(id) = Pid::from_raw(pid) else { return };
    // From here on the descriptor means one process, and the look at the start tells whether it is the one.
    let Ok(pidfd) = pidfd_open(id, PidfdFlags::empty()) else { return };
    if Stat::read(pid).is_some_and(|stat| stat.started == started) {
        let _ = pidfd_send_signal(&pidfd, Signal::KILL);
    }
}
