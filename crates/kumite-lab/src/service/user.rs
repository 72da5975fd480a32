//! The user that runs a server which refuses root.

use std::fs;
use std::path::Path;

use crate::error::Error;

/// A user without special rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct User {
    uid: u32,
    gid: u32,
}

impl User {
    /// The user to become if we are root: `postgres` or `nobody`. None if we are not root; an error if neither
    /// exists.
    pub fn instead_of_root() -> Result<Option<User>, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let named = |name| user(&users, name);
        let found = named("postgres").or_else(|| named("nobody"));
        found.map(Some).ok_or(Error::NoUser)
    }

    /// The beginning of a command that is to run as this user.
    pub fn prefix(self) -> String {
        let User { uid, gid } = self;
        format!("setpriv --reuid={uid} --regid={gid} --clear-groups ")
    }

    /// Makes this user the owner of a file or a folder. An error if the kernel refuses.
    pub fn give(self, path: &Path) -> Result<(), Error> {
        let given = std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid));
        given.map_err(Error::cannot("be given", path))
    }
}

fn user(users: &str, name: &str) -> Option<User> {
    let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some(User { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_by_the_whole_name() {
        let users =
            "postgresql:x:7:8::/:/bin/sh\npostgres:x:101:104:,,,:/var/lib/postgresql:/bin/bash\nbad:x\n";
        assert_eq!(user(users, "postgres"), Some(User { uid: 101, gid: 104 }));
        assert_eq!(user(users, "nobody"), None);
        assert_eq!(user(users, "bad"), None);
    }
}
