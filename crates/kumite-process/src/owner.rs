//! Owners of processes. `KUMITE_TREE=NAMESPACE-PID-STARTED-COUNT` in a process's environment names the kumite that
//! started its tree: by the inode of its pid namespace, its process id, and its start in clock ticks after boot. The
//! last number counts that kumite's trees.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::proc_fs::Stat;

/// The environment variable by which a process is known to belong to a tree.
pub const MARKER: &str = "KUMITE_TREE";

/// A process that starts trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub namespace: u64,
    pub pid: i32,
    pub started: u64,
}

impl Owner {
    /// This process as an owner; `None` if `/proc` is not there, or is that of another pid namespace.
    pub(crate) fn this() -> Option<Owner> {
        let pid = std::process::id().cast_signed();
        if fs::read_link("/proc/self").ok()? != Path::new(&pid.to_string()) {
            return None;
        }
        let namespace = fs::metadata("/proc/self/ns/pid").ok()?.ino();
        Some(Owner { namespace, pid, started: Stat::read(pid)?.started })
    }

    /// The owner that a token names; `None` for a token of another form.
    pub(crate) fn parse(token: &str) -> Option<Owner> {
        let fields: Option<Vec<u64>> = token.split('-').map(|field| field.parse().ok()).collect();
        let [namespace, pid, started, _] = fields?[..] else { return None };
        Some(Owner { namespace, pid: i32::try_from(pid).ok().filter(|&pid| pid > 0)?, started })
    }

    /// The living process of our own namespace that has this id now; `None` if there is none.
    pub(crate) fn at(pid: i32) -> Option<Owner> {
        let namespace = fs::metadata("/proc/self/ns/pid").ok()?.ino();
        let stat = Stat::read(pid).filter(|stat| !stat.is_zombie())?;
        Some(Owner { namespace, pid, started: stat.started })
    }

    /// `true` if the owner, of our own namespace, has not ended.
    pub(crate) fn lives(&self) -> bool {
        match Stat::read(self.pid) {
            Some(stat) => stat.started == self.started && !stat.is_zombie(),
            // The process may be there without being shown to us.
            None => kill(Pid::from_raw(self.pid), None) != Err(Errno::ESRCH),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}-{}-{}", self.namespace, self.pid, self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_another_form_has_no_owner() {
        for token in ["", "1-2-3", "1-2-3-4-5", "1-2-3-x", "1-0-3-4", "1--2-3-4", "1-9999999999-3-4"] {
            assert_eq!(Owner::parse(token), None, "{token}");
        }
    }

    #[test]
    fn an_owner_lives_until_its_process_has_ended() {
        let us = Owner::this().unwrap();
        assert!(us.lives());
        assert!(!Owner { started: us.started + 1, ..us }.lives());
        let mut child = crate::spawn_unmarked(&mut std::process::Command::new("true")).unwrap();
        let pid = child.id().cast_signed();
        let ended = Owner { pid, started: Stat::read(pid).unwrap().started, ..us };
        let began = std::time::Instant::now();
        while ended.lives() {
            assert!(began.elapsed().as_secs() < 60, "a zombie does not live");
        }
        child.wait().unwrap();
        assert!(!ended.lives());
    }
}
