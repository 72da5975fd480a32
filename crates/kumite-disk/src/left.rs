//! Disks whose process was killed: the mount outlives it, and all requests to it fail.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kumite_process::{Spawn, run};

use crate::Error;
use crate::disk::{NAME, unmount};

/// The longest wait for a dead mount to say so, which it does at once, and for fusermount3.
const PATIENCE: Duration = Duration::from_secs(2);

/// The mount points of slow disks whose process was killed, among the mounts that this process sees. A mount that does
/// not answer within 2 s does not count as dead.
pub fn dead() -> Vec<PathBuf> {
    mounted().into_iter().filter(|mount_point| is_dead(mount_point)).collect()
}

/// Unmounts all slow disks below a folder, also those in use.
///
/// # Errors
///
/// If the system refuses for one of them; those after it are then left mounted.
pub fn unmount_below(folder: &Path) -> Result<(), Error> {
    let below = mounted().into_iter().filter(|mount_point| mount_point.starts_with(folder));
    below.into_iter().try_for_each(|mount_point| match unmount(&mount_point) {
        Err(Error::Unmount { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {
            by_fusermount(&mount_point).map_err(|source| Error::Unmount { mount_point, source })
        }
        done => done,
    })
}

/// Unmounts a disk that was mounted without root, by fusermount3. An error if that cannot be run, fails, or takes
/// longer than 2 s.
fn by_fusermount(mount_point: &Path) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let env = [("MOUNT_POINT".to_owned(), mount_point.display().to_string())];
    let spawn = Spawn {
        command: "exec fusermount3 -u -z \"$MOUNT_POINT\"",
        dir: Path::new("/"),
        env: &env,
        keeps: None,
        cores: &[],
        log: &folder.path().join("log"),
        group: None,
    };
    let done = run(&spawn, PATIENCE, &AtomicBool::new(false)).map_err(io::Error::other)?;
    match done.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(kumite_process::last_lines(spawn.log))),
    }
}

/// The mount points of slow disks, dead or not.
fn mounted() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().filter_map(mount_point).collect()
}

/// The mount point in a line of `mountinfo`; none if the mount is not a slow disk.
fn mount_point(line: &str) -> Option<PathBuf> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut file_system = file_system.split(' ');
    let is_ours = file_system.next()?.starts_with("fuse") && file_system.next()? == NAME;
    let escaped = mount.split(' ').nth(4)?;
    is_ours.then(|| unescaped(escaped).into())
}

/// The text without the escapes of `mountinfo`: the kernel writes characters that would end a field as three octal
/// digits.
fn unescaped(text: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(text.to_owned(), |text, (escape, character)| text.replace(escape, character))
}

/// True if the disk's process is gone. It is asked in a thread of its own, since a disk whose process was stopped
/// does not answer.
fn is_dead(mount_point: &Path) -> bool {
    let (tell, told) = mpsc::channel();
    let asked = mount_point.to_owned();
    let asking = thread::Builder::new().spawn(move || tell.send(asked.symlink_metadata().map(drop)));
    let answer = asking.ok().and_then(|_| told.recv_timeout(PATIENCE).ok());
    matches!(answer, Some(Err(error)) if error.kind() == io::ErrorKind::NotConnected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_mounts_are_told_from_others() {
        let line = |kind: &str, name: &str| {
            format!("36 25 0:32 / /tmp/a\\040b/disk ro,nosuid - {kind} {name} ro,user_id=0")
        };
        assert_eq!(mount_point(&line("fuse", NAME)), Some("/tmp/a b/disk".into()));
        assert_eq!(mount_point(&line("fuse", "sshfs")), None);
        assert_eq!(mount_point(&line("ext4", NAME)), None);
        assert_eq!(mount_point("36 25 0:32"), None);
    }
}
