//! The members of a tree, and the CPU time and memory that they have used.
//!
//! # CPU time, never counted twice
//!
//! A process has used `own` (its CPU clock, exact) and `waited` (what the children that it has waited for had used,
//! with theirs; the kernel adds it at the moment when it forgets the child). Over the living, `own + waited` counts
//! each process once: a child is either still there, or in the `waited` of its parent, or in neither.
//!
//! A child is in neither if it ended while its parent ignored SIGCHLD, or after its parent. If the parent is a
//! member, the child's last figure is added to the parent's `gone`, and the parent counts `max(waited, gone)`, not
//! the sum: if the parent did wait, `waited` has the same child and more. If the parent is no member (the child went
//! to us or to init), the figure is in nobody's `waited` and goes into `lost`.
//!
//! A look is not a snapshot, so it reads every `waited` before any `own`: a child that is waited for in between is
//! missing from that look, not twice in it. The result is a lower bound: it misses children that nobody waited for
//! and that lived between two looks, and a tick (10 ms) or two for every living parent. It never goes down.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

use crate::mark::Mark;
use crate::proc_fs::{self, Stat};
use crate::total;

/// The time in which nobody can start so many processes (32,768 at least) that their ids come round again.
const FULL_CIRCLE: Duration = Duration::from_secs(1);

/// The CPU time, memory, processes and threads of a tree until now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// User and system time of all members, living and ended, since the start. It never falls from one call to the
    /// next. It is a lower bound: it misses a process that nobody waits for and that lives for less than the time
    /// between calls.
    pub cpu: Duration,
    /// The sum of the members' resident sets. A page that several members share is counted for each.
    pub rss_bytes: u64,
    /// The larger of two figures: the highest `rss_bytes` of any call, and the highest resident set of any one member
    /// as the kernel kept it.
    ///
    /// For a tree of one process it is exact up to the last call. (After [`Tree::stop`] it is exact up to the end of
    /// that process, if it is larger than the peak of *our* process, which the kernel lets a child inherit.) For
    /// several processes it is a lower bound. It is 0 if the tree ended before any call and stayed below our peak.
    ///
    /// [`Tree::stop`]: crate::Tree::stop
    pub peak_rss_bytes: u64,
    /// The number of members that run. Those that have ended, but were not yet waited for, do not count.
    pub processes: usize,
    /// The number of threads of the members that run.
    pub threads: u64,
}

#[derive(Debug)]
struct Member {
    started: u64,
    parent: i32,
    group: i32,
    zombie: bool,
    threads: u64,
    rss: u64,
    own: Duration,
    waited: Duration,
    gone: Duration,
}

impl Member {
    fn new(stat: &Stat) -> Member {
        Member {
            started: stat.started,
            parent: stat.parent,
            group: stat.group,
            zombie: stat.is_zombie(),
            threads: stat.threads,
            rss: 0,
            own: Duration::ZERO,
            waited: stat.waited,
            gone: Duration::ZERO,
        }
    }

    fn cpu(&self) -> Duration {
        self.own.saturating_add(self.waited.max(self.gone))
    }
}

#[derive(Debug)]
pub(crate) struct Members {
    root: i32,
    root_started: u64,
    marker: String,
    mark: Option<Mark>,
    known: BTreeMap<i32, Member>,
    lost: Duration,
    cpu: Duration,
    peak_rss: u64,
    looked: Instant,
    newest: Option<i32>,
    newest_before: Option<i32>,
}

impl Members {
    /// Begins with the root alone. `marker` is the `NAME=VALUE` that the root and all it starts carry, `mark` their
    /// limit. Nothing may reap the root before [`Members::reap_root`]: until then no other process can have its id.
    pub(crate) fn new(root: i32, marker: String, mark: Option<Mark>) -> Members {
        let stat = Stat::read(root);
        Members {
            root,
            root_started: stat.as_ref().map_or(0, |stat| stat.started),
            marker,
            mark,
            known: stat.iter().map(|stat| (root, Member::new(stat))).collect(),
            lost: Duration::ZERO,
            cpu: Duration::ZERO,
            peak_rss: 0,
            looked: Instant::now(),
            newest: Some(root),
            newest_before: Some(root),
        }
    }

    /// Looks for new members, looks at all of them, and returns their usage. It costs about 30 µs for each member, 50
    /// µs to list all processes if any was started since the last call, and 20 µs for each new one. (Measured by
    /// `examples/process_costs`, on one machine with 77 processes.)
    pub(crate) fn usage(&mut self) -> Usage {
        self.look_for_new();
        self.refresh();
        self.figures()
    }

    /// Looks at every process on the machine for new members, and then at every member.
    pub(crate) fn rescan(&mut self) {
        self.scan();
        self.refresh();
    }

    fn scan(&mut self) {
        self.remember_look(proc_fs::newest());
        self.adopt(|_| true);
    }

    /// Looks for new members only among the processes made since the look before the last one. The kernel gives out
    /// ids in a circle, so those processes lie between the newest of then and the newest of now. Each is looked at
    /// twice, because a process has its id, and is the newest, a moment before it can be seen.
    fn look_for_new(&mut self) {
        let newest = proc_fs::newest();
        match (self.newest_before, newest) {
            (Some(old), Some(new)) if self.looked.elapsed() < FULL_CIRCLE => {
                self.remember_look(newest);
                if old < new {
                    self.adopt(|pid| old < pid && pid <= new);
                } else if old > new {
                    self.adopt(|pid| old < pid || pid <= new);
                }
            }
            _ => self.scan(),
        }
    }

    fn remember_look(&mut self, newest: Option<i32>) {
        self.looked = Instant::now();
        self.newest_before = self.newest;
        self.newest = newest;
    }

