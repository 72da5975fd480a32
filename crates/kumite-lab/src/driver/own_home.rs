//! A home and a folder for temporary files of a trial's own, so that the next trial does not find what this one wrote
//! there.
//!
//! An empty home would break programs that find libraries and tools in it (`pip install --user`, rustup, pyenv). So
//! it has links to everything in the user's home: programs read there as ever, and new files are the trial's own.
//! Files written through the links are not, so kumite looks for them where programs usually write: in the caches.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use crate::contender::Ready;
use crate::driver::scratch::ScratchPlace;
use crate::error::Error;
use crate::held_folder::HeldFolder;

const PREFIX: &str = "kumite-home-";

/// The variable for the user's cache, one of the base folders of the XDG specification. `OURS` is the folder in the
/// cache that kumite itself keeps.
const CACHE: &str = "XDG_CACHE_HOME";
const OURS: &str = "kumite";

/// The variables for the folders where programs write, each with its place below a home if the variable is not set.
const BASES: [(&str, &str); 4] = [
    (CACHE, ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// The number of files and folders of the caches from which on no further folder is opened after a trial, the least
/// deep first. A cache may hold a million.
const LOOKED_AT: usize = 4096;

/// A trial's own home, which is removed when it is dropped.
pub(crate) struct OwnHome {
    folder: HeldFolder,
    /// The variables that lead a contender to this home.
    env: Vec<(String, String)>,
    /// The user's caches that the home links to.
    linked: Vec<PathBuf>,
    /// The time at which the home was made, as seconds and nanoseconds of the file system.
    since: (i64, i64),
}

/// The folders of the user who started kumite.
struct Users {
    home: Option<PathBuf>,
    /// The folders that the user's variables lead to, each with its variable.
    bases: Vec<(&'static str, PathBuf)>,
}

impl OwnHome {
    /// Makes a home among the system's temporary files or, if that fails, where the files of trials are. `state` is the
    /// folder of the store. An error if neither place can be used, or a link to the user's files cannot be made.
    pub fn new(state: &Path) -> Result<OwnHome, Error> {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let usual = HeldFolder::new(&std::env::temp_dir(), PREFIX, 0o700);
        let folder =
            usual.or_else(|_| HeldFolder::new(&ScratchPlace::for_store(state)?.folder, PREFIX, 0o700))?;
        OwnHome::in_folder(&Users::from_environment(&variable), folder)
    }

    fn in_folder(users: &Users, folder: HeldFolder) -> Result<OwnHome, Error> {
        let root = folder.path().to_owned();
        let cannot = Error::cannot("make a home in", &root);
        let (home, temporary) = (folder.path().join("home"), folder.path().join("tmp"));
        // Folders that are not linked, because the home has one of its own for each.
        let mut own = vec![(users.home.clone(), home.clone())];
        own.push((users.home.as_ref().map(|users| users.join(".local")), home.join(".local")));
        own.extend(BASES.iter().map(|(name, below)| (users.base(name), home.join(below))));
        let places: Vec<&PathBuf> = own.iter().map(|(_, place)| place).collect();
        for place in places.iter().copied().chain([&temporary]) {
            fs::create_dir_all(place).map_err(cannot)?;
        }
        let mut linked = Vec::new();
        for (theirs, place) in &own {
            let is_cache = *place == home.join(BASES[0].1);
            for theirs in theirs.iter().flat_map(|theirs| entries(theirs)) {
                let name = theirs.file_name().unwrap_or_default();
                let link = place.join(name);
                if places.contains(&&link) || (is_cache && name == OsStr::new(OURS)) {
                    continue;
                }
                symlink(&theirs, &link).map_err(cannot)?;
                linked.extend(is_cache.then_some(theirs));
            }
        }
        let mut env = vec![("TMPDIR".to_owned(), text(&temporary))];
        env.extend(users.home.as_ref().map(|_| ("HOME".to_owned(), text(&home))));
        for (name, below) in BASES {
            let is_set = users.bases.iter().any(|(set, _)| *set == name);
            env.extend(is_set.then(|| (name.to_owned(), text(&home.join(below)))));
        }
        let since = changed(&folder.path().metadata().map_err(cannot)?);
        Ok(OwnHome { folder, env, linked, since })
    }

    /// The contender with the environment variables that lead it to this home. If conditions were drawn for the trial
    /// of a contender on this machine, its environment is padded to the drawn size, and it is run by a link to its
    /// folder whose name has the drawn length. An error if the link cannot be made.
    pub fn given_to(&self, contender: &Ready) -> Result<Ready, Error> {
        let mut contender = contender.clone();
        contender.env.extend(self.env.iter().cloned());
        // A contender on another node is started there.
        if let Some(drawn) = contender.drawn.filter(|_| contender.origin.is_some()) {
            let link = self.folder.path().join("f".repeat(drawn.folder));
            let folder = contender.folder.canonicalize().map_err(Error::at(&contender.folder))?;
            symlink(&folder, &link).map_err(Error::cannot("make a link in", self.folder.path()))?;
            contender.env.push(("PWD".to_owned(), text(&link)));
            contender.env.push(("KUMITE_PADDING".to_owned(), "x".repeat(drawn.padding)));
            contender.folder = link;
        }
        Ok(contender)
    }

    /// A sentence about a write into the user's caches since the home was made. None if none was found; not all of a
    /// large cache is looked at.
    pub fn written(&self) -> Option<String> {
        let mut queue: VecDeque<PathBuf> = self.linked.iter().cloned().collect();
        let mut looked_at = 0;
        while let Some(path) = queue.pop_front() {
            let Ok(found) = path.symlink_metadata() else { continue };
            if changed(&found) >= self.since {
                return Some(format!(
                    "{} was written while it ran, where its next trial would find it: unless that was another program, let it \
                     write elsewhere",
                    path.display()
                ));
            }
            looked_at += 1;
            if found.is_dir() && looked_at + queue.len() < LOOKED_AT {
                queue.extend(entries(&path));
            }
        }
        None
    }
}

impl Users {
    fn from_environment(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Users {
        // A relative one is to be ignored, says the XDG Base Directory Specification.
        let absolute = |name: &str| variable(name).filter(|folder| folder.is_absolute());
        let bases = BASES.iter().filter_map(|(name, _)| Some((*name, absolute(name)?)));
        Users { home: absolute("HOME"), bases: bases.collect() }
    }

    fn base(&self, name: &str) -> Option<PathBuf> {
        let set = self.bases.iter().find(|(set, _)| *set == name).map(|(_, folder)| folder.clone());
        let (_, below) = BASES.iter().find(|(base, _)| *base == name)?;
        set.or_else(|| Some(self.home.as_ref()?.join(below)))
    }
}

/// The paths of a folder's entries; empty if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The time of the last change of a file's status. Unlike that of its content, nobody can set it.
fn changed(found: &Metadata) -> (i64, i64) {
    (found.ctime(), found.ctime_nsec())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(own: &OwnHome, name: &str) -> Option<PathBuf> {
        own.env.iter().find(|(set, _)| set == name).map(|(_, value)| PathBuf::from(value))
    }

    /// A user with a library, a tool, and a cache that is not empty; and the home that a trial of theirs has.
    fn user(variables: &[(&str, &str)]) -> (tempfile::TempDir, OwnHome) {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "home/.tool/x",
            "home/.local/lib/library",
            "home/.local/share/data/x",
            "home/.cache/old/deep/x",
            "home/.cache/kumite/builds/x",
            "elsewhere/old/x",
            "tmp/of-others",
        ] {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "there").unwrap();
        }
        wait(root.path());
        let variable = |name: &str| {
            let found = variables.iter().find(|(set, _)| *set == name);
            found.map(|(_, folder)| match folder.strip_prefix('/') {
                Some(folder) => root.path().join(folder),
                None => folder.into(),
            })
        };
        let folder = HeldFolder::new(&root.path().join("tmp"), PREFIX, 0o700).unwrap();
        let own = OwnHome::in_folder(&Users::from_environment(&variable), folder).unwrap();
        (root, own)
    }

    /// Waits until the clock of the file system has gone on.
    fn wait(root: &Path) {
        let touched = || {
            fs::write(root.join("clock"), "x").unwrap();
            changed(&root.join("clock").metadata().unwrap())
        };
        let before = touched();
        while touched() == before {}
    }

    fn reads(path: PathBuf) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn what_the_user_has_is_there_and_what_is_new_is_gone_afterwards() {
        let (root, own) = user(&[("HOME", "/home")]);
        let home = set(&own, "HOME").unwrap();
        for file in [".tool/x", ".local/lib/library", ".local/share/data/x", ".cache/old/deep/x"] {
            assert_eq!(reads(home.join(file)), "there");
        }
        for folder in [".cache/new", ".local/share/new", ".local/state/new", ".config/new", ".new"] {
            fs::create_dir(home.join(folder)).unwrap();
            assert!(!root.path().join("home").join(folder).exists());
        }
        let temporary = set(&own, "TMPDIR").unwrap();
        assert_eq!(entries(&temporary).len(), 0);
        assert_eq!(
            [CACHE, "XDG_DATA_HOME"].map(|name| set(&own, name)),
            [None, None],
            "they are below its home"
        );
        assert_eq!(own.written(), None);
        drop(own);
        assert!(!home.exists() && !temporary.exists());
        assert_eq!(reads(root.path().join("home/.tool/x")), "there");
        assert_eq!(entries(&root.path().join("home/.cache")).len(), 2);
    }

    #[test]
    fn a_cache_elsewhere_is_another_ones_too_and_kumites_is_nobodys() {
        let (root, own) = user(&[("HOME", "/home"), (CACHE, "/elsewhere"), ("XDG_STATE_HOME", "relative")]);
        let cache = set(&own, CACHE).unwrap();
        assert_eq!(reads(cache.join("old/x")), "there");
        fs::create_dir(cache.join("new")).unwrap();
        assert_eq!(entries(&root.path().join("elsewhere")).len(), 1);
        assert_eq!(set(&own, "XDG_STATE_HOME"), None);
        let (_root, own) = user(&[("HOME", "/home")]);
        assert!(!set(&own, "HOME").unwrap().join(".cache/kumite").exists());
        let (_root, own) = user(&[]);
        assert_eq!(own.env.len(), 1, "who has no home is given none");
    }

    #[test]
    fn what_is_written_into_a_cache_that_was_there_is_found() {
        for (path, changed) in
            [("old/deep/x", "old/deep/x"), ("old/deep/new", "old/deep"), ("old/new", "old")]
        {
            let (root, own) = user(&[("HOME", "/home")]);
            fs::write(set(&own, "HOME").unwrap().join(".cache").join(path), "state").unwrap();
            let there = root.path().join("home/.cache").join(changed);
            let words = format!(
                "{} was written while it ran, where its next trial would find it: unless that was another program, let \
                 it write elsewhere",
                there.display()
            );
            assert_eq!(own.written(), Some(words));
        }
        let (root, own) = user(&[("HOME", "/home")]);
        fs::write(root.path().join("home/.cache/kumite/builds/x"), "ours").unwrap();
        assert_eq!(own.written(), None);
    }
}
