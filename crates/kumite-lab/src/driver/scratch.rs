//! A folder for a worker's files.

use std::path::{Path, PathBuf};

/// What Linux keeps in memory and every user may write to.
const IN_MEMORY: &str = "/dev/shm";

/// Empty when it is made, and gone when it is dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Below the folder of the store, so that all files of a run are on one disk. What a killed kumite has left there goes.
    pub fn new(state: &Path) -> Result<Scratch, String> {
        Scratch::anew(&state.join("scratch"))
    }

    /// In memory, by a name that the store's folder has alone: what a killed kumite has left is found again.
    pub fn in_memory(state: &Path) -> Result<Scratch, String> {
        let full = state.canonicalize().map_err(|error| format!("{}: {error}", state.display()))?;
        let name = blake3::hash(full.as_os_str().as_encoded_bytes()).to_hex();
        Scratch::anew(&Path::new(IN_MEMORY).join(format!("kumite-scratch-{}", &name[..16])))
    }

    fn anew(folder: &Path) -> Result<Scratch, String> {
        let failed = |error| format!("cannot make {} anew: {error}", folder.display());
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => std::fs::create_dir_all(folder).map_err(failed)?,
        }
        folder.canonicalize().map(Scratch).map_err(failed)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The next one says what is wrong if this did not go well.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_empty_and_goes() {
        let state = tempfile::tempdir().unwrap();
        let left = state.path().join("scratch");
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("of a killed one"), "x").unwrap();
        let scratch = Scratch::new(state.path()).unwrap();
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
        std::fs::write(scratch.path().join("x"), "x").unwrap();
        drop(scratch);
        assert!(!left.exists());
    }

    #[test]
    fn in_memory_each_store_has_its_own() {
        let states = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [one, other] = states.each_ref().map(|state| Scratch::in_memory(state.path()).unwrap());
        assert!(one.path() != other.path() && one.path().starts_with(IN_MEMORY));
        let path = one.path().to_owned();
        std::fs::write(path.join("of a killed one"), "x").unwrap();
        std::mem::forget(one);
        let again = Scratch::in_memory(states[0].path()).unwrap();
        assert_eq!((again.path(), std::fs::read_dir(&path).unwrap().count()), (path.as_path(), 0));
        drop(again);
        assert!(!path.exists());
    }
}
