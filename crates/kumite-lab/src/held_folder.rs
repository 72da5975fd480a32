//! Folders for a limited time, which other kumites leave alone, and clear away once the owner has gone.

use crate::error::Error;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// A folder with a name of its own. It is empty when it is made, and removed when it is dropped.
#[derive(Debug)]
pub(crate) struct HeldFolder {
    path: PathBuf,
    /// The lock on the folder, which lasts until this is dropped or the process ends, however it ends. The number of
    /// a process would not do: containers, or nodes of a job, may share a folder for temporary files and have process
    /// numbers of their own.
    _lock: File,
}

impl HeldFolder {
    /// Makes a new folder below `root`, with a name that begins with `prefix` and the file mode `mode`. Before, it
    /// removes folders with this `prefix` that killed kumites have left there. An error if the folder cannot be made.
    pub fn new(root: &Path, prefix: &str, mode: u32) -> Result<HeldFolder, Error> {
        remove_left(root, prefix);
        let made = HeldFolder::below(root, prefix, mode);
        made.map_err(Error::cannot("make a folder in", root))
    }

    fn below(root: &Path, prefix: &str, mode: u32) -> io::Result<HeldFolder> {
        let root = root.canonicalize()?;
        loop {
            let path = tempfile::Builder::new().prefix(prefix).tempdir_in(&root)?.keep();
            // Whatever our umask is.
            let entered = || fs::set_permissions(&path, Permissions::from_mode(mode));
            // Another one that looked for what was left may have taken it for that, for it was not locked yet.
            let lock = match entered().and_then(|()| File::open(&path)) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened?,
            };
            if lock.try_lock().is_ok() && path.exists() {
                return Ok(HeldFolder { path, _lock: lock });
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for HeldFolder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes our folders with this prefix that nobody holds, as far as that is possible. Returns the paths of all of
/// them.
pub(crate) fn remove_left(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut left = Vec::new();
    let Ok(root) = root.canonicalize() else { return left };
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix));
        let is_ours = entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw());
        if is_named
            && is_ours
            && let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
        {
            remove(&entry.path());
            left.push(entry.path());
        }
    }
    left
}

/// Removes a folder. If that is not possible now, it is left to the next kumite that looks.
fn remove(folder: &Path) {
    if fs::remove_dir_all(folder).is_err() {
        // A disk that was served from there by a kumite that was killed.
        let _ = kumite_disk::unmount_below(folder);
        // A program may leave folders that nobody may write to, as Go leaves its modules.
        make_writable(folder);
        let _ = fs::remove_dir_all(folder);
    }
}

fn make_writable(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = "kumite-test-";

    #[test]
    fn what_a_killed_one_left_goes_and_what_others_have_stays() {
        let root = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let folder = root.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("x"), "x").unwrap();
            folder
        };
        let left = make(&format!("{PREFIX}left"));
        let other = make("kumite-other");
        let used = HeldFolder::new(root.path(), PREFIX, 0o700).unwrap();
        let second = HeldFolder::new(root.path(), PREFIX, 0o711).unwrap();
        assert_eq!([&left, used.path(), second.path(), &other].map(Path::exists), [false, true, true, true]);
        let modes = [&used, &second].map(|folder| folder.path().metadata().unwrap().mode() & 0o777);
        assert_eq!(modes, [0o700, 0o711]);
        assert_eq!(fs::read_dir(used.path()).unwrap().count(), 0);
        let paths = [used.path().to_owned(), second.path().to_owned()];
        drop((used, second));
        assert_eq!(paths.each_ref().map(|path| path.exists()), [false, false]);
    }

    #[test]
    fn folders_that_nobody_may_write_to_go_too() {
        let root = tempfile::tempdir().unwrap();
        let held = HeldFolder::new(root.path(), PREFIX, 0o700).unwrap();
        let inner = held.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("x"), "x").unwrap();
        for folder in [inner.as_path(), inner.parent().unwrap()] {
            fs::set_permissions(folder, Permissions::from_mode(0o500)).unwrap();
        }
        drop(held);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
