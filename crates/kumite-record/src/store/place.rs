//! The place of a store's file: a test that it can be made there, a test whether the path still leads to it, and a
//! rescue of its content if not.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rustix::fs::{Access, access};

/// The identity of a file, which a change of its name does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct File {
    device: u64,
    inode: u64,
}

impl File {
    pub fn at(path: &Path) -> Option<File> {
        let found = std::fs::metadata(path).ok()?;
        Some(File { device: found.dev(), inode: found.ino() })
    }
}

/// Returns an error if the file and its folder, which are not there, could not be made: the nearest folder that is
/// there is none, or cannot be written to.
pub(super) fn can_be_made(path: &Path) -> io::Result<()> {
    let above = path.ancestors().skip(1).map(|folder| match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    });
    let nearest = above.into_iter().find(|folder| folder.symlink_metadata().is_ok());
    let nearest = nearest.unwrap_or(Path::new("."));
    if !nearest.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(access(nearest, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// The reason why the content of a store whose file is gone could not be written to another file. The text of the error
/// begins with the path of that folder or file.
#[derive(Debug, thiserror::Error)]
pub enum NotRescued {
    /// The folder could not be made.
    #[error("{}: {source}", folder.display())]
    Folder {
        /// The folder of the old file.
        folder: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The new file could not be written.
    #[error("{}: {source}", file.display())]
    File {
        /// The path of the new file.
        file: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

/// Writes all that an open store has to a new file beside the place of the old one, and returns its path.
pub(super) fn rescue(db: &Connection, path: &Path) -> Result<PathBuf, NotRescued> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let new = |nth: u32| match nth {
        1 => folder.join(format!("{name}-rescued.db")),
        _ => folder.join(format!("{name}-rescued-{nth}.db")),
    };
    let to = (1..).map(new).find(|file| std::fs::symlink_metadata(file).is_err()).expect("one is free");
    std::fs::create_dir_all(folder)
        .map_err(|source| NotRescued::Folder { folder: folder.to_owned(), source })?;
    match db.execute("VACUUM INTO ?1", [to.to_string_lossy()]) {
        Ok(_) => Ok(to),
        Err(source) => Err(NotRescued::File { file: to, source }),
    }
}
