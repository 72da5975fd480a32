//! The sources of a build: the contender's folder and the files it uses, without what git ignores.
//!
//! Their digest decides whether a build is made again and whether two records are of the same contender. So nothing
//! that a build writes may be among them, and everything that changes the program has to be.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use blake3::Hasher;
use ignore::WalkBuilder;
use kumite_cache::{add, content, copy};

use crate::contender::Contender;
use crate::error::{Error, Fault};
use crate::unfit::Unfit;

/// The files that a build is made from, by their names below the deepest folder that has all of them.
pub(super) struct Sources {
    root: PathBuf,
    home: PathBuf,
    files: BTreeSet<PathBuf>,
}

impl Sources {
    pub fn new(contender: &Contender) -> Result<Sources, Error> {
        let folder = &contender.folder;
        let home = folder.canonicalize().map_err(Error::at(folder))?;
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
                let entry = entry.map_err(Error::Walk)?;
                if entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink()) {
                    files.insert(below(&root, entry.path()));
                }
            }
        }
        Ok(Sources { home: below(&root, &home), root, files })
    }

    /// The contender's folder, relative to the folder that the files are in.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The contender's folder where its author keeps it.
    pub fn place(&self) -> PathBuf {
        self.root.join(&self.home)
    }

    /// The files that these names mean, which are relative to the contender's folder. An error if a name means no file.
    pub fn only(&self, names: &[PathBuf]) -> Result<Sources, Error> {
        let mut files = BTreeSet::new();
        for name in names {
            let place = below(&self.root, &plain(&self.place().join(name)));
            let meant: Vec<&PathBuf> = self.files.iter().filter(|file| file.starts_with(&place)).collect();
            if meant.is_empty() {
                let name = name.display();
                return Err(Unfit::new(format!(
                    "[deps] names {name}, which is not among its files: those of its folder and of what it `uses`, without \
                     what their .gitignore names"
                ))
                .into());
            }
            files.extend(meant.into_iter().cloned());
        }
        Ok(Sources { root: self.root.clone(), home: self.home.clone(), files })
    }

    /// Links everything that a command made beside these files in the folder `made` into the folder `to`, which has a
    /// copy of these and other files. An error if the copy has a file of the same name already.
    pub fn link_made(&self, made: &Path, to: &Path) -> Result<(), Error> {
        self.link_made_in(Path::new(""), made, to)
    }

    fn link_made_in(&self, folder: &Path, made: &Path, to: &Path) -> Result<(), Error> {
        let cannot = Error::cannot("read", made);
        for entry in std::fs::read_dir(made.join(folder)).map_err(cannot)? {
            let path = folder.join(entry.map_err(cannot)?.file_name());
            if self.files.contains(&path) {
                continue;
            }
            if self.home.starts_with(&path) || self.files.iter().any(|file| file.starts_with(&path)) {
                self.link_made_in(&path, made, to)?;
                continue;
            }
            symlink(made.join(&path), to.join(&path)).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => Fault::new(format!(
                    "its deps command made {}, which is among its files: let it make that elsewhere",
                    path.display()
                ))
                .into(),
                _ => Error::cannot("link", &path)(error),
            })?;
        }
        Ok(())
    }

    /// The digest of the files and of the commands that are run with them. It is the same on every machine. An error if
    /// a file cannot be read.
    pub fn digest(&self, commands: &[&str]) -> Result<String, Error> {
        self.digest_in(&self.root, commands)
    }

    /// True if the files below this folder and `commands` have that digest. An error if one of the files is not
    /// there.
    pub fn are_in(&self, folder: &Path, digest: &str, commands: &[&str]) -> Result<bool, Error> {
        Ok(self.digest_in(folder, commands)? == digest)
    }

    /// Copies the files to this folder. An error if the copy does not have that digest, because somebody writes to
    /// the files meanwhile.
    pub fn copy(&self, to: &Path, digest: &str, commands: &[&str]) -> Result<(), Error> {
        std::fs::create_dir_all(to.join(&self.home)).map_err(Error::at(to))?;
        for file in &self.files {
            let (from, to) = (self.root.join(file), to.join(file));
            copy(&from, &to).map_err(Error::at(&from))?;
        }
        match self.are_in(to, digest, commands)? {
            true => Ok(()),
            false => Err(Error::Changing),
        }
    }

    fn digest_in(&self, root: &Path, commands: &[&str]) -> Result<String, Error> {
        let mut hasher = Hasher::new();
        add(&mut hasher, self.home.as_os_str().as_encoded_bytes());
        for file in &self.files {
            add(&mut hasher, file.as_os_str().as_encoded_bytes());
            let path = root.join(file);
            let bytes = content(&path).map_err(Error::at(&path))?;
            add(&mut hasher, &bytes);
        }
        for command in commands {
            add(&mut hasher, command.as_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

/// The path without `.` and `..`. What stands before a `..` must be no link.
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
