//! The folders that a contender writes to by itself: the one that it runs in, and the one beside which it was built.
//! The next trial would find there what this one left, so it is moved away and reported.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::contender::{Origin, Ready};
use crate::error::{Error, chain};

/// The folder of Python's compiled modules. Whichever run comes first makes it, and it holds nothing but code.
const COMPILED: &str = "__pycache__";

/// A contender's folder, with a listing of it at one moment.
pub(super) struct OwnFolder {
    folder: PathBuf,
    /// kumite's own folder, which may be inside of this one and is not listed.
    state: PathBuf,
    before: Listing,
}

/// The stamps of files, by their names below the folder. They hold the time of the last change of a file's status,
/// which nobody can set.
type Listing = BTreeMap<PathBuf, Stamp>;

#[derive(PartialEq)]
struct Stamp {
    is_folder: bool,
    changed: (i64, i64),
}

/// The files in a folder that were written since its listing was made.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Written {
    /// The files that were not there before; for a new folder, the folder alone.
    new: Vec<PathBuf>,
    /// The first file that was there before, and was changed or removed. None if there is none.
    changed: Option<PathBuf>,
}

impl OwnFolder {
    /// Lists the folders of a contender before a trial, if the contender can write to them: it runs in its author's
    /// folder, or kumite is root, to whom a build is not closed. Empty if it cannot, and for a contender on another
    /// node. `state` is the folder that kumite itself writes to, which is left out. An error if a folder cannot be
    /// read.
    pub fn of_trial(contender: &Ready, state: &Path) -> Result<Vec<OwnFolder>, Error> {
        let is_open = match contender.origin {
            Some(Origin::InPlace) => true,
            Some(Origin::Built | Origin::Found) => geteuid().is_root(),
            None => false,
        };
        let folders = std::iter::once(&contender.folder).chain(&contender.deps).filter(|_| is_open);
        folders.map(|folder| OwnFolder::look(folder, state)).collect()
    }

    /// Lists the folder of a contender before a check, if the contender runs in its author's folder; else returns no
    /// folder, because writes into a build are found in another way. An error if the folder cannot be read.
    pub fn of_check(contender: &Ready, state: &Path) -> Result<Vec<OwnFolder>, Error> {
        match contender.origin {
            Some(Origin::InPlace) => Ok(vec![OwnFolder::look(&contender.folder, state)?]),
            _ => Ok(Vec::new()),
        }
    }

    fn look(folder: &Path, state: &Path) -> Result<OwnFolder, Error> {
        let full = |path: &Path| path.canonicalize().map_err(Error::at(path));
        let (folder, state) = (full(folder)?, full(state)?);
        let before = listing(&folder, &state)?;
        Ok(OwnFolder { folder, state, before })
    }

    /// A sentence about the files that were written since the listing, and `true` if the trial cannot count because of
    /// them. `None` if nothing was written. New files are moved to `away`; if that fails, the sentence says so, and the
    /// trial cannot count.
    pub fn tidied(&self, away: &Path) -> Option<(String, bool)> {
        match self.tidy(away) {
            Ok(written) => written.sentence(&self.folder, away),
            Err(why) => Some((chain(&why), true)),
        }
    }

    /// The files that were written since the listing. New ones are moved to `away`, so that no later trial finds
    /// them.
    fn tidy(&self, away: &Path) -> Result<Written, Error> {
        let now = listing(&self.folder, &self.state)?;
        let changed = self.before.iter().find(|(name, before)| now.get(*name) != Some(*before));
        let mut written = Written { new: Vec::new(), changed: changed.map(|(name, _)| name.clone()) };
        for name in now.keys().filter(|name| !self.before.contains_key(*name)) {
            if written.new.last().is_none_or(|folder| !name.starts_with(folder)) {
                written.new.push(name.clone());
            }
        }
        for name in &written.new {
            let (from, to) = (self.folder.join(name), away.join(name));
            carry(&from, &to).map_err(Error::step(format!("cannot move {} away", from.display())))?;
        }
        Ok(written)
    }
}

impl Written {
    fn sentence(&self, folder: &Path, away: &Path) -> Option<(String, bool)> {
        const ELSEWHERE: &str = "which its next trial would find: let it write elsewhere";
        let folder = folder.display();
        match (&self.changed, &self.new[..]) {
            (Some(changed), _) => {
                Some((format!("it changed {} in its folder, {folder}, {ELSEWHERE}", changed.display()), true))
            }
            (None, [first, rest @ ..]) => {
                let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
                let (first, away) = (first.display(), away.display());
                let what = format!("it wrote {first}{more} in its folder, {folder}, {ELSEWHERE}");
                Some((format!("{what}; it was moved to {away}"), false))
            }
            (None, []) => None,
        }
    }
}

fn listing(folder: &Path, state: &Path) -> Result<Listing, Error> {
    let mut listing = Listing::new();
    list(folder, Path::new(""), state, &mut listing).map_err(Error::cannot("read", folder))?;
    Ok(listing)
}

