//! The files that are shown: their names and sizes, as they were when the disk was mounted.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fuser::{FileAttr, FileType, INodeNo};
use rustix::process::{getgid, getuid};

use crate::Error;

/// The node number of the first file; 1 is the folder's.
const FIRST: u64 = 2;

#[derive(Debug)]
pub(crate) struct Mirror {
    folder: PathBuf,
    names: Vec<OsString>,
    sizes: Vec<u64>,
    nodes: HashMap<OsString, INodeNo>,
}

impl Mirror {
    pub fn new(folder: &Path) -> Result<Mirror, Error> {
        let list = || -> io::Result<Vec<(OsString, u64)>> {
            let mut files = Vec::new();
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?;
                if entry.file_type()?.is_file() {
                    files.push((entry.file_name(), entry.metadata()?.len()));
                }
            }
            Ok(files)
        };
        // Absolute, since whoever works in another folder later reads the same files.
        let folder =
            folder.canonicalize().map_err(|source| Error::Folder { folder: folder.to_owned(), source })?;
        let mut files = list().map_err(|source| Error::Folder { folder: folder.clone(), source })?;
        if files.is_empty() {
            return Err(Error::NoFiles(folder));
        }
        files.sort();
        let (names, sizes): (Vec<_>, Vec<_>) = files.into_iter().unzip();
        let nodes = names.iter().cloned().zip((FIRST..).map(INodeNo)).collect();
        Ok(Mirror { folder, names, sizes, nodes })
    }

    /// The attributes of the file with this name; none if there is no such file.
    pub fn named(&self, name: &OsStr) -> Option<FileAttr> {
        self.attributes(*self.nodes.get(name)?)
    }

    /// The attributes of a file or of the folder; none if there is no such node.
    pub fn attributes(&self, node: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match node {
            INodeNo::ROOT => (FileType::Directory, 0o555, 0),
            _ => (FileType::RegularFile, 0o444, self.size(node)?),
        };
        Some(FileAttr {
            ino: node,
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: getuid().as_raw(),
            gid: getgid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    pub fn size(&self, node: INodeNo) -> Option<u64> {
        self.sizes.get(index(node)?).copied()
    }

    pub fn open(&self, node: INodeNo) -> io::Result<File> {
        let name = index(node).and_then(|nth| self.names.get(nth)).ok_or(io::ErrorKind::NotFound)?;
        File::open(self.folder.join(name))
    }

    /// The files, in the order of their names.
    pub fn files(&self) -> impl Iterator<Item = (INodeNo, &OsStr)> {
        (FIRST..).map(INodeNo).zip(self.names.iter().map(OsString::as_os_str))
    }
}

fn index(node: INodeNo) -> Option<usize> {
    node.0.checked_sub(FIRST).map(|nth| nth as usize)
}
