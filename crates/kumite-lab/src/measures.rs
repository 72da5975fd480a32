//! The number that stands for how trials are measured.

/// The version of how a trial's figures come about: it is raised when they can change by what kumite does. Runs of
/// two of its values are never made one. CONTRIBUTING.md says when it is to be raised, and measures.txt why it was
/// not.
pub const MEASURES: u32 = 2;
