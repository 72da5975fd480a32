//! Work on the whole folder of a build: closing it against writing, measuring, searching and removing it.

use std::collections::HashSet;
use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const WRITE: u32 = 0o222;

/// Takes away every right to write to a folder and to all in it.
pub(crate) fn seal(folder: &Path) -> io::Result<()> {
    each(folder, &mut |path, found| match found.is_symlink() {
        true => Ok(()),
        false => std::fs::set_permissions(path, Permissions::from_mode(found.mode() & !WRITE)),
    })
}

/// The disk space that a folder takes, in bytes.
pub(crate) fn bytes(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    let mut linked = HashSet::new();
    each(folder, &mut |_, found| {
        if found.nlink() == 1 || found.is_dir() || linked.insert((found.dev(), found.ino())) {
            bytes += found.blocks() * 512;
        }
        Ok(())
    })?;
    Ok(bytes)
}

/// Something in `folder`, or `folder` itself, that was changed after `file` was: a file if there is one, or else a
/// folder. None if nothing was.
pub(crate) fn written_after(folder: &Path, file: &Path) -> io::Result<Option<PathBuf>> {
    // Nobody can set this time (ctime), unlike that of the last change of the content (mtime).
    let time = |found: &Metadata| (found.ctime(), found.ctime_nsec());
    let last = time(&file.symlink_metadata()?);
    let (mut written, mut is_folder) = (None, false);
    each(folder, &mut |path, found| {
        let is_better = written.is_none() || (is_folder && !found.is_dir());
        if is_better && time(found) > last {
            (written, is_folder) = (Some(path.to_owned()), found.is_dir());
        }
        Ok(())
    })?;
    Ok(written)
}

/// Removes a folder with all that is in it, even if it was closed against writing. It is no error if the folder is not
/// there; it is one if something cannot be removed.
pub fn remove(folder: &Path) -> io::Result<()> {
    if folder.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    each(folder, &mut |path, found| match found.is_dir() {
        true => std::fs::set_permissions(path, Permissions::from_mode(0o700)),
        false => Ok(()),
    })?;
    std::fs::remove_dir_all(folder)
}

/// Calls `look` for a path and for everything below it, a folder before its content.
fn each(path: &Path, look: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>) -> io::Result<()> {
    let found = path.symlink_metadata()?;
    look(path, &found)?;
    if found.is_dir() {
        for entry in std::fs::read_dir(path)? {
            each(&entry?.path(), look)?;
        }
    }
    Ok(())
}
