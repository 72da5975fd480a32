//! A folder for a worker's files.

use std::path::{Path, PathBuf};

/// Empty when it is made, and gone when it is dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Below the folder of the store, so that all files of a run are on one disk. What a killed kumite has left there goes.
    pub fn new(state: &Path) -> Result<Scratch, String> {
        let folder = state.join("scratch");
        let failed = |error| format!("cannot make {} anew: {error}", folder.display());
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => std::fs::create_dir_all(&folder).map_err(failed)?,
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
}
