//! Names of revisions, and the commits that they mean.

use crate::working_tree::WorkingTree;
use crate::{Error, Repository};

/// The name of the working tree as it is.
const WORKING_TREE: &str = ".";
/// The sign between two revisions that means the commit at which they parted.
const PARTED: &str = "...";

/// A revision of the user's repository.
#[derive(Clone, Debug)]
pub struct Revision {
    /// The name, as the user typed it.
    pub name: String,
    /// The commit, in hexadecimal digits. For the working tree it is HEAD, on top of which the changes are.
    pub commit: String,
    /// The files of a working tree that is not as its commit; `None` for a commit, and for a working tree without
    /// changes.
    pub(crate) changed: Option<WorkingTree>,
}

impl Revision {
    /// The digest of the files of a working tree that differs from its commit. `None` for a commit, and for a working
    /// tree without changes.
    pub fn digest(&self) -> Option<&str> {
        self.changed.as_ref().map(|changed| changed.digest.as_str())
    }

    /// True if both are the same commit with the same changes.
    pub fn is_as(&self, other: &Revision) -> bool {
        self.commit == other.commit && self.digest() == other.digest()
    }
}

impl Repository<'_> {
    /// The revision that a name means. The name is one of these: any name of a commit that git knows; `A...B`, the
    /// commit at which the two parted, where `HEAD` may be left out; or `.`, the files as they are, tracked or not,
    /// without ignored ones. An error if git knows no such commit, the two of `A...B` have no common commit, or a file
    /// cannot be read.
    pub fn revision(&self, name: &str) -> Result<Revision, Error> {
        let commit = |commit, changed| Revision { name: name.to_owned(), commit, changed };
        if name == WORKING_TREE {
            let head = self.known("HEAD")?;
            let changes = ["status", "--porcelain", "-z", "--ignore-submodules=none"];
            let changed = match self.git.call(&self.top, &changes)?.is_empty() {
                true => None,
                false => Some(WorkingTree::look(self, &head)?),
            };
            return Ok(commit(head, changed));
        }
        let Some((one, other)) = name.split_once(PARTED) else { return Ok(commit(self.known(name)?, None)) };
        let [one, other] = [one, other].map(|name| if name.is_empty() { "HEAD" } else { name });
        let [first, second] = [self.known(one)?, self.known(other)?];
        match self.git.asked(&self.top, &["merge-base", &first, &second])? {
            Some(base) => Ok(commit(base, None)),
            None => Err(Error::NoMergeBase {
                one: one.to_owned(),
                other: other.to_owned(),
                is_shallow: self.is_shallow,
            }),
        }
    }

    /// The commit that a name means. An error if there is none.
    fn known(&self, name: &str) -> Result<String, Error> {
        if let Some(commit) = self.commit(name)? {
            return Ok(commit);
        }
        let remote = format!("origin/{name}");
        let near = self.commit(&remote)?.map(|_| remote);
        Err(Error::Unknown { name: name.to_owned(), near, is_shallow: self.is_shallow })
    }

    /// The commit that a name means; `None` if there is none.
    pub(crate) fn commit(&self, name: &str) -> Result<Option<String>, Error> {
        let known = |name: &str| {
            self.git.asked(&self.top, &["rev-parse", "--verify", "--quiet", "--end-of-options", name])
        };
        // In two steps, for `:/TEXT` would take a suffix for text.
        known(name)?.map_or(Ok(None), |object| known(&format!("{object}^{{commit}}")))
    }
}