    /// Takes in all candidates that are members and not yet known.
    fn adopt(&mut self, candidate: impl Fn(i32) -> bool) {
        let candidates = proc_fs::pids().into_iter().filter(|&pid| candidate(pid));
        let mut unknown: Vec<(i32, Stat)> = candidates
            .filter_map(|pid| Some((pid, Stat::read(pid)?)))
            .filter(|(pid, stat)| {
                let known = self.known.get(pid).is_some_and(|member| member.started == stat.started);
                stat.started >= self.root_started && !known
            })
            .collect();
        // Processes that had one of these ids before have gone.
        self.settle(unknown.iter().map(|(pid, _)| *pid).collect());
        loop {
            let (ours, others): (Vec<_>, Vec<_>) = unknown.into_iter().partition(|(pid, stat)| {
                [stat.parent, stat.group, stat.session].iter().any(|id| self.known.contains_key(id))
                    || proc_fs::carries(*pid, &self.marker)
                    || self.mark.is_some_and(|mark| Mark::read(*pid) == Some(mark))
            });
            unknown = others;
            if ours.is_empty() {
                break;
            }
            self.known.extend(ours.iter().map(|(pid, stat)| (*pid, Member::new(stat))));
        }
    }

    /// Looks at every known member, and settles those that have gone.
    pub(crate) fn refresh(&mut self) {
        let mut gone = Vec::new();
        for (&pid, member) in &mut self.known {
            match Stat::read(pid) {
                Some(stat) if stat.started == member.started => {
                    member.parent = stat.parent;
                    member.group = stat.group;
                    member.zombie = stat.is_zombie();
                    member.threads = stat.threads;
                    member.waited = member.waited.max(stat.waited);
                }
                _ => gone.push(pid),
            }
        }
        for (&pid, member) in self.known.iter_mut().filter(|(pid, _)| !gone.contains(pid)) {
            member.own = member.own.max(own_cpu(pid).unwrap_or_default());
            let (rss, highest) = proc_fs::resident(&pid.to_string()).unwrap_or_default();
            member.rss = rss;
            self.peak_rss = self.peak_rss.max(highest);
        }
        self.settle(gone);
        self.reap_adopted();
        self.peak_rss = self.peak_rss.max(self.known.values().map(|member| member.rss).sum());
    }

    /// The usage as of the last look, without looking again.
    pub(crate) fn figures(&mut self) -> Usage {
        let living = total(self.known.values().map(Member::cpu));
        self.cpu = self.cpu.max(self.lost.saturating_add(living));
        Usage {
            cpu: self.cpu,
            rss_bytes: self.known.values().map(|member| member.rss).sum(),
            peak_rss_bytes: self.peak_rss,
            processes: self.running().count(),
            threads: self.known.values().filter(|member| !member.zombie).map(|member| member.threads).sum(),
        }
    }

    /// The ids and process groups of the members that have not ended.
    pub(crate) fn running(&self) -> impl Iterator<Item = (i32, i32)> {
        self.known.iter().filter(|(_, member)| !member.zombie).map(|(pid, member)| (*pid, member.group))
    }

    /// Waits for the root if it has ended, after which its CPU time is exact. `None` if it still runs.
    pub(crate) fn reap_root(&mut self) -> std::io::Result<Option<wait4::ResUse>> {
        let Some(end) = wait4::try_wait4_pid(self.root.cast_unsigned())? else { return Ok(None) };
        let cpu = self.known.remove(&self.root).map_or(Duration::ZERO, |root| root.cpu());
        self.lost = self.lost.saturating_add(cpu.max(end.rusage.utime.saturating_add(end.rusage.stime)));
        Ok(Some(end))
    }

    pub(crate) fn saw_peak_rss(&mut self, bytes: u64) {
        self.peak_rss = self.peak_rss.max(bytes);
    }

    /// Waits for ended members whose parent we have become, as a subreaper does; until then they stay zombies.
    fn reap_adopted(&mut self) {
        let us = std::process::id().cast_signed();
        let ended =
            |(pid, member): &(&i32, &Member)| member.zombie && member.parent == us && **pid != self.root;
        let adopted: Vec<i32> = self.known.iter().filter(ended).map(|(pid, _)| *pid).collect();
        for pid in adopted {
            if let Ok(Some(end)) = wait4::try_wait4_pid(pid.cast_unsigned()) {
                self.peak_rss = self.peak_rss.max(end.rusage.maxrss);
                self.settle(vec![pid]);
            }
        }
    }

    /// Moves the CPU time of members that have gone to where it is counted from now on, children before their
    /// parents.
    fn settle(&mut self, mut gone: Vec<i32>) {
        gone.sort_by_key(|&pid| std::cmp::Reverse(self.depth(pid)));
        for pid in gone {
            let Some(member) = self.known.remove(&pid) else { continue };
            match self.known.get_mut(&member.parent) {
                Some(parent) => parent.gone = parent.gone.saturating_add(member.cpu()),
                None => self.lost = self.lost.saturating_add(member.cpu()),
            }
        }
    }

    fn depth(&self, pid: i32) -> usize {
        // Bounded, in case a reused id has closed the chain into a ring.
        let parent = |pid: &i32| self.known.get(pid).map(|member| member.parent);
        std::iter::successors(Some(pid), parent).take(self.known.len() + 1).count()
    }
}

/// The CPU time that a process has used itself; a zombie still has it. `None` if the process has gone, or its clock
/// says a negative time.
fn own_cpu(pid: i32) -> Option<Duration> {
    let time = clock_getcpuclockid(Pid::from_raw(pid)).ok()?.now().ok()?;
    (time.tv_sec() >= 0).then(|| time.into())
}
