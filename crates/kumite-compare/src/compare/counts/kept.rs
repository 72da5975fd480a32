//! The files of callgrind's that are kept, in a folder for each comparison. Only the newest folders stay.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::super::error::CompareError;
use super::callgrind::keep;

/// The number of comparisons whose files are kept.
const KEPT: usize = 20;

/// Makes the folder of a comparison in `all`, and removes those of the oldest comparisons.
pub(super) fn folder(all: &Path, started: Timestamp, seed: u64) -> Result<PathBuf, CompareError> {
    // The names sort by time.
    let folder = all.join(format!("{}.{seed}", started.strftime("%Y%m%dT%H%M%SZ")));
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    let mut others: Vec<PathBuf> = entries(all).map_err(at(all))?;
    others.retain(|other| *other != folder);
    others.sort();
    for old in &others[..(others.len() + 1).saturating_sub(KEPT)] {
        fs::remove_dir_all(old).map_err(at(old))?;
    }
    Ok(folder)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
}

/// Makes a folder, or removes all that is in it.
pub(super) fn emptied(folder: &Path) -> Result<(), CompareError> {
    removed(folder)?;
    fs::create_dir_all(folder).map_err(at(folder))
}

/// Removes a folder, if it is there.
pub(super) fn removed(folder: &Path) -> Result<(), CompareError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(folder)(error)),
        _ => Ok(()),
    }
}

/// Copies files of callgrind's into a folder, and returns the paths of the copies.
pub(super) fn copied<'a>(
    files: impl Iterator<Item = &'a PathBuf>,
    folder: &Path,
) -> Result<Vec<PathBuf>, CompareError> {
    let copied = |file: &PathBuf| {
        let to = folder.join(file.file_name().unwrap_or_default());
        keep(file, &to).map_err(at(&to)).map(|()| to)
    };
    files.map(copied).collect()
}

fn at(path: &Path) -> impl Fn(io::Error) -> CompareError {
    move |source| CompareError::Counts { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_of_the_newest_twenty_stay() {
        let all = tempfile::tempdir().unwrap();
        let made: Vec<PathBuf> = (0..25)
            .map(|second| folder(all.path(), Timestamp::from_second(second * 100).unwrap(), 7).unwrap())
            .collect();
        let mut left = entries(all.path()).unwrap();
        left.sort();
        assert_eq!(left, made[5..]);
        // The same again changes nothing.
        assert_eq!(folder(all.path(), Timestamp::from_second(2_400).unwrap(), 7).unwrap(), made[24]);
        assert_eq!(entries(all.path()).unwrap().len(), KEPT);
    }
}
