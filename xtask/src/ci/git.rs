//! Questions to git about the checkout.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The output of `git ARGUMENTS`; an error has git's own words.
pub fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output();
    let output = output.context("git cannot be started")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        bail!("`git {}` failed: {why}", arguments.join(" "));
    }
    String::from_utf8(output.stdout).context("git names a file that is no UTF-8")
}

/// The files that differ from this commit, as they are in the folder now: also what is not committed, what was deleted,
/// and where what was moved came from.
pub fn changed(root: &Path, commit: &str) -> Result<BTreeSet<String>> {
    let differing = git(root, &["diff", "--name-only", "--no-renames", "-z", commit])?;
    let untracked = git(root, &["ls-files", "--others", "--exclude-standard", "-z"])?;
    Ok(differing
        .split('\0')
        .chain(untracked.split('\0'))
        .filter(|p| !p.is_empty())
        .map(str::to_owned)
        .collect())
}

/// The files of the project, whether they are committed yet or not.
pub fn files(root: &Path) -> Result<Vec<String>> {
    let all = git(root, &["ls-files", "--cached", "--others", "--exclude-standard", "-z"])?;
    let there = |file: &&str| !file.is_empty() && root.join(file).is_file();
    Ok(all.split('\0').filter(there).map(str::to_owned).collect())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A repository of its own.
    pub struct Repository(tempfile::TempDir);

    impl Repository {
        pub fn new() -> Repository {
            let repository = Repository(tempfile::tempdir().unwrap());
            repository.git(&["init", "-q", "-b", "main"]);
            repository
        }

        /// Its main, in a repository that has it as `origin`.
        pub fn cloned(&self) -> Repository {
            let clone = Repository(tempfile::tempdir().unwrap());
            clone.git(&["clone", "-q", self.root().to_str().unwrap(), "."]);
            clone
        }

        pub fn root(&self) -> &Path {
            self.0.path()
        }

        /// Git as somebody who may commit.
        pub fn git(&self, arguments: &[&str]) -> String {
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
            git(self.root(), &[&who, arguments].concat()).unwrap()
        }

        pub fn write(&self, file: &str, text: &str) {
            let file = self.root().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }

        /// Commits all there is, and a file of this name.
        pub fn commit(&self, name: &str) -> String {
            self.write(name, name);
            self.write(".ci/README", "");
            self.git(&["add", "."]);
            self.git(&["commit", "-q", "-m", name]);
            self.git(&["rev-parse", "HEAD"]).trim().to_owned()
        }
    }

    #[test]
    fn a_moved_a_deleted_and_an_untracked_file_are_changes() {
        let repository = Repository::new();
        repository.write("from here", "a long text that git knows again");
        let base = repository.commit("kept");
        repository.git(&["mv", "from here", "to ünder"]);
        repository.commit("new");
        std::fs::remove_file(repository.root().join("kept")).unwrap();
        repository.write("untracked", "");
        let changed = changed(repository.root(), &base).unwrap();
        assert_eq!(Vec::from_iter(changed), ["from here", "kept", "new", "to ünder", "untracked"]);
        assert!(!files(repository.root()).unwrap().contains(&"kept".to_owned()));
    }
}
