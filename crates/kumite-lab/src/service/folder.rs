//! Where services keep their files for the time of a trial.

use std::fs;
use std::path::PathBuf;

use crate::error::Error;
use crate::held_folder::{HeldFolder, remove_left};

const PREFIX: &str = "kumite-services-";

/// In the system's folder for temporary files, for a server that is not run as root cannot enter every other. Gone when it
/// is dropped.
pub(crate) struct Folder(HeldFolder);

impl Folder {
    /// Empty, and others may enter it.
    pub fn new() -> Result<Folder, Error> {
        HeldFolder::new(&std::env::temp_dir(), PREFIX, 0o711).map(Folder)
    }

    /// Removes what a killed kumite has left there, with the disks that it had mounted, and says what that was.
    pub fn remove_left() -> Vec<PathBuf> {
        remove_left(&std::env::temp_dir(), PREFIX)
    }

    pub fn for_service(&self, name: &str) -> Result<PathBuf, Error> {
        let folder = self.0.path().join(name);
        fs::create_dir(&folder).map_err(Error::cannot("make", &folder))?;
        Ok(folder)
    }
}