/// Lists the files of a folder. A file that goes while it is looked at counts as absent; kumite's own files are left
/// out.
fn list(folder: &Path, below: &Path, state: &Path, listing: &mut Listing) -> io::Result<()> {
    if folder == state {
        return Ok(());
    }
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && below != Path::new("") => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Ok(found) = entry.path().symlink_metadata() else { continue };
        if found.is_dir() && name == OsStr::new(COMPILED) {
            continue;
        }
        let below = below.join(&name);
        if found.is_dir() {
            list(&entry.path(), &below, state, listing)?;
        }
        listing.insert(below, Stamp::new(&found));
    }
    Ok(())
}

impl Stamp {
    /// The stamp of a file or a folder. A folder's has no time: a change in a folder shows in its files.
    fn new(found: &Metadata) -> Stamp {
        let changed = if found.is_dir() { (0, 0) } else { (found.ctime(), found.ctime_nsec()) };
        Stamp { is_folder: found.is_dir(), changed }
    }
}

/// Moves a file or a folder, to another disk if need be. What was at `to` before is removed. It is no error if `from`
/// has gone.
pub(super) fn carry(from: &Path, to: &Path) -> io::Result<()> {
    let remove = |path: &Path| match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    remove(to)?;
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy(from, to)?;
            remove(from)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Copies a file or a folder. Sockets and pipes are left out, since they are nothing without their process.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let found = from.symlink_metadata()?;
    if found.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else if found.is_symlink() {
        std::os::unix::fs::symlink(from.read_link()?, to)?;
    } else if found.is_file() {
        fs::copy(from, to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of `write` in a folder that has a file `there` and a folder `full` with a file.
    fn written(write: impl FnOnce(&Path)) -> (tempfile::TempDir, Written) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("own");
        fs::create_dir_all(folder.join("full")).unwrap();
        for file in ["there", "full/file"] {
            fs::write(folder.join(file), "x").unwrap();
        }
        let state = folder.join(".kumite");
        fs::create_dir(&state).unwrap();
        let own = OwnFolder::look(&folder, &state).unwrap();
        fs::write(state.join("kumite.db"), "").unwrap();
        write(&folder);
        let written = own.tidy(&place.path().join("away")).unwrap();
        assert!(own.tidy(&place.path().join("away")).unwrap().new.is_empty(), "all that is new has gone");
        (place, written)
    }

    #[test]
    fn what_is_new_is_named_and_moved_away() {
        let (place, found) = written(|folder| {
            fs::create_dir_all(folder.join("cache/deep")).unwrap();
            fs::write(folder.join("cache/deep/x"), "state").unwrap();
            fs::write(folder.join("full/new"), "").unwrap();
            fs::create_dir(folder.join("mark")).unwrap();
            std::os::unix::fs::symlink("nowhere", folder.join("link")).unwrap();
        });
        assert_eq!(found.new, ["cache", "full/new", "link", "mark"].map(PathBuf::from));
        assert_eq!(found.changed, None);
        assert_eq!(fs::read_to_string(place.path().join("away/cache/deep/x")).unwrap(), "state");
        let (what, is_fatal) = found.sentence(Path::new("/own"), Path::new("/away")).unwrap();
        assert_eq!(
            what,
            "it wrote cache and 3 more in its folder, /own, which its next trial would find: let it write elsewhere; \
             it was moved to /away"
        );
        assert!(!is_fatal);
    }

    #[test]
    fn what_was_there_and_is_changed_removed_or_replaced_is_named() {
        type Change = fn(&Path);
        let changes: [(&str, Change); 4] = [
            ("there", |folder| fs::write(folder.join("there"), "y").unwrap()),
            ("full/file", |folder| fs::remove_file(folder.join("full/file")).unwrap()),
            ("there", |folder| {
                fs::remove_file(folder.join("there")).unwrap();
                fs::create_dir(folder.join("there")).unwrap();
            }),
            ("full", |folder| fs::remove_dir_all(folder.join("full")).unwrap()),
        ];
        for (name, change) in changes {
            let (_, found) = written(change);
            assert_eq!(found.changed, Some(name.into()));
            let what = format!(
                "it changed {name} in its folder, /own, which its next trial would find: let it write elsewhere"
            );
            assert_eq!(found.sentence(Path::new("/own"), Path::new("/away")), Some((what, true)));
        }
    }

    #[test]
    fn reading_and_compiled_python_are_nothing() {
        let (_place, found) = written(|folder| {
            fs::read(folder.join("there")).unwrap();
            fs::create_dir(folder.join("full/__pycache__")).unwrap();
            fs::write(folder.join("full/__pycache__/a.pyc"), "").unwrap();
        });
        assert_eq!(found, Written::default());
        assert_eq!(found.sentence(Path::new("/own"), Path::new("/away")), None);
    }
}
