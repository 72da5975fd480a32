//! The paths of a folder's entries, in no order.

use std::path::{Path, PathBuf};

/// The paths of a folder's entries; empty if it cannot be read.
pub(super) fn entries_of(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
