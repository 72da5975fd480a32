//! The guardian: a shell that outlives this process for a moment. When this process is gone, even by SIGKILL, the
//! shell kills all processes that carry our name or our mark, or are in our control groups, and removes those groups.
//!
//! The shell waits for the end of a pipe that only this process can write to, and never does; the kernel closes the
//! pipe however this process ends. A child that is just being started holds the pipe, too, until it carries the name.
//! There is one shell for the whole process. It belongs to no tree, and has a process group of its own, so that what
//! kills our group does not kill it. It sleeps as long as we live.
//!
//! The shell kills the processes that it finds, and the process groups that they lead. If so many processes started
//! that an id came round within the milliseconds between a look and the kill, it could hit another process;
//! [`crate::end_orphans`] could not.

use std::io::{PipeWriter, pipe};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::mark::{Mark, spawn_unmarked};
use crate::owner::{MARKER, Owner};

/// The guardian's script. `$1` is what to look for in environments, `$2` the beginning of our marks; the others are
/// the beginnings of our control groups' paths. It gives up after 20 rounds, because a process in an uninterruptible
/// sleep does not die.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
while read -r _; do :; done
marker=$1
mark=$2
shift 2
# A group that we were moved into cannot be removed with us in it.
for groups; do
    grep -qsxF -e $$ "$groups"*/cgroup.procs || continue
    echo -cpu > "${groups%/*}/cgroup.subtree_control"
    echo -memory > "${groups%/*}/cgroup.subtree_control"
    echo $$ > "${groups%/*}/cgroup.procs"
done
IFS='
'
rounds=20
while [ $rounds -gt 0 ]; do
    rounds=$((rounds - 1))
    found=$(grep -lsF -e "$marker" /proc/[0-9]*/environ
        grep -lsE -e "^Max file locks +$mark[0-9]{4} " /proc/[0-9]*/limits)
    folders=$(for groups; do find "$groups"* -depth -type d; done)
    [ "$found$folders" ] || exit 0
    for file in $found; do
        pid=${file#/proc/}
        pid=${pid%/*}
        kill -s KILL -- "-$pid"
        kill -s KILL "$pid"
    done
    for folder in $folders; do
        for pid in $(cat "$folder/cgroup.procs"); do
            # 0 is one that our pid namespace does not show.
            [ "$pid" = 0 ] || [ "$pid" = $$ ] || kill -s KILL "$pid"
        done
        echo THAWED > "$folder/freezer.state"
        echo 0 > "$folder/cgroup.freeze"
        echo -1 > "$folder/cpu.cfs_quota_us"
        echo max > "$folder/cpu.max"
        rmdir "$folder"
    done
    sleep 0.05
done
"#;

/// Starts the guardian; call it before the first tree is started or group made. Further calls do nothing. If it
/// cannot be started, [`crate::end_orphans`] alone must do. `groups` returns the beginnings of the paths of our
/// control groups.
pub(crate) fn post(groups: fn(&Owner) -> Vec<PathBuf>) {
    static POST: OnceLock<Option<(PipeWriter, Child)>> = OnceLock::new();
    POST.get_or_init(|| {
        let (waits, ours) = pipe().ok()?;
        let mut shell = Command::new("/bin/sh");
        let owner = Owner::this()?;
        shell.args(["-c", SCRIPT, "kumite-guardian", &format!("{MARKER}={owner}-")]);
        shell.arg(Mark::beginning(&owner));
        shell.args(groups(&owner));
        // If we are in a tree ourselves, whoever ends that tree by its name must not end this shell, which has to end
        // our trees.
        shell.env_remove(MARKER).stdin(waits).stdout(Stdio::null()).stderr(Stdio::null());
        shell.current_dir("/").process_group(0);
        Some((ours, spawn_unmarked(&mut shell).ok()?))
    });
}
