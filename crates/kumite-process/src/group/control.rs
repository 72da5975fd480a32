//! The controllers of control groups on this machine, and why one cannot be had.

use std::fmt;

use crate::Unavailable;

/// A version of cgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// A hierarchy for each controller.
    V1,
    /// One for all of them.
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

/// For each controller the version of cgroups by which a [`Group`](crate::Group) limits or freezes here, or why none can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// Limits the share of CPU time.
    pub cpu: Result<Version, Unavailable>,
    /// Limits memory and swap.
    pub memory: Result<Version, Unavailable>,
    /// Freezes a group.
    pub freezer: Result<Version, Unavailable>,
}
