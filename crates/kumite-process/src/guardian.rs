//! A shell that outlives us for a moment: when we are gone, SIGKILL included, it kills what carries our name or our mark,
//! and what is in our control groups, which it removes.
//!
//! It waits for the end of a pipe that only we can write to, and nobody does; the kernel closes it for us however we
//! end. A child that is just being started holds it, too, until it carries the name. One shell for the whole process,
//! in a group of its own (so that what kills ours does not kill it) and of no tree's; it sleeps as long as we live.
//!
//! It finds the processes that carry the name or the mark, and the groups they lead. With so many processes that an id comes round within the
//! milliseconds between a look and the kill, it could hit another; [`crate::end_orphans`] could not.

use std::io::{PipeWriter, pipe};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::mark::{Mark, spawn_unmarked};
use crate::owner::{MARKER, Owner};

/// `$1` is what to look for in environments, `$2` what our marks begin with, then come the beginnings of our control groups. Bounded: a process in an uninterruptible
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

/// To be called before the first tree is started or group made; once is enough. Without one, [`crate::end_orphans`] has
/// to do. `groups` says what the paths of our control groups begin with.
pub(crate) fn post(groups: fn(&Owner) -> Vec<PathBuf>) {
    static POST: OnceLock<Option<(PipeWriter, Child)>> = OnceLock::new();
    POST.get_or_init(|| {
        let (waits, ours) = pipe().ok()?;
        let mut shell = Command::new("/bin/sh");
        let owner = Owner::this()?;
        shell.args(["-c", SCRIPT, "kumite-guardian", &format!("{MARKER}={owner}-")]);
        shell.arg(Mark::beginning(&owner));
        shell.args(groups(&owner));
        // If we are in a tree ourselves, what ends that by its name must not keep this one from ending ours.
        shell.env_remove(MARKER).stdin(waits).stdout(Stdio::null()).stderr(Stdio::null());
        shell.current_dir("/").process_group(0);
        Some((ours, spawn_unmarked(&mut shell).ok()?))
    });
}
