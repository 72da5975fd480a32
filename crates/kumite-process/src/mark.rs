//! The mark of a tree: a resource limit by which descendants are known even if they have cleared their environment
//! and left group, session and parent.
//!
//! Linux has a limit on file locks (`RLIMIT_LOCKS`, "Max file locks") and has not used it since 2.4. A process
//! inherits it from the one that starts it, across `exec`, a new session and any number of forks, and
//! `/proc/PID/limits` shows it to everybody. It is lost only if a process sets this very limit anew.
//!
//! Our mark is a number of 19 digits: a 7, seven digits of our process id, five of our start, two of our pid
//! namespace (the last digits of each), and four that count trees. Only the soft limit is set, so that a kumite in a
//! tree of another kumite can set its own.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::owner::Owner;

/// The number of marks that an owner can tell apart: four digits count its trees.
const COUNTS: u64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(u64);

impl Mark {
    pub(crate) fn new(owner: &Owner, count: u64) -> Option<Mark> {
        format!("{}{:04}", Mark::beginning(owner), count % COUNTS).parse().ok().map(Mark)
    }

    /// The digits with which every mark of an owner begins.
    pub(crate) fn beginning(owner: &Owner) -> String {
        format!("7{:07}{:05}{:02}", owner.pid, owner.started % 100_000, owner.namespace % 100)
    }

    /// The mark that a process carries; `None` if it carries none, or has gone.
    pub(crate) fn read(pid: i32) -> Option<Mark> {
        Mark::in_limits(&fs::read_to_string(format!("/proc/{pid}/limits")).ok()?)
    }

    fn in_limits(limits: &str) -> Option<Mark> {
        let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
        let number: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
        (number / 1_000_000_000_000_000_000 == 7).then_some(Mark(number))
    }

    /// `true` if a process of our namespace with this mark belongs to this owner.
    fn is_of(self, owner: &Owner) -> bool {
        (self.0 / COUNTS).to_string() == Mark::beginning(owner)
    }

    /// `true` if the process is in our namespace, and the owner of its mark was in it, too, and has ended.
    pub(crate) fn is_left_over(self, pid: i32, us: Owner) -> bool {
        let namespace = fs::metadata(format!("/proc/{pid}/ns/pid")).map(|namespace| namespace.ino());
        let owner = i32::try_from(self.0 / 100_000_000_000 % 10_000_000).ok().and_then(Owner::at);
        namespace.ok() == Some(us.namespace)
            && self.0 / COUNTS % 100 == us.namespace % 100
            && owner.is_none_or(|owner| !self.is_of(&owner))
    }
}

/// Starts a process that belongs to no tree. [`Command::spawn`] could give the process the mark of a tree that another
/// thread starts at the same moment; the process would then be ended with that tree.
///
/// # Errors
///
/// Those of [`Command::spawn`].
#[expect(clippy::disallowed_methods, reason = "it is the way")]
pub fn spawn_unmarked(command: &mut Command) -> io::Result<Child> {
    starting(None, || command.spawn())
}

/// Calls `start`, which starts a process, so that the process gets this mark, or none.
pub(crate) fn starting<T>(mark: Option<Mark>, start: impl FnOnce() -> T) -> T {
    // The limit is that of our whole process, and a child inherits it.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_LOCKS) else { return start() };
    // If it cannot be set, somebody has given us a lower hard limit; then a descendant is known in the other ways
    // alone.
    let _ = setrlimit(Resource::RLIMIT_LOCKS, mark.map_or(hard, |mark| mark.0), hard);
    let started = start();
    let _ = setrlimit(Resource::RLIMIT_LOCKS, soft, hard);
    started
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_names_its_owner_and_no_other_limit_is_one() {
        let us = Owner::this().unwrap();
        let [first, second] = [0, 12_345].map(|count| Mark::new(&us, count).unwrap());
        assert_eq!((first.0 % 10_000, second.0 % 10_000), (0, 2345));
        assert!(first.is_of(&us) && second.is_of(&us) && first != second);
        let largest = Owner { namespace: u64::MAX, pid: 4_194_304, started: u64::MAX };
        assert!(Mark::new(&largest, u64::MAX).unwrap().is_of(&largest));
        let line = format!("Limit\nMax file locks            {}  unlimited            locks\n", second.0);
        assert_eq!(Mark::in_limits(&line), Some(second));
        for limits in ["", "Max file locks unlimited unlimited locks", "Max file locks 1000 unlimited locks"]
        {
            assert_eq!(Mark::in_limits(limits), None, "{limits}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it is started as a tree is")]
    fn what_is_started_has_the_mark_and_we_do_not() {
        let us = Owner::this().unwrap();
        let mark = Mark::new(&us, 7).unwrap();
        let mut sleep = Command::new("env");
        sleep.args(["-i", "sleep", "300"]);
        let mut marked = starting(Some(mark), || sleep.spawn()).unwrap();
        let mut unmarked = spawn_unmarked(&mut sleep).unwrap();
        let pids = [&marked, &unmarked].map(|child| child.id().cast_signed());
        assert_eq!(pids.map(Mark::read), [Some(mark), None]);
        assert_ne!(Mark::read(std::process::id().cast_signed()), Some(mark));
        assert!(!mark.is_left_over(pids[0], us), "its owner lives");
        let dead = Mark::new(&Owner { started: us.started + 1, ..us }, 7).unwrap();
        assert!(dead.is_left_over(pids[0], us));
        assert!(
            !dead.is_left_over(pids[0], Owner { namespace: us.namespace + 1, ..us }),
            "another namespace's"
        );
        for child in [&mut marked, &mut unmarked] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
