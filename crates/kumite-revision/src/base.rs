//! The branch that changes are to be merged into, for a gate that was told no reference.

use crate::{Error, Repository};

/// The branches that are tried, in this order, where the remote names no default branch that is here.
const USUAL: [&str; 4] = ["origin/main", "origin/master", "main", "master"];

impl Repository<'_> {
    /// A name of the commit at which a revision left the default branch: `BRANCH...NAME`. The default branch is that of
    /// the remote `origin`, or else the first of `origin/main`, `origin/master`, `main` and `master` that exists. The
    /// working tree (`.`) counts as HEAD. An error if there is no default branch, or git cannot be asked. Nobody looks
    /// here whether the revision exists.
    pub fn merge_base_name(&self, name: &str) -> Result<String, Error> {
        let head = ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"];
        let said = self.git.asked(&self.top, &head)?;
        for branch in said.iter().map(String::as_str).chain(USUAL) {
            if self.commit(branch)?.is_some() {
                let name = if name == "." { "HEAD" } else { name };
                return Ok(format!("{branch}...{name}"));
            }
        }
        Err(Error::NoDefaultBranch { name: name.to_owned(), tried: USUAL.map(str::to_owned).into() })
    }
}
