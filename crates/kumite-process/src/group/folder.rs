//! The folders of groups, by which the kernel shows and controls them.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The time within which killed processes must be gone: they have memory to give back, on a machine that may be busy.
pub(super) const GONE_WITHIN: Duration = Duration::from_secs(5);

/// Writes into a file that exists. It creates none, because in a group's folder the kernel alone makes files.
pub(crate) fn write(file: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}

/// The ids of the processes in this group itself, without the groups below it.
pub(crate) fn processes(folder: &Path) -> io::Result<Vec<i32>> {
    let text = fs::read_to_string(folder.join("cgroup.procs"))?;
    // 0 stands for a process that our pid namespace does not show; to `kill` it would mean ourselves.
    Ok(text.lines().filter_map(|line| line.parse().ok()).filter(|&pid| pid > 0).collect())
}

/// The folder and all below it, each after those below it.
pub(crate) fn with_those_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut all: Vec<PathBuf> = folders.flat_map(|entry| with_those_below(&entry.path())).collect();
    all.push(folder.to_owned());
    all
}

/// The ids of the processes in these groups and all groups below them. Groups that cannot be read are left out.
pub(crate) fn members<'a>(folders: impl IntoIterator<Item = &'a PathBuf>) -> BTreeSet<i32> {
    let all = folders.into_iter().flat_map(|folder| with_those_below(folder));
    all.flat_map(|folder| processes(&folder).unwrap_or_default()).collect()
}

/// Takes away from these groups what keeps a killed process from its end: the freeze, and the limit of CPU time.
pub(crate) fn release<'a>(folders: impl IntoIterator<Item = &'a PathBuf>) {
    for folder in folders.into_iter().flat_map(|folder| with_those_below(folder)) {
        for (file, text) in [
            ("freezer.state", "THAWED"),
            ("cgroup.freeze", "0"),
            ("cpu.cfs_quota_us", "-1"),
            ("cpu.max", "max"),
        ] {
            // Each of these files is in one hierarchy, and the others lack it.
            let _ = write(&folder.join(file), text);
        }
    }
}

/// Kills all processes in these groups but ourselves. Returns `true` once no process is left, `false` if that is not
/// so within [`GONE_WITHIN`].
pub(super) fn empty(folders: &BTreeSet<PathBuf>) -> bool {
    let us = std::process::id().cast_signed();
    let last = Instant::now() + GONE_WITHIN;
    loop {
        let members = members(folders);
        if members.is_empty() {
            return true;
        }
        if Instant::now() >= last {
            return false;
        }
        // The kill comes before the thaw, so that they do nothing more.
        for &pid in members.iter().filter(|&&pid| pid != us) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        release(folders);
        thread::sleep(Duration::from_millis(1));
    }
}

/// Removes these groups and those below them, if no process is left in them. It tries again for a while, because the
/// kernel may see the last process go later than we do.
pub(crate) fn remove<'a>(folders: impl IntoIterator<Item = &'a PathBuf>) {
    let last = Instant::now() + GONE_WITHIN;
    for folder in folders.into_iter().flat_map(|folder| with_those_below(folder)) {
        while let Err(error) = fs::remove_dir(&folder) {
            let busy = error.kind() == ErrorKind::ResourceBusy;
            if !busy || !processes(&folder).is_ok_and(|left| left.is_empty()) || Instant::now() >= last {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}
