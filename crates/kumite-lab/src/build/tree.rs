//! The folder of a build: closed against writing, measured, looked over, removed.

use std::collections::HashSet;
use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const WRITE: u32 = 0o222;

/// Takes away every right to write, and says how much it holds, in bytes.
pub(super) fn seal(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    let mut linked = HashSet::new();
    each(folder, &mut |path, found| {
        if found.nlink() == 1 || found.is_dir() || linked.insert((found.dev(), found.ino())) {
            bytes += found.blocks() * 512;
        }
        if found.is_symlink() {
            return Ok(());
        }
        std::fs::set_permissions(path, Permissions::from_mode(found.mode() & !WRITE))
    })?;
    Ok(bytes)
}

/// What was written there after this time, if anything was.
pub(super) fn written_since(folder: &Path, time: SystemTime) -> io::Result<Option<PathBuf>> {
    let mut written = None;
    each(folder, &mut |path, found| {
        if written.is_none() && found.modified()? > time {
            written = Some(path.to_owned());
        }
        Ok(())
    })?;
    Ok(written)
}

/// Removes it, whoever may write to it.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    if folder.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    each(folder, &mut |path, found| match found.is_dir() {
        true => std::fs::set_permissions(path, Permissions::from_mode(0o700)),
        false => Ok(()),
    })?;
    std::fs::remove_dir_all(folder)
}

/// A folder comes before what is in it.
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
