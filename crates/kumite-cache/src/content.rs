//! The files that a build is made from: their digest, and their copy into the cache.

use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use blake3::Hasher;

/// Adds bytes to a digest, preceded by their number, so that no two lists look the same.
pub fn add(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// The kind (link, program or file) and the content of a file, as a digest takes them. The content of a link is its
/// target. An error if the file cannot be read.
pub fn content(path: &Path) -> io::Result<Vec<u8>> {
    let found = path.symlink_metadata()?;
    if found.is_symlink() {
        let target = path.read_link()?;
        return Ok([b"link ", target.as_os_str().as_encoded_bytes()].concat());
    }
    let kind: &[u8] = if may_run(&found) { b"program " } else { b"file " };
    Ok([kind, &std::fs::read(path)?].concat())
}

/// True if the owner may execute the file: the only bit of the mode that git keeps, too.
fn may_run(found: &Metadata) -> bool {
    found.permissions().mode() & 0o100 != 0
}

/// Copies a file or a link, and makes the folders above the copy. The copy is writable for its owner and readable for
/// all; it is executable if the file was. An error if reading or writing fails, or if a link is to be copied to a path
/// that exists.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let found = from.symlink_metadata()?;
    if found.is_symlink() {
        return symlink(from.read_link()?, to);
    }
    std::fs::copy(from, to)?;
    std::fs::set_permissions(to, Permissions::from_mode(if may_run(&found) { 0o755 } else { 0o644 }))
}
