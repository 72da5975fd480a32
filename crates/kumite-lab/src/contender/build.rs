//! Builds, made once for every checkout of a user.
//!
//! A contender is built in a folder of the cache that is named after everything the build depends on, from a copy of its
//! files: whoever has the same files, anywhere, has the same build. It is built where it stays, for virtual environments
//! and others hold absolute paths. From then on nothing writes there.

mod cache;
mod entry;
mod sources;
#[cfg(test)]
mod tests;
mod tree;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use blake3::Hasher;
use kumite_process::{Spawn, run};
use kumite_record::Digests;

use super::{Contender, Tools};
use cache::Cache;
use entry::{Alone, Entry, Turn};
use kumite_process::{how_it_ended, last_lines};
use sources::{Sources, add};

pub(crate) use entry::Held;

const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);
const VERSION_LIMIT: Duration = Duration::from_secs(60);
/// To be raised when kumite builds in another way: what it built before is then not used any more.
const BUILD_VERSION: u32 = 2;

/// The cache, and where builds are logged: below the folder of the store.
pub(crate) struct Builds {
    logs: PathBuf,
    cache: Cache,
}

/// Where a contender comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is not built, and run where it is written.
    InPlace,
    /// It was built just now.
    Built,
    /// The cache had it.
    Found,
}

/// A contender that answers its version command.
pub(crate) struct Receipt {
    /// What that prints.
    pub version: String,
    /// What it was built from.
    pub digests: Digests,
    /// Where its commands run.
    pub folder: PathBuf,
    pub origin: Origin,
    /// Keeps what was built as long as it is used.
    pub held: Option<Held>,
}

impl Builds {
    pub fn open(state: &Path) -> Result<Builds, String> {
        Builds::with(state, Cache::open(cache::folder(state))?)
    }

    fn with(state: &Path, cache: Cache) -> Result<Builds, String> {
        let logs = state.join("builds");
        std::fs::create_dir_all(&logs).map_err(|error| format!("cannot make {}: {error}", logs.display()))?;
        Ok(Builds { logs, cache })
    }

    #[cfg(test)]
    pub fn below(folder: &Path) -> Builds {
        Builds::with(&folder.join("state"), Cache::open(folder.join("cache")).unwrap()).unwrap()
    }

    /// The cache.
    pub fn folder(&self) -> &Path {
        self.cache.folder()
    }

    /// A file of this contender; two contenders of one name in different places do not share it.
    pub fn file(&self, contender: &Contender, ending: &str) -> PathBuf {
        let full = contender.folder.canonicalize().unwrap_or_else(|_| contender.folder.clone());
        let place = blake3::hash(full.to_string_lossy().as_bytes()).to_hex();
        self.logs.join(format!("{}-{}.{ending}", contender.folder_name(), &place[..8]))
    }

    /// The log of what belongs to no contender.
    pub fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }

    /// Builds the contender unless the cache has it, `anew` even then. `note` is told of what takes long.
    //
    // Long, but one loop whose turns follow from each other: to use what is there, to find it broken, to build it, and to
    // find that somebody else came between.
    pub fn receipt(
        &self,
        contender: &Contender,
        tools: &Tools,
        mut anew: bool,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Receipt, String> {
        let unreadable = |why| format!("cannot read its files: {why}");
        let sources = Sources::of(contender).map_err(unreadable)?;
        let source = sources.digest(contender.build.as_deref()).map_err(unreadable)?;
        let digests = Digests { source, tools: tools_digest(tools) };
        let job = Job { builds: self, contender, env: &tools.env()?, stop };
        let Some(command) = &contender.build else {
            let folder = sources.place();
            let version = job.version(&folder)?;
            return Ok(Receipt { version, digests, folder, origin: Origin::InPlace, held: None });
        };
        let key = key(&digests, tools);
        let name = contender.folder_name();
        let entry = self.cache.entry(&name, &key);
        let folder = entry.folder().join(sources.home());
        let mut told = false;
        loop {
            let does = if anew { "builds or uses" } else { "builds" };
            let mut wait = || {
                if !std::mem::replace(&mut told, true) {
                    note(&format!("waiting for another kumite that {does} {name}"));
                }
            };
            let alone = match entry.turn(&key, anew, stop, &mut wait)? {
                Turn::Use(held) => match job.version(&folder) {
                    Ok(version) => {
                        let (origin, held) = (Origin::Found, Some(held));
                        return Ok(Receipt { version, digests, folder, origin, held });
                    }
                    Err(why) if stop.load(Ordering::Relaxed) => return Err(why),
                    // What it needs from outside is there no more, in spite of its key.
                    Err(_) => {
                        anew = true;
                        continue;
                    }
                },
                Turn::Build(alone) => alone,
            };
            note(&format!("building {name}"));
            entry.clear(&alone)?;
            let copy = || sources.copy(entry.folder(), &digests.source, Some(command)).map_err(unreadable);
            let built = copy().and_then(|()| job.build(command, &entry, &folder, &alone, &key));
            let version = match built {
                Ok(version) => version,
                Err(why) => {
                    // Should that fail, too: without a mark it is no build.
                    let _ = entry.remove(alone);
                    return Err(why);
                }
            };
            anew = false;
            if let Some(held) = entry.share(alone, &key)? {
                if let Err(why) = self.cache.tidy(&held) {
                    note(&why);
                }
                let (origin, held) = (Origin::Built, Some(held));
                return Ok(Receipt { version, digests, folder, origin, held });
            }
        }
    }
}

