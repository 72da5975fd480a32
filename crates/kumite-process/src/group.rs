//! Control groups, which limit, count and freeze a process tree: see [`Group`].

mod control;
mod dirs;
mod folder;
mod hierarchies;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use control::{Control, Version};
pub(crate) use dirs::CgroupDirs;
pub(crate) use folder::{members, release, remove};
pub(crate) use hierarchies::Hierarchies;
use hierarchies::PREFIX;

use crate::Error;
use crate::owner::Owner;

/// A control group of our own, for one tree: it limits what the tree may use, counts what the tree uses, and can
/// freeze it. Each controller is that of cgroup v1 if it is mounted and lets us, else that of v2. Dropping the group
/// kills all processes left in it, and removes it. If this process is killed, the guardian does so, or
/// [`end_orphans`](crate::end_orphans).
///
/// [`Spawn::group`](crate::Spawn::group) starts a tree in the group. That takes 4 to 12 ms longer, measured, before
/// the command's first instruction: the kernel moves a process only at a moment when no other process forks or ends.
///
/// In version 2 a group that gives controllers to the groups below it may have no processes itself. So the first
/// group that we make moves us, and all processes that we have started, into a group beside it. The kernel permits
/// that only within a group of our own (`Delegate=yes`).
///
/// All figures here were measured on one machine, with two cores and a load of 4 to 20; `examples/process_costs`
/// prints them anew.
#[derive(Debug)]
pub struct Group {
    dirs: Arc<CgroupDirs>,
}

impl Group {
    /// Makes a group without limits below our own group, in every hierarchy that can be used. An error if there is
    /// none. If only a controller is missing, [`Control::look`] says so, and the method that needs it returns an
    /// error.
    pub fn new() -> Result<Group, Error> {
        Group::at(CgroupDirs::ours())
    }

    fn at(dirs: CgroupDirs) -> Result<Group, Error> {
        let group = Group { dirs: Arc::new(dirs) };
        match (group.dirs.folders().is_empty(), group.dirs.control().freezer) {
            (true, Err(source)) => Err(Error::NoGroup { what: "be made", source }),
            _ => Ok(group),
        }
    }

    /// Limits the group to a share of one core: 0.0724 is 7.24 %, 1.5 is one core and a half, `None` is no limit. A
    /// share below 0.001, or one that is not finite, is an error. The limit may be changed while the group runs. That
    /// takes 20 to 30 µs, and begins a new quota.
    ///
    /// The kernel (CFS bandwidth control) gives the group a quota of CPU time in each period, and stops it when the
    /// quota is used up. The period is 20 ms, or longer if the quota would be below 1 ms, the least that the kernel
    /// takes. The table was measured at a share of 7.236 %, pinned to one core. Its second column is how far CPU time
    /// over wall time was off that share, in 3 s. The others are the median wall time that 5, 20 and 100 ms of CPU
    /// time take after a pause. (Without quota left over from the pause they would be 69, 276 and 1,382 ms.)
    ///
    /// | period | off that share | 5 ms | 20 ms | 100 ms |
    /// | --- | --- | --- | --- | --- |
    /// | 100 ms | -1.5 to +2.7 % | 13 ms | 186 ms | 1,290 ms |
    /// | 50 ms | -0.7 to +0.8 % | 36 ms | 241 ms | 1,341 ms |
    /// | 20 ms | -2.7 to +2.0 % | 45 ms | 254 ms | 1,358 ms |
    /// | 14 ms | -1.3 to +0.1 % | 49 ms | 259 ms | 1,367 ms |
    ///
    /// The figures are the same with two threads, and on two cores. The table leaves out runs in which other
    /// processes left the group less, as nothing reserves the core: at 20 ms, 4 in 84 had 5 to 16 % less than their
    /// share. 14 ms is the least period for this share.
    pub fn limit_cpu(&self, share: Option<f64>) -> Result<(), Error> {
        self.dirs.limit_cpu(share)
    }

    /// Limits the memory of all processes in the group together, swap included. When they want more, and nothing can be
    /// given back, the kernel kills the largest process, and sometimes one more before the memory of the first is free.
    /// [`Group::oom_kills`] counts them. An error if no group can limit memory on this machine, or if the limit cannot
    /// be written.
    pub fn limit_memory(&self, bytes: u64) -> Result<(), Error> {
        self.dirs.limit_memory(bytes)
    }

    /// Begins to freeze the group as [`Group::freeze`] does, but does not wait until it is frozen. An error if no group
    /// can be frozen on this machine, or the kernel refuses.
    pub fn begin_freeze(&self) -> Result<(), Error> {
        self.dirs.begin_freeze()
    }

    /// Freezes the group, and waits until the kernel says that no process in it runs any more. An error if no group can
    /// be frozen on this machine, if the kernel refuses, or if a process still runs after 5 seconds; in the last case
    /// the kernel goes on freezing.
    ///
    /// A sleeping process is frozen in 0.1 ms (at most 0.2 ms in 51 times), a running one when it next enters the
    /// kernel (4 ms, at most 24 ms). A process that has used up its CPU time stands still already, and the kernel
    /// says so only when it has some again (30 ms, at most 84 ms).
    pub fn freeze(&self) -> Result<(), Error> {
        self.dirs.freeze()
    }

    /// Lets all processes in the group go on after a freeze. The call takes 10 to 120 µs. An error if no group can be
    /// frozen on this machine, or the kernel refuses.
    pub fn thaw(&self) -> Result<(), Error> {
        self.dirs.thaw()
    }

    /// The CPU time of all processes that ever were in the group. Processes that run now are counted up to the last
    /// tick (4 ms or so). An error if no group can count CPU time on this machine, or the count cannot be read.
    pub fn cpu(&self) -> Result<Duration, Error> {
        self.dirs.cpu()
    }

    /// The time for which the group was stopped because its quota was used up; on several cores, the sum over them.
    /// `None` if the kernel does not count it, or the group cannot limit CPU time.
    pub fn throttled(&self) -> Option<Duration> {
        self.dirs.throttled()
    }

    /// The number of processes of the group that the kernel has killed for lack of memory. `None` if it does not
    /// count them, or the group cannot limit memory.
    pub fn oom_kills(&self) -> Option<u64> {
        self.dirs.oom_kills()
    }

    /// The most memory that the group has had at a time, with the files that the kernel cached for it. `None` if the
    /// kernel does not count it (version 2 does from Linux 5.19 on), or the group cannot limit memory.
    pub fn peak_memory_bytes(&self) -> Option<u64> {
        self.dirs.peak_memory_bytes()
    }

    /// Kills all processes in the group, frozen or not, even those that have left the tree, and takes the limit of
    /// CPU time away. Returns when no process is left; after 5 seconds that is an error. (A process can leave the
    /// group only if it may write to other groups, as root may.)
    pub fn kill(&self) -> Result<(), Error> {
        self.dirs.kill()
    }

    pub(crate) fn dirs(&self) -> &Arc<CgroupDirs> {
        &self.dirs
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.dirs.kill();
        self.dirs.remove();
    }
}

/// The folders of groups, in every hierarchy, whose owner was in our pid namespace and does not live any more.
pub(crate) fn left_over(us: Owner) -> Vec<PathBuf> {
    let all = Hierarchies::ours().mounts().iter().flat_map(|mount| folder::with_those_below(mount));
    let left_over = |folder: &PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str());
        let owner = name.and_then(|name| Owner::parse(name.strip_prefix(PREFIX)?));
        owner.is_some_and(|owner| owner.namespace == us.namespace && !owner.lives())
    };
    all.filter(left_over).collect()
}
