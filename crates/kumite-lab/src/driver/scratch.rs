//! Folders for the files of contenders.

mod storage;

use std::fmt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statfs};

use crate::error::Error;
use crate::held_folder::HeldFolder;
use storage::Storage;

/// The beginning of a folder's name. The rest differs in each trial of each kumite: those that run at once, and have
/// their stores in one folder, on one machine or on several, must not meet here.
const PREFIX: &str = "kumite-scratch-";

/// A folder that Linux keeps in memory and every user may write to.
const IN_MEMORY: &str = "/dev/shm";

/// A folder that is empty when it is made and removed when it is dropped. Folders that a killed kumite has left are
/// removed first.
pub(crate) struct Scratch(HeldFolder);

impl Scratch {
    /// Makes a folder in this place. An error if the place cannot be written to.
    pub fn new(place: &ScratchPlace) -> Result<Scratch, Error> {
        HeldFolder::new(&place.folder, PREFIX, 0o700).map(Scratch)
    }

    /// Makes a folder in memory. An error if `/dev/shm` cannot be written to.
    pub fn in_memory() -> Result<Scratch, Error> {
        HeldFolder::new(Path::new(IN_MEMORY), PREFIX, 0o700).map(Scratch)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// The folder in which the folders of trials are made, with the kind of its storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScratchPlace {
    pub folder: PathBuf,
    storage: Storage,
}

impl ScratchPlace {
    /// The place for the files of trials: the first usable folder of `TMPDIR`, `/var/tmp`, the store's folder and
    /// `/tmp` that is on a disk of this machine. If none is on such a disk, it is the first usable one, and `doubt`
    /// warns of it: a contender must not be measured on a network's disk, where the store may be, or in memory, where
    /// `TMPDIR` and `/tmp` may be. An error if none is usable.
    pub fn for_store(state: &Path) -> Result<ScratchPlace, Error> {
        let asked = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let usual = ["/var/tmp".into(), state.to_owned(), "/tmp".into()];
        ScratchPlace::among(asked.into_iter().chain(usual))
    }

    fn among(folders: impl IntoIterator<Item = PathBuf>) -> Result<ScratchPlace, Error> {
        let usable =
            |folder: &PathBuf| folder.is_dir() && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        let place = |folder: PathBuf| {
            let storage = Storage::of_type(statfs(&folder).ok()?.f_type as u64);
            Some(ScratchPlace { folder: folder.canonicalize().ok()?, storage })
        };
        let places: Vec<ScratchPlace> = folders.into_iter().filter(usable).filter_map(place).collect();
        let here = places.iter().find(|place| place.storage == Storage::Disk);
        here.or(places.first()).cloned().ok_or(Error::NoScratch)
    }

    /// A sentence that says why figures of trials that write to this place are doubtful. `None` if they are not.
    pub fn doubt(&self) -> Option<String> {
        (self.storage != Storage::Disk).then(|| {
            format!("the files of trials are {self}: set TMPDIR to a folder on a disk of this machine")
        })
    }
}

impl fmt::Display for ScratchPlace {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "in {}, {}", self.folder.display(), self.storage.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_its_own_and_goes() {
        let state = tempfile::tempdir().unwrap();
        let place = ScratchPlace::among([state.path().to_owned()]).unwrap();
        let [one, other] = [(), ()].map(|()| Scratch::new(&place).unwrap());
        std::fs::write(one.path().join("x"), "x").unwrap();
        assert_ne!(one.path(), other.path());
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0);
        drop(other);
        assert!(one.path().join("x").exists(), "it is another's");
        drop(one);
        assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0);
    }

    #[test]
    fn in_memory_each_is_its_own_too() {
        let [one, other] = [(), ()].map(|()| Scratch::in_memory().unwrap());
        assert!(one.path() != other.path() && one.path().starts_with(IN_MEMORY));
    }

    #[test]
    fn a_disk_goes_before_memory_and_what_is_missing_is_passed_over() {
        let on_disk = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let missing = on_disk.path().join("missing");
        let folders = [missing.clone(), IN_MEMORY.into(), on_disk.path().to_owned()];
        let place = ScratchPlace::among(folders).unwrap();
        if place.storage == Storage::Disk {
            assert_eq!((place.folder.clone(), place.doubt()), (on_disk.path().canonicalize().unwrap(), None));
        }
        let place = ScratchPlace::among([missing.clone(), IN_MEMORY.into()]).unwrap();
        assert_eq!(
            place.doubt().unwrap(),
            "the files of trials are in /dev/shm, in memory: set TMPDIR to a folder on a disk of this machine"
        );
        assert!(matches!(ScratchPlace::among([missing]), Err(Error::NoScratch)));
    }
}
