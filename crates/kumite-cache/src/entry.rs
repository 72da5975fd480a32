//! One build in the cache: its folder and, beside that, the mark that it is complete and the lock of whoever builds
//! or uses it.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::{Error, tree};

const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The paths of a build, which need not be there.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    folder: PathBuf,
}

/// The content of the mark of a complete build. It is written last, so a folder without it has half a build.
#[derive(Serialize, Deserialize)]
pub(crate) struct Mark {
    key: String,
    pub bytes: u64,
}

/// The right to use a build, or to make it.
pub(crate) enum Turn {
    /// The build is there, and is held so that nobody removes it.
    Use(Held),
    /// The build may be made: nobody else builds or uses it.
    Build(Alone),
}

/// A build in use. As long as this lives, nobody builds it anew or removes it.
#[derive(Debug)]
pub struct Held {
    entry: Entry,
    _lock: Lock,
}

/// The exclusive right to a build that is to be made or removed.
pub(crate) struct Alone {
    lock: Lock,
}

/// A lock on a file. It is released explicitly, because a child process that is being started holds a copy of the
/// file until it executes its program.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Entry {
    pub fn new(cache: &Path, name: &str) -> Entry {
        Entry { folder: cache.join(name) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits until the build is there, or until we may make it; with `anew` we are to make it even if it is there.
    /// `waiting` is told if the wait takes longer. An error if `stop` is set first, or the lock fails.
    pub fn turn(
        &self,
        key: &str,
        anew: bool,
        stop: &AtomicBool,
        waiting: &mut dyn FnMut(),
    ) -> Result<Turn, Error> {
        let mut looks = 0_u64;
        while !stop.load(Ordering::Relaxed) {
            if let Some(turn) = self.try_turn(key, anew).map_err(self.cannot("lock"))? {
                return Ok(turn);
            }
            looks += 1;
            // The first look may have met somebody who was only looking, too.
            if looks == 2 {
                waiting();
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Err(Error::Waiting)
    }

    fn try_turn(&self, key: &str, anew: bool) -> io::Result<Option<Turn>> {
        let lock = self.open_lock()?;
        if !anew && is_taken(lock.0.try_lock_shared())? {
            if self.is_complete(key) {
                return Ok(Some(Turn::Use(self.held(lock)?)));
            }
            lock.0.unlock()?;
        }
        if !is_taken(lock.0.try_lock())? || lock.is_removed()? || (!anew && self.is_complete(key)) {
            return Ok(None);
        }
        Ok(Some(Turn::Build(Alone { lock })))
    }

    /// The exclusive right to the build, without waiting. `None` if somebody else builds, uses or removes the build. An
    /// error if the lock cannot be opened.
    pub fn try_alone(&self) -> io::Result<Option<Alone>> {
        let lock = self.open_lock()?;
        Ok((is_taken(lock.0.try_lock())? && !lock.is_removed()?).then_some(Alone { lock }))
    }

    fn held(&self, lock: Lock) -> io::Result<Held> {
        lock.0.set_modified(SystemTime::now())?;
        Ok(Held { entry: self.clone(), _lock: lock })
    }

    /// Turns the right to make the build into the right to use it. `None` if somebody else has taken, removed or
    /// replaced the build in between. An error if the lock fails.
    pub fn share(&self, alone: Alone, key: &str) -> Result<Option<Held>, Error> {
        let share = || match is_taken(alone.lock.0.try_lock_shared())? && self.is_complete(key) {
            true => self.held(alone.lock).map(Some),
            false => Ok(None),
        };
        share().map_err(self.cannot("lock"))
    }

    /// Marks the folder's content as a complete build of `key`, of so many `bytes`. An error if the mark cannot be
    /// written; the build is then incomplete.
    pub fn complete(&self, _alone: &Alone, key: &str, bytes: u64) -> Result<(), Error> {
        let text = serde_json::to_vec(&Mark { key: key.to_owned(), bytes }).expect("a text and a number");
        let unfinished = self.beside("mark.new");
        std::fs::write(&unfinished, text)
            .and_then(|()| std::fs::rename(&unfinished, self.beside("mark")))
            .map_err(self.cannot("mark"))
    }

    /// Removes the build, also one that is incomplete. Its mark is removed first, so that what is left never looks
    /// complete. An error if something cannot be removed.
    pub fn clear(&self, _alone: &Alone) -> Result<(), Error> {
        match std::fs::remove_file(self.beside("mark")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => tree::remove(&self.folder),
        }
        .map_err(self.cannot("remove"))
    }

    /// Removes the build and its lock. A process that had opened the lock before finds that the lock is removed. An
    /// error if something cannot be removed.
    pub fn remove(&self, alone: Alone) -> Result<(), Error> {
        self.clear(&alone)?;
        std::fs::remove_file(self.beside("lock")).map_err(self.cannot("remove the lock of"))
    }

    pub fn mark(&self) -> Option<Mark> {
        let text = std::fs::read(self.beside("mark")).ok()?;
        serde_json::from_slice(&text).ok().filter(|_| self.folder.is_dir())
    }

    /// The time at which somebody last began to use the build; 1970 if that is not known.
    pub fn used(&self) -> SystemTime {
        let lock = self.beside("lock").metadata();
        lock.and_then(|lock| lock.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    fn is_complete(&self, key: &str) -> bool {
        self.mark().is_some_and(|mark| mark.key == key)
    }

    fn open_lock(&self) -> io::Result<Lock> {
        File::options().create(true).truncate(false).write(true).open(self.beside("lock")).map(Lock)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.folder.clone().into_os_string();
        name.push(".");
        name.push(ending);
        name.into()
    }

    fn cannot(&self, doing: &'static str) -> impl Fn(io::Error) -> Error {
        Error::cannot(doing, &self.folder)
    }
}

impl Lock {
    /// True if the lock's file was removed. Whoever comes next would open another file of the same name.
    fn is_removed(&self) -> io::Result<bool> {
        Ok(self.0.metadata()?.nlink() == 0)
    }
}

impl Held {
    /// The folder that the build was made into.
    pub fn folder(&self) -> &Path {
        &self.entry.folder
    }

    /// The time at which the build was completed. It differs from that of another build of the same name. An error if
    /// the build's mark cannot be read.
    pub fn made(&self) -> Result<SystemTime, Error> {
        let mark = self.entry.beside("mark").metadata();
        mark.and_then(|mark| mark.modified()).map_err(self.entry.cannot("read the mark of"))
    }

    /// A file in the build that was written after the build was completed. `None` if there is no such file. An error if
    /// the build cannot be read.
    pub fn written(&self) -> Result<Option<PathBuf>, Error> {
        tree::written_after(&self.entry.folder, &self.entry.beside("mark")).map_err(self.entry.cannot("read"))
    }
}

fn is_taken(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
