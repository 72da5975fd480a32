//! The submodules of a commit, and where the user's repository has them.
//!
//! A submodule is taken from the user's own copy of it, so that no network is needed. One that the user has never
//! checked out stays empty, as it is in the user's working tree.

use std::path::{Path, PathBuf};

use crate::{Error, Repository};

/// A submodule of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submodule {
    /// The path in the tree, relative to its top.
    pub(crate) path: PathBuf,
    /// The commit that the tree has there.
    pub(crate) commit: String,
    /// The user's copy: git's own folder of the submodule. `None` if there is none.
    pub(crate) copy: Option<PathBuf>,
}

impl Repository<'_> {
    /// The submodules of a commit, each before those in it.
    pub(crate) fn submodules(&self, name: &str, commit: &str) -> Result<Vec<Submodule>, Error> {
        let mut found = Vec::new();
        let copies = [self.git_dir.join("modules"), self.common_dir.join("modules")];
        self.add_submodules(name, &self.top, commit, Path::new(""), &copies, &mut found)?;
        Ok(found)
    }

    /// Adds the submodules of a commit in the repository of `folder`, whose tree is at `below`. `copies` are the
    /// folders in which git keeps the copies of its submodules.
    fn add_submodules(
        &self,
        name: &str,
        folder: &Path,
        commit: &str,
        below: &Path,
        copies: &[PathBuf],
        found: &mut Vec<Submodule>,
    ) -> Result<(), Error> {
        let blob = format!("{commit}:.gitmodules");
        let listed = ["config", "-z", "--blob", &blob, "--get-regexp", r"^submodule\..*\.path$"];
        let listed = match self.git.call(folder, &listed) {
            // The commit has no `.gitmodules`, or one without a path.
            Err(Error::Git { .. }) => return Ok(()),
            listed => listed?,
        };
        let listed = String::from_utf8_lossy(&listed).into_owned();
        for (key, path) in listed.split('\0').filter_map(|entry| entry.split_once('\n')) {
            let module = key.trim_start_matches("submodule.").trim_end_matches(".path");
            let entry = self.git.line(folder, &["ls-tree", commit, "--", path])?;
            // `160000 commit HASH<tab>PATH`
            let Some(commit) = entry.strip_prefix("160000 commit ").and_then(|rest| rest.split('\t').next())
            else {
                continue;
            };
            let path = below.join(path);
            let copy = self.copy_of(&path, module, copies)?;
            if let Some(copy) = &copy {
                let object = format!("{commit}^{{commit}}");
                if self.git.asked(copy, &["cat-file", "-e", &object])?.is_none() {
                    let (name, commit) = (name.to_owned(), commit.to_owned());
                    return Err(Error::NoSubmoduleCommit { name, path, commit });
                }
            }
            found.push(Submodule { path: path.clone(), commit: commit.to_owned(), copy: copy.clone() });
            if let Some(copy) = copy {
                self.add_submodules(name, &copy, commit, &path, &[copy.join("modules")], found)?;
            }
        }
        Ok(())
    }

    /// git's own folder of the user's copy of a submodule, which is checked out, or was. `None` if there is no copy.
    fn copy_of(&self, path: &Path, module: &str, copies: &[PathBuf]) -> Result<Option<PathBuf>, Error> {
        let checked_out = self.top.join(path);
        if checked_out.join(".git").exists() {
            let own = ["rev-parse", "--path-format=absolute", "--git-dir"];
            return Ok(Some(PathBuf::from(self.git.line(&checked_out, &own)?)));
        }
        let kept = copies.iter().map(|copies| copies.join(module));
        Ok(kept.into_iter().find(|copy| copy.join("HEAD").is_file()))
    }
}