/// What commands of a contender have in common.
struct Job<'a> {
    builds: &'a Builds,
    contender: &'a Contender,
    env: &'a [(String, String)],
    stop: &'a AtomicBool,
}

impl Job<'_> {
    /// Builds what was copied, and says its version, which it has to say without writing.
    fn build(
        &self,
        command: &str,
        entry: &Entry,
        folder: &Path,
        alone: &Alone,
        key: &str,
    ) -> Result<String, String> {
        self.command("build", command, folder, BUILD_LIMIT)?;
        let bytes = tree::seal(entry.folder())
            .map_err(|error| format!("cannot take rights from {}: {error}", entry.folder().display()))?;
        let version = self.version(folder)?;
        entry.complete(alone, key, bytes)?;
        Ok(version)
    }

    fn version(&self, folder: &Path) -> Result<String, String> {
        let command = &self.contender.version;
        let said = self.command("version", command, folder, VERSION_LIMIT)?;
        let text = String::from_utf8_lossy(&said);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        line.map(str::to_owned).ok_or_else(|| format!("its version command `{command}` printed nothing"))
    }

    fn command(&self, what: &str, command: &str, dir: &Path, limit: Duration) -> Result<Vec<u8>, String> {
        let log = self.builds.file(self.contender, &format!("{what}.log"));
        let spawn = Spawn { command, dir, env: self.env, keeps: None, cores: &[], log: &log, group: None };
        let finished =
            run(&spawn, limit, self.stop).map_err(|error| format!("its {what} command: {error}"))?;
        if finished.status.success() {
            return Ok(finished.stdout);
        }
        let how = how_it_ended(finished.status);
        Err(format!("its {what} command `{command}` {how}: {} (log: {})", last_lines(&log), log.display()))
    }
}

fn tools_digest(tools: &Tools) -> String {
    let mut hasher = Hasher::new();
    for (tool, version) in &tools.found {
        add(&mut hasher, tool.as_bytes());
        add(&mut hasher, version.as_deref().unwrap_or_default().as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// What a build depends on, this machine included. A tool that says no version is known by its file.
fn key(digests: &Digests, tools: &Tools) -> String {
    let mut hasher = Hasher::new();
    add(&mut hasher, &BUILD_VERSION.to_le_bytes());
    add(&mut hasher, std::env::consts::ARCH.as_bytes());
    add(&mut hasher, digests.source.as_bytes());
    add(&mut hasher, digests.tools.as_bytes());
    for (tool, _) in &tools.found {
        let file = tools.file(tool).and_then(|file| file.canonicalize().ok());
        let known = file.as_ref().and_then(|file| file.metadata().ok());
        let known = known.map(|found| (found.len(), found.mtime(), found.mtime_nsec()));
        add(&mut hasher, format!("{file:?} {known:?}").as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
