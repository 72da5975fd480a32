//! The controllers of control groups on this machine, and why some cannot be used.

use std::fmt;

use crate::Unavailable;

/// A version of cgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Version 1: a hierarchy of groups for each controller.
    V1,
    /// Version 2: one hierarchy of groups for all controllers.
    V2,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Version::V1 => "v1",
            Version::V2 => "v2",
        })
    }
}

/// The version of cgroups by which a [`Group`](crate::Group) can limit CPU time, limit memory and freeze on this
/// machine; or why none can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// The version that limits the share of CPU time.
    pub cpu: Result<Version, Unavailable>,
    /// The version that limits memory and swap.
    pub memory: Result<Version, Unavailable>,
    /// The version that freezes a group.
    pub freezer: Result<Version, Unavailable>,
}
