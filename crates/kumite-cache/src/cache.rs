//! The cache of builds, which all checkouts of a user share, and its limit of size.

use std::path::{Path, PathBuf};

use crate::entry::{Entry, Held};
use crate::{Error, user_cache};

const LIMIT: u64 = 20 << 30;

/// A cache of builds, with a limit of its size.
pub struct Cache {
    folder: PathBuf,
    /// The limit of the cache, in bytes. Builds in use may exceed it.
    limit: u64,
}

impl Cache {
    /// The cache of builds in the user's cache folder. If the user has none, it is below `state`, the folder of the
    /// results. An error if the folder cannot be made.
    pub fn of_user(state: &Path) -> Result<Cache, Error> {
        Cache::open(user_cache().unwrap_or_else(|| state.join("cache")).join("builds"))
    }

    /// The cache in this folder, which is made if it is not there. An error if it cannot be made.
    pub fn open(folder: PathBuf) -> Result<Cache, Error> {
        std::fs::create_dir_all(&folder).map_err(Error::cannot("make", &folder))?;
        Ok(Cache { folder, limit: LIMIT })
    }

    /// The same cache with another limit, in bytes.
    pub fn with_limit(self, limit: u64) -> Cache {
        Cache { limit, ..self }
    }

    /// The folder of the cache.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The entry for the build of this name with this key, which has at least 16 characters.
    pub(crate) fn entry(&self, name: &str, key: &str) -> Entry {
        Entry::new(&self.folder, &format!("{name}-{}", &key[..16]))
    }

    /// Removes what killed builds have left, and the builds that were unused for longest, until the rest is within
    /// the limit. It waits for nobody and leaves builds that are in use.
    pub(crate) fn tidy(&self, _just_built: &Held) -> Result<(), Error> {
        let mut builds = Vec::new();
        for entry in self.entries()? {
            match entry.mark() {
                Some(mark) => builds.push((entry.used(), mark.bytes, entry)),
                None => {
                    remove(&entry)?;
                }
            }
        }
        let mut bytes: u64 = builds.iter().map(|(_, bytes, _)| bytes).sum();
        builds.sort_by_key(|(used, ..)| *used);
        for (_, its, entry) in builds {
            if bytes > self.limit && remove(&entry)? {
                bytes -= its;
            }
        }
        Ok(())
    }

    fn entries(&self) -> Result<Vec<Entry>, Error> {
        let cannot = Error::cannot("read", &self.folder);
        let mut entries = Vec::new();
        for file in std::fs::read_dir(&self.folder).map_err(cannot)? {
            let name = file.map_err(cannot)?.file_name();
            if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".lock")) {
                entries.push(Entry::new(&self.folder, name));
            }
        }
        Ok(entries)
    }
}

/// Removes a build. False if it is in use, and so was left.
fn remove(entry: &Entry) -> Result<bool, Error> {
    match entry.try_alone().map_err(Error::cannot("lock", entry.folder()))? {
        Some(alone) => entry.remove(alone).map(|()| true),
        None => Ok(false),
    }
}
