//! What a build is made from: the contender's folder and what it uses, without what git ignores.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use blake3::Hasher;
use ignore::WalkBuilder;

use crate::contender::Contender;

/// The files, by their names below the deepest folder that has them all.
pub(super) struct Sources {
    root: PathBuf,
    home: PathBuf,
    files: BTreeSet<PathBuf>,
}

impl Sources {
    pub fn of(contender: &Contender) -> Result<Sources, String> {
        let folder = &contender.folder;
        let home = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
        let places: Vec<PathBuf> = std::iter::once(home.clone())
            .chain(contender.uses.iter().map(|used| plain(&home.join(used))))
            .collect();
        // Its own name is part of its place, whether it uses something or not.
        let mut root = home.parent().unwrap_or(&home).to_owned();
        while !places.iter().all(|place| place.starts_with(&root)) {
            root.pop();
        }
        let mut files = BTreeSet::new();
        for place in &places {
            // The same files on every machine: only what these folders say themselves is ignored.
            let walk = WalkBuilder::new(place)
                .standard_filters(false)
                .git_ignore(true)
                .require_git(false)
                .filter_entry(|entry| entry.file_name() != OsStr::new(".git"))
                .build();
            for entry in walk {
                let entry = entry.map_err(|error| error.to_string())?;
                if entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink()) {
                    files.insert(below(&root, entry.path()));
                }
            }
        }
        Ok(Sources { home: below(&root, &home), root, files })
    }

    /// The contender's folder, below wherever the files are.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The contender's folder where it is written.
    pub fn place(&self) -> PathBuf {
        self.root.join(&self.home)
    }

    /// A digest of the files and of the command that builds them: the same on every machine.
    pub fn digest(&self, command: Option<&str>) -> Result<String, String> {
        self.digest_in(&self.root, command)
    }

    /// Copies the files below this folder; what is copied has that digest, whoever writes to them meanwhile.
    pub fn copy(&self, to: &Path, digest: &str, command: Option<&str>) -> Result<(), String> {
        std::fs::create_dir_all(to.join(&self.home)).map_err(|error| format!("{}: {error}", to.display()))?;
        for file in &self.files {
            let (from, to) = (self.root.join(file), to.join(file));
            copy(&from, &to).map_err(|error| format!("{}: {error}", from.display()))?;
        }
        match self.digest_in(to, command)? == digest {
            true => Ok(()),
            false => Err("they changed while they were copied".to_owned()),
        }
    }

    fn digest_in(&self, root: &Path, command: Option<&str>) -> Result<String, String> {
        let mut hasher = Hasher::new();
        add(&mut hasher, self.home.as_os_str().as_encoded_bytes());
        for file in &self.files {
            add(&mut hasher, file.as_os_str().as_encoded_bytes());
            let path = root.join(file);
            let bytes = held(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            add(&mut hasher, &bytes);
        }
        add(&mut hasher, command.unwrap_or_default().as_bytes());
        Ok(hasher.finalize().to_hex().to_string())
    }
}

/// With its length, so that no two lists look the same.
pub(super) fn add(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// What kind of file it is, and what it holds: of a link, where it leads.
fn held(path: &Path) -> std::io::Result<Vec<u8>> {
    let found = path.symlink_metadata()?;
    if found.is_symlink() {
        let target = path.read_link()?;
        return Ok([b"link ", target.as_os_str().as_encoded_bytes()].concat());
    }
    let kind: &[u8] = if may_run(&found) { b"program " } else { b"file " };
    Ok([kind, &std::fs::read(path)?].concat())
}

/// The only bit of a mode that git keeps, too.
fn may_run(found: &std::fs::Metadata) -> bool {
    found.permissions().mode() & 0o100 != 0
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
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

fn below(root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

/// Without `..`: what comes before is no link.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
