//! The CPUs that the calling thread may run on, and pinning the thread to some of them.
//!
//! A process inherits the CPUs of the thread that starts it. So a process is pinned by pinning that thread before.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::Error;

const THIS_THREAD: Pid = Pid::from_raw(0);

/// The cores that the calling thread may run on, ascending. Empty if the system does not tell (as with more than
/// 1,024 cores).
pub fn available_cores() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(THIS_THREAD) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect()
}

/// Lets the calling thread, and what it starts from now on, run on these cores only. An error if there are none, or
/// one of them does not exist or may not be used.
pub fn pin_thread(cores: &[usize]) -> Result<(), Error> {
    // The kernel silently drops the cores it does not have, as long as one is left.
    let available = available_cores();
    let mut set = CpuSet::new();
    let pinned = cores.iter().try_for_each(|&core| set.set(core));
    let pinned = pinned.and_then(|()| sched_setaffinity(THIS_THREAD, &set));
    let pinned = pinned.and_then(|()| match available_cores().len() == distinct(cores) {
        true => Ok(()),
        false => Err(nix::errno::Errno::EINVAL),
    });
    pinned.map_err(|errno| Error::Cores { cores: cores.to_vec(), available, source: errno.into() })
}

fn distinct(cores: &[usize]) -> usize {
    cores.iter().collect::<std::collections::BTreeSet<_>>().len()
}
