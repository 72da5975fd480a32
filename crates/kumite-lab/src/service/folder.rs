//! Where services keep their files for the time of a trial.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// What begins the folder's name; the process that made it follows.
const PREFIX: &str = "kumite-services-";

/// A folder in the system's one for temporary files, for a server that is not run as root cannot enter every other. Gone
/// when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Empty. What a killed kumite has left there goes.
    pub fn new() -> Result<Folder, String> {
        let root = std::env::temp_dir();
        remove_left(&root);
        let folder = root.join(format!("{PREFIX}{}", std::process::id()));
        // Others may enter it whatever our umask is.
        let entered = || fs::set_permissions(&folder, fs::Permissions::from_mode(0o711));
        fs::create_dir(&folder)
            .and_then(|()| entered())
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Folder(folder))
    }

    pub fn for_service(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.0.join(name);
        fs::create_dir(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes the folders of ours whose process is gone.
fn remove_left(root: &Path) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let ours = entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw());
        let own = pid.parse() == Ok(std::process::id());
        if ours && (own || !Path::new("/proc").join(pid).exists()) {
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
        // No process has this number: it is above the kernel's limit.
        let left = make(&format!("{PREFIX}4194999"));
        let alive = make(&format!("{PREFIX}1"));
        let other = make("kumite-other");
        remove_left(root.path());
        assert_eq!((left.exists(), alive.exists(), other.exists()), (false, true, true));
    }
}
