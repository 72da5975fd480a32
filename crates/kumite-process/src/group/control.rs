use std::fmt;

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

/// What this machine lets us limit by a [`Group`](crate::Group): by which version, or why not, in words ("not
/// permitted: … is not writable; run as root, or …").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// The share of CPU time.
    pub cpu: Result<Version, String>,
    /// Memory and swap.
    pub memory: Result<Version, String>,
    /// Whether a group can be frozen.
    pub freezer: Result<Version, String>,
}
