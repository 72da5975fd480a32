//! The folder in which services keep their files for the time of a trial.

use std::fs;
use std::path::PathBuf;

use crate::error::Error;
use crate::held_folder::{HeldFolder, remove_left};

const PREFIX: &str = "kumite-services-";

/// A folder for the files of services, which is removed when it is dropped. It is in the system's folder for
/// temporary files, because a server that is not run as root cannot enter every other folder.
pub(crate) struct Folder(HeldFolder);

impl Folder {
    /// Makes an empty folder below the system's folder for temporary files, with mode 711, so that other users may
    /// enter it. An error if it cannot be made.
    pub fn new() -> Result<Folder, Error> {
        HeldFolder::new(&std::env::temp_dir(), PREFIX, 0o711).map(Folder)
    }

    /// Removes the folders that killed kumites have left, with the disks that are mounted in them. Returns their
    /// paths, also of one that could not be removed.
    pub fn remove_left() -> Vec<PathBuf> {
        remove_left(&std::env::temp_dir(), PREFIX)
    }

    pub fn for_service(&self, name: &str) -> Result<PathBuf, Error> {
        let folder = self.0.path().join(name);
        fs::create_dir(&folder).map_err(Error::cannot("make", &folder))?;
        Ok(folder)
    }
}
