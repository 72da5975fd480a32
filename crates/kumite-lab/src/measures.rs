//! The version of how trials are measured.

/// The version of how a trial's figures come about. It is raised when a change of kumite can change figures. Runs with
/// two different values are never made one. CONTRIBUTING.md says when it is to be raised. measures.txt gives the
/// reasons for changes that did not raise it.
pub const MEASURES: u32 = 2;
