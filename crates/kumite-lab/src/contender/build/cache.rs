//! Where builds are kept, for every checkout of a user, and how much of them.

use std::path::{Path, PathBuf};

use super::super::user_cache::user_cache;
use super::entry::{Entry, Held};
use crate::error::Error;

const LIMIT: u64 = 20 << 30;

pub(super) struct Cache {
    folder: PathBuf,
    /// How much it may hold, in bytes, without what is in use.
    limit: u64,
}

impl Cache {
    pub fn open(folder: PathBuf) -> Result<Cache, Error> {
        std::fs::create_dir_all(&folder).map_err(Error::cannot("make", &folder))?;
        Ok(Cache { folder, limit: LIMIT })
    }

    #[cfg(test)]
    pub fn with_limit(self, limit: u64) -> Cache {
        Cache { limit, ..self }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The place of the build of this name that has this key.
    pub fn entry(&self, name: &str, key: &str) -> Entry {
        Entry::new(&self.folder, &format!("{name}-{}", &key[..16]))
    }

    /// Removes what a killed build has left, and what was not used for the longest time until the rest is within the limit.
    /// Nobody waits for it, and nothing that is in use is touched.
    pub fn tidy(&self, _just_built: &Held) -> Result<(), Error> {
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

/// False if it is in use, and so was left.
fn remove(entry: &Entry) -> Result<bool, Error> {
    match entry.try_alone().map_err(Error::cannot("lock", entry.folder()))? {
        Some(alone) => entry.remove(alone).map(|()| true),
        None => Ok(false),
    }
}

/// In the user's cache, or beside the results where there is no home.
pub(super) fn folder(state: &Path) -> PathBuf {
    user_cache().unwrap_or_else(|| state.join("cache")).join("builds")
}
