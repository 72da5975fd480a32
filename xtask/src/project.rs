//! The checkout's folders and files.

use std::path::{Path, PathBuf};

/// The project's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace")
}

/// The folders in this one, sorted.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

/// A file's text. One that cannot be read is a finding, and empty.
pub fn read(file: &Path, wrong: &mut Vec<String>) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| {
        wrong.push(format!("{}: {error}", file.display()));
        String::new()
    })
}

/// A path, from the project's folder.
pub fn show(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
