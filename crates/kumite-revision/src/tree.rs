//! The tree of a revision: its files in a folder of the cache.

use std::path::{Path, PathBuf};

use kumite_cache::Held;

use crate::revision::Revision;
use crate::submodules::Submodule;
use crate::{Error, Repository};

/// The tree of a revision, built if a build was asked for. As long as this value lives, no kumite removes the tree.
#[derive(Debug)]
pub struct Tree {
    /// The folder of the tree that corresponds to the one in which the user is.
    pub folder: PathBuf,
    /// The time that the build took, in seconds; for a tree from the cache, when it was built. `None` without a build.
    pub build_s: Option<f64>,
    /// True if the tree was in the cache already and was not made anew.
    pub was_cached: bool,
    pub(crate) _held: Held,
}

/// Makes the files of a revision in `to`, which is not there yet.
pub(crate) fn check_out(
    repository: &Repository,
    revision: &Revision,
    submodules: &[Submodule],
    to: &Path,
) -> Result<(), Error> {
    let git = &repository.git;
    clone(repository, &repository.common_dir, to)?;
    if let Some(changed) = &revision.changed {
        // The index is that of the commit, so that what git says of the tree is what it says of the user's.
        git.call(to, &["update-ref", "--no-deref", "HEAD", &revision.commit])?;
        git.call(to, &["read-tree", "HEAD"])?;
        return changed.copy(to);
    }
    git.call(to, &["checkout", "--quiet", "--detach", &revision.commit])?;
    for submodule in submodules {
        let Some(copy) = &submodule.copy else { continue };
        let to = to.join(&submodule.path);
        clone(repository, copy, &to)?;
        git.call(&to, &["checkout", "--quiet", "--detach", &submodule.commit])?;
    }
    Ok(())
}

/// Clones a repository of the user's from git's own folder of it, `from`, without copying its history or checking
/// anything out.
fn clone(repository: &Repository, from: &Path, to: &Path) -> Result<(), Error> {
    let arguments = ["clone", "--quiet", "--shared", "--no-checkout", "--template="].map(AsRef::as_ref);
    let arguments = [&arguments[..], &[from.as_os_str(), to.as_os_str()]].concat();
    let folder = to.parent().unwrap_or(to);
    repository.git.call(folder, &arguments)?;
    let shallow = from.join("shallow");
    if shallow.is_file() {
        // Of a shallow repository git shares nothing, and takes over branches only: other commits would be missing.
        let git_dir = to.join(".git");
        let (file, objects) = (git_dir.join("objects/info/alternates"), from.join("objects"));
        let text = [objects.as_os_str().as_encoded_bytes(), b"\n"].concat();
        let folder = git_dir.join("objects/info");
        std::fs::create_dir_all(&folder).map_err(Error::cannot("make", &folder))?;
        std::fs::write(&file, text).map_err(Error::cannot("write", &file))?;
        std::fs::copy(&shallow, git_dir.join("shallow")).map_err(Error::cannot("copy", &shallow))?;
    }
    Ok(())
}
