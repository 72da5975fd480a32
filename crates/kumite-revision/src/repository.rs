//! The user's repository, which is only read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::Error;
use crate::git::Git;

/// The user's repository.
pub struct Repository<'a> {
    pub(crate) git: Git<'a>,
    /// The top of the working tree.
    pub(crate) top: PathBuf,
    /// The folder of git's own for this working tree.
    pub(crate) git_dir: PathBuf,
    /// The folder of git's own that all working trees of the repository share.
    pub(crate) common_dir: PathBuf,
    /// The folder in which the user is, relative to the top.
    pub(crate) below: PathBuf,
    pub(crate) is_shallow: bool,
}

impl<'a> Repository<'a> {
    /// The repository around a folder. Every call of git for it ends once `stop` is set, which is an error. An error if
    /// git is not on PATH, or the folder is in no repository with a working tree.
    pub fn around(folder: &Path, stop: &'a AtomicBool) -> Result<Repository<'a>, Error> {
        let git = Git::new(stop)?;
        let asked =
            ["--show-toplevel", "--git-dir", "--git-common-dir", "--is-shallow-repository", "--show-prefix"];
        let arguments = [&["rev-parse", "--path-format=absolute"], &asked[..]].concat();
        let said = match git.call(folder, &arguments) {
            Err(Error::Git { said, .. }) => {
                return Err(Error::NoRepository { folder: folder.to_owned(), said });
            }
            said => said?,
        };
        let said = String::from_utf8_lossy(&said).into_owned();
        let mut lines = said.lines();
        let mut next = || lines.next().unwrap_or_default();
        let [top, git_dir, common_dir] = [(); 3].map(|()| PathBuf::from(next()));
        let is_shallow = next() == "true";
        // The prefix ends in a slash, which `components` leaves out.
        let below = Path::new(next()).components().collect();
        Ok(Repository { git, top, git_dir, common_dir, is_shallow, below })
    }

    /// The name of the top folder, which builds may read.
    pub(crate) fn name(&self) -> &OsStr {
        self.top.file_name().unwrap_or_else(|| OsStr::new("tree"))
    }
}
