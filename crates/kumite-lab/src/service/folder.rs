//! Where services keep their files for the time of a trial.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// What begins the folder's name; what tells it from others follows.
const PREFIX: &str = "kumite-services-";

/// A folder in the system's one for temporary files, for a server that is not run as root cannot enter every other. Gone
/// when it is dropped.
pub(crate) struct Folder {
    path: PathBuf,
    /// Held for as long as it is used, and so to the end of its process, whatever that is. A number of a process would not
    /// do: machines that are containers or nodes of a job may have one folder for temporary files, and numbers of their own.
    _lock: File,
}

impl Folder {
    /// Empty. What a killed kumite has left there goes.
    pub fn new() -> Result<Folder, String> {
        let root = std::env::temp_dir();
        remove_left(&root);
        Folder::below(&root).map_err(|error| format!("cannot make a folder in {}: {error}", root.display()))
    }

    fn below(root: &Path) -> Result<Folder, std::io::Error> {
        loop {
            let path = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?.keep();
            // Others may enter it whatever our umask is.
            let entered = || fs::set_permissions(&path, fs::Permissions::from_mode(0o711));
            // Another one that looked for what was left may have taken it for that, for it was not locked yet.
            let lock = match entered().and_then(|()| File::open(&path)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            if lock.try_lock().is_ok() && path.exists() {
                return Ok(Folder { path, _lock: lock });
            }
        }
    }

    pub fn for_service(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.path.join(name);
        fs::create_dir(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes the folders of ours that nobody holds.
fn remove_left(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let is_ours = entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw());
        if is_named && is_ours && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            remove(&entry.path());
        }
    }
}

/// The next one says what is wrong if this did not go well.
fn remove(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let used = Folder::below(root.path()).unwrap();
        remove_left(root.path());
        assert_eq!((left.exists(), used.path.exists(), other.exists()), (false, true, true));
        let path = used.path.clone();
        drop(used);
        assert!(!path.exists());
    }
}
