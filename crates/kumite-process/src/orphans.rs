//! Ends what a killed kumite has left behind, once the next one starts.
//!
//! It complements the guardian, which ends the most of it at once but finds processes by what they carry only. Nothing is
//! killed by its id alone, and nothing that belongs to a living kumite.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::group;
use crate::mark::Mark;
use crate::owner::{MARKER, Owner};
use crate::proc_fs::{self, Stat};
use crate::tree::LastWait;

/// A process that a kumite had started which has been killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Its id, which may be another's by now.
    pub pid: u32,
    /// Its arguments, spaces between them.
    pub command: String,
}

/// Ends what a kumite that was killed has left behind on this machine, and says what that was. Takes a look at every
/// process there is if there is nothing to end, and at most about a second.
///
/// An orphan is a process whose `KUMITE_TREE`, or whose mark where it has none, names an owner in our pid namespace that
/// does not live any more (no such process, one with another start, or a zombie), and whatever has an orphan as its parent, or as the leader of its
/// process group or session. Never touched are this process and its ancestors, and who carries the token of an owner
/// that lives, or is in another namespace. All this as far as we may look: an environment can be read by its user only.
///
/// So is whoever is in a control group of such an owner; the group, frozen or not, is removed.
///
/// Each is killed through a pidfd, after another look at its start, so that a reused id is nobody's death.
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

/// Ids and starts. `leaders` are the ids of all orphans that were ever seen: who is in the group of one that has ended
/// is an orphan, and as long as there is one, the id is taken. `grouped` are in a group that was left.
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
            // A living owner's, amid an exec, seems to have no token.
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

/// This process and those above it.
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
