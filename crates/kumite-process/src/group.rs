//! Control groups: see [`Group`].

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

/// A control group of our own, for one tree: what it may use is limited, what it uses is counted, and it can be frozen.
/// cgroup v1 where that is mounted and lets us, else v2. Dropping it kills who is left in it, and removes it; if we are
/// killed, the guardian does so, or [`end_orphans`](crate::end_orphans).
///
/// [`Spawn::group`](crate::Spawn::group) starts a tree in it. That takes 4 to 12 ms longer, measured, before the
/// command's first instruction: a process can be moved only when no other is forked or ends.
///
/// In version 2 a group that gives controllers to those below it has no processes itself: the first group of ours moves
/// us, and all we started, into one beside it. That is left to us only in a group of our own (`Delegate=yes`).
///
/// All figures here are of one machine, with two cores and a load of 4 to 20; `examples/process_costs` prints them anew.
#[derive(Debug)]
pub struct Group {
    dirs: Arc<CgroupDirs>,
}

impl Group {
    /// Below our own group, in every hierarchy that can be had, with no limits. An error if there is none; what else is
    /// missing, [`Control::look`] says, and so does the method that needs it.
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

    /// The share of one core that all of it may have: 0.0724 is 7.24 %, 1.5 is one core and a half, `None` no limit. May
    /// be changed while it runs, in 20 to 30 µs, which gives it a new quota.
    ///
    /// The kernel (CFS bandwidth control) gives a quota in each period and stops the group when it is used up. The period
    /// is 20 ms, longer only where the quota would be below the 1 ms that the kernel takes at least. Measured at 7.236 %,
    /// pinned to one core: CPU time over wall time in 3 s, and the median time that some CPU time takes after a pause. (If
    /// nothing had been left from the pause it would be 69, 276 and 1,382 ms.)
    ///
    /// | period | off that share | 5 ms | 20 ms | 100 ms |
    /// | --- | --- | --- | --- | --- |
    /// | 100 ms | -1.5 to +2.7 % | 13 ms | 186 ms | 1,290 ms |
    /// | 50 ms | -0.7 to +0.8 % | 36 ms | 241 ms | 1,341 ms |
    /// | 20 ms | -2.7 to +2.0 % | 45 ms | 254 ms | 1,358 ms |
    /// | 14 ms | -1.3 to +0.1 % | 49 ms | 259 ms | 1,367 ms |
    ///
    /// It is the same with two threads, and on two cores. Not in the table are those that others left less, as nothing
    /// reserves the core: at 20 ms, 4 in 84 had 5 to 16 % less than their share. 14 ms is the least for this share.
    pub fn limit_cpu(&self, share: Option<f64>) -> Result<(), Error> {
        self.dirs.limit_cpu(share)
    }

    /// Limits the memory of all of it together, swap included. When more is wanted and nothing can be given back, the
    /// kernel kills the largest process, and sometimes one more before the memory of that is free:
    /// [`Group::oom_kills`] counts them.
    pub fn limit_memory(&self, bytes: u64) -> Result<(), Error> {
        self.dirs.limit_memory(bytes)
    }

    /// Begins what [`Group::freeze`] does, and does not wait for it.
    pub fn begin_freeze(&self) -> Result<(), Error> {
        self.dirs.begin_freeze()
    }

    /// Nobody in it runs any more, when this returns: it waits for the kernel to say so, at most 5 seconds. After that it
    /// is an error, and the group is still being frozen.
    ///
    /// A sleeping process is frozen in 0.1 ms (0.2 at most, of 51 times), a running one when it next enters the kernel
    /// (4 ms, 24 at most). One that has used up its CPU time stands still already, and the kernel says so when it has
    /// some again (30 ms, 84 at most).
    pub fn freeze(&self) -> Result<(), Error> {
        self.dirs.freeze()
    }

    /// Everybody in it goes on: 10 to 120 µs.
    pub fn thaw(&self) -> Result<(), Error> {
        self.dirs.thaw()
    }

    /// CPU time of all that ever were in it. Who runs at this moment is counted up to the last tick (4 ms or so).
    pub fn cpu(&self) -> Result<Duration, Error> {
        self.dirs.cpu()
    }

    /// How long it has been stopped because its quota was used up; on several cores, the sum.
    pub fn throttled(&self) -> Option<Duration> {
        self.dirs.throttled()
    }

    /// How many of its processes the kernel has killed for want of memory.
    pub fn oom_kills(&self) -> Option<u64> {
        self.dirs.oom_kills()
    }

    /// The most it has had at a time, files that the kernel kept for it included. In version 2 from Linux 5.19 on.
    pub fn peak_memory_bytes(&self) -> Option<u64> {
        self.dirs.peak_memory_bytes()
    }

    /// Kills everything in it, frozen or not, also who has left the tree. Takes the limit of CPU time away. Returns when
    /// nobody is left; an error after 5 seconds. (Only who may write to other groups, as root may, can leave this one.)
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

/// The groups whose owner, in our pid namespace, does not live any more, in every hierarchy.
pub(crate) fn left_over(us: Owner) -> Vec<PathBuf> {
    let all = Hierarchies::ours().mounts().iter().flat_map(|mount| folder::with_those_below(mount));
    let left_over = |folder: &PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str());
        let owner = name.and_then(|name| Owner::parse(name.strip_prefix(PREFIX)?));
        owner.is_some_and(|owner| owner.namespace == us.namespace && !owner.lives())
    };
    all.filter(left_over).collect()
}
