//! The reasons why no control group of ours can have a controller.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

const REMEDY: &str = "run in a group of one's own: systemd-run --user --scope -p Delegate=yes kumite …";

/// The reason why no group of ours can have a controller. The message says where it was refused, and the remedy if
/// there is one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No cgroup hierarchy with the controller is mounted, as far as `/proc/self` tells.
    #[error("not to be had: no cgroup hierarchy with {controller} is mounted")]
    Unmounted {
        /// The kernel's name for the controller.
        controller: &'static str,
    },
    /// Version 2 does not give the controller to our own group.
    #[error("not to be had: {} does not have {controller}; {REMEDY}", group.display())]
    Undelegated {
        /// The folder of our own group.
        group: PathBuf,
        /// The kernel's name for the controller.
        controller: &'static str,
    },
    /// A group that we made lacks the file by which the controller is used: for example, an old kernel has no
    /// `cgroup.freeze`.
    #[error("not to be had: a group in {} has no {file}", group.display())]
    NoFile {
        /// The folder of our own group.
        group: PathBuf,
        /// The name of the file that is missing.
        file: &'static str,
    },
    /// Processes other than this one and its descendants are in our own group, and are not ours to move out of it.
    #[error("not permitted: {} has others' processes, too; {REMEDY}", group.display())]
    Shared {
        /// The folder of our own group.
        group: PathBuf,
    },
    /// We have no right to make a group, to give it the controller, or to move our processes into one.
    #[error("not permitted: {} is not writable; run as root, or {REMEDY}", group.display())]
    ReadOnly {
        /// The folder of our own group.
        group: PathBuf,
    },
    /// The system refused for another reason.
    #[error("not to be had: no group can be made in {}: {source}", group.display())]
    Refused {
        /// The folder of our own group.
        group: PathBuf,
        /// The system's error; EIO if it has no number.
        source: Errno,
    },
}

impl Unavailable {
    /// The reason why a group, or a file of one, could not be made or written in `group`.
    pub(crate) fn refused(group: &Path, error: &std::io::Error) -> Unavailable {
        let group = group.to_owned();
        match Errno::from_io_error(error).unwrap_or(Errno::IO) {
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Unavailable::ReadOnly { group },
            source => Unavailable::Refused { group, source },
        }
    }
}
