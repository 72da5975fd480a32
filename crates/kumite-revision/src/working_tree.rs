//! The working tree as it is: the tracked files and the untracked ones, without what git ignores.
//!
//! Submodules that are checked out are part of it, as they are. A file that was deleted is not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use blake3::Hasher;
use kumite_cache::{add, content, copy};

use crate::git::Git;
use crate::{Error, Repository};

/// The files of a working tree, at one time.
#[derive(Clone, Debug)]
pub(crate) struct WorkingTree {
    top: PathBuf,
    commit: String,
    /// The files, relative to the top.
    files: BTreeSet<PathBuf>,
    pub(crate) digest: String,
}

impl WorkingTree {
    /// The files as they are on top of a commit.
    pub(crate) fn look(repository: &Repository, commit: &str) -> Result<WorkingTree, Error> {
        let mut files = BTreeSet::new();
        add_files(&repository.git, &repository.top, Path::new(""), &mut files)?;
        let (top, commit) = (repository.top.clone(), commit.to_owned());
        let mut tree = WorkingTree { top, commit, files, digest: String::new() };
        tree.digest = tree.digest_in(&tree.top)?;
        Ok(tree)
    }

    /// Copies the files to a folder. An error if the copy does not have the digest that they had.
    pub(crate) fn copy(&self, to: &Path) -> Result<(), Error> {
        for file in &self.files {
            let from = self.top.join(file);
            copy(&from, &to.join(file)).map_err(Error::cannot("copy", &from))?;
        }
        match self.digest_in(to)? == self.digest {
            true => Ok(()),
            false => Err(Error::Changing { folder: self.top.clone() }),
        }
    }

    fn digest_in(&self, folder: &Path) -> Result<String, Error> {
        let mut hasher = Hasher::new();
        add(&mut hasher, self.commit.as_bytes());
        for file in &self.files {
            let path = folder.join(file);
            add(&mut hasher, file.as_os_str().as_encoded_bytes());
            add(&mut hasher, &content(&path).map_err(Error::cannot("read", &path))?);
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}

/// Adds the files of a working tree, and those of the working trees in it.
fn add_files(git: &Git, top: &Path, below: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), Error> {
    let listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    for path in git.paths(&top.join(below), &listed)? {
        let path = below.join(path);
        let whole = top.join(&path);
        match whole.symlink_metadata() {
            Ok(found) if found.is_dir() && whole.join(".git").exists() => add_files(git, top, &path, files)?,
            Ok(found) if found.is_file() || found.is_symlink() => {
                files.insert(path);
            }
            // A submodule that is not checked out, a deleted file, a socket.
            _ => {}
        }
    }
    Ok(())
}
