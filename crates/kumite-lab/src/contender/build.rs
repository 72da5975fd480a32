//! Builds, made once for all checkouts of a user.
//!
//! A contender is built from a copy of its files, in a folder of the cache that is named after everything the build
//! depends on: whoever has the same files, anywhere, has the same build. It is built where it stays, since virtual
//! environments and others hold absolute paths. After that nothing writes there.

mod sources;
#[cfg(test)]
mod tests;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blake3::Hasher;
use kumite_cache::{Cache, Filled, Filling, Held, Place, add};
use kumite_process::{Spawn, run};
use kumite_record::Digests;

use super::{Contender, Deps, Tools};
use crate::error::{Error, Fault};
use kumite_process::{how_it_ended, last_lines};
use sources::Sources;

const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);
const VERSION_LIMIT: Duration = Duration::from_secs(60);
/// The version of how kumite builds. It is raised when that changes, so that earlier builds are not used any more.
const BUILD_VERSION: u32 = 2;

/// The cache of builds, and the folder for their logs, which is below the folder of the store.
pub(crate) struct Builds {
    logs: PathBuf,
    cache: Cache,
}

/// The origin of a contender's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The contender is not built, and is run in its own folder.
    InPlace,
    /// The contender was built just now. If it has no build command, it was copied into the cache.
    Built,
    /// The contender's build, or its copy, was in the cache.
    Found,
}

impl Origin {
    fn of(is_new: bool) -> Origin {
        if is_new { Origin::Built } else { Origin::Found }
    }
}

/// The proof that a contender can be run, with the place of its program.
pub(crate) struct Receipt {
    /// The first line, other than empty ones, that the contender's version command printed, which shows that it is
    /// built and runs.
    pub version: String,
    /// The digests of the contender's sources and tools, for the record.
    pub digests: Digests,
    /// The folder in which the contender's commands run.
    pub folder: PathBuf,
    /// The folder that `[deps]` made, beside which the contender was built. None if it has no `[deps]`.
    pub deps: Option<PathBuf>,
    pub origin: Origin,
    /// Locks that keep the builds from being removed while they are used; none for a contender in its own folder.
    pub held: Vec<Held>,
}

impl Builds {
    pub fn open(state: &Path) -> Result<Builds, Error> {
        Builds::with(state, Cache::of_user(state)?)
    }

    fn with(state: &Path, cache: Cache) -> Result<Builds, Error> {
        let logs = state.join("builds");
        std::fs::create_dir_all(&logs).map_err(Error::cannot("make", &logs))?;
        Ok(Builds { logs, cache })
    }

    #[cfg(test)]
    pub fn below(folder: &Path) -> Builds {
        Builds::with(&folder.join("state"), Cache::open(folder.join("cache")).unwrap()).unwrap()
    }

    /// The folder of the cache.
    pub fn folder(&self) -> &Path {
        self.cache.folder()
    }

    /// The path of a log or another file for a contender. Contenders of one name in different places do not share it.
    pub fn file(&self, contender: &Contender, ending: &str) -> PathBuf {
        let full = contender.folder.canonicalize().unwrap_or_else(|_| contender.folder.clone());
        let place = blake3::hash(full.to_string_lossy().as_bytes()).to_hex();
        self.logs.join(format!("{}-{}.{ending}", contender.folder_name(), &place[..8]))
    }

    /// The path of a log that belongs to no contender.
    pub fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }

    /// Builds the contender unless the cache has its build; with `anew` it is built even then. One that has neither a
    /// build nor `[deps]` is only asked for its version. An error if the contender's files cannot be read, if one of
    /// its commands fails or takes longer than 30 minutes (the version command: one minute), if the version command
    /// prints nothing, or if `stop` is set while a command runs. `note` is told of steps that take long.
    pub fn receipt(
        &self,
        contender: &Contender,
        tools: &Tools,
        anew: bool,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Receipt, Error> {
        self.nth_receipt(contender, tools, Nth::First, anew, stop, note)
    }

    /// Builds the contender a second time, in a place of its own; copies a contender that has no build command. The
    /// result is kept like any other build.
    pub fn second_receipt(
        &self,
        contender: &Contender,
        tools: &Tools,
        anew: bool,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Receipt, Error> {
        self.nth_receipt(contender, tools, Nth::Second, anew, stop, note)
    }

    fn nth_receipt(
        &self,
        contender: &Contender,
        tools: &Tools,
        nth: Nth,
        mut anew: bool,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Receipt, Error> {
        let sources = Sources::new(contender).map_err(unreadable)?;
        let commands = commands(contender);
        let source = sources.digest(&commands).map_err(unreadable)?;
        let digests = Digests { source, tools: tools_digest(tools) };
        let job = Job { builds: self, contender, env: &tools.env()?, stop };
        if nth == Nth::First && contender.build.is_none() && contender.deps.is_none() {
            let folder = sources.place();
            let version = job.version(&folder)?;
            let origin = Origin::InPlace;
            return Ok(Receipt { version, digests, folder, deps: None, origin, held: Vec::new() });
        }
        loop {
            let deps = contender.deps.as_ref().map(|deps| job.deps(deps, &sources, tools, anew, note));
            let deps = deps.transpose()?;
            // Those that were made anew may be others, as those of a newer release: what was built with the old is not used.
            let made = deps.as_ref().map(|deps| deps.held.made()).transpose()?;
            let name = nth.name(contender);
            let place = Place::new(&self.cache, &name, name.clone(), key(&digests, tools, made));
            let copy = place.folder();
            let folder = copy.join(sources.home());
            let make = || {
                sources.copy(copy, &digests.source, &commands).map_err(unreadable)?;
                deps.as_ref().map_or(Ok(()), |deps| deps.from.link_made(deps.held.folder(), copy))?;
                if let Some(command) = &contender.build {
                    job.command("build", command, &folder, BUILD_LIMIT)?;
                }
                deps.as_ref().map_or(Ok(()), MadeDeps::are_as_they_were)
            };
            let filling = Filling {
                make: &make,
                first_use: &|| job.version(&folder),
                doing: "building",
                is_sealed: true,
            };
            let filled = place.filled(&filling, anew, stop, note);
            let filled = filled.map_err(|why| match deps.as_ref().map(|deps| deps.origin) {
                Some(Origin::Found) => {
                    why.remedied("what [deps] makes is of before: --no-cache makes it anew")
                }
                _ => why,
            });
            match filled? {
                Some(Filled { used: version, is_new, held }) => {
                    let origin = Origin::of(is_new);
                    let deps = deps.map(|deps| deps.held);
                    let made = deps.as_ref().map(|held| held.folder().to_owned());
                    let held = deps.into_iter().chain([held]).collect();
                    return Ok(Receipt { version, digests, folder, deps: made, origin, held });
                }
                // A library or interpreter that it needs from outside has gone, though its key is the same.
                None => anew = true,
            }
        }
    }
}

/// The first or the second build of one contender.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nth {
    First,
    Second,
}

impl Nth {
    /// The name of the build in messages, after which its place in the cache is named, too.
    fn name(self, contender: &Contender) -> String {
        let name = contender.folder_name();
        match self {
            Nth::First => name,
            Nth::Second => format!("{name}-control"),
        }
    }
}

fn unreadable(why: Error) -> Error {
    Error::step("cannot read its files")(why)
}

/// The digest of a contender's source, as the record of a run in which it was measured has it: of its files, of those
/// that it `uses`, and of its commands. An error if a file cannot be read.
pub fn source_digest(contender: &Contender) -> Result<String, Error> {
    let sources = Sources::new(contender).map_err(unreadable)?;
    sources.digest(&commands(contender)).map_err(unreadable)
}

fn commands(contender: &Contender) -> Vec<&str> {
    let build = contender.build.as_deref().unwrap_or_default();
    std::iter::once(build).chain(contender.deps.as_ref().map(|deps| &deps.build[..])).collect()
}

/// The folder that `[deps]` made, and the files that it was made from.
struct MadeDeps {
    from: Sources,
    origin: Origin,
    held: Held,
}

impl MadeDeps {
    /// Returns an error if a file in the folder was written after it was made. A build command runs with our rights
    /// and could do that, but other builds share the folder.
    fn are_as_they_were(&self) -> Result<(), Error> {
        match self.held.written()? {
            Some(written) => Err(Fault::new(format!(
                "its build command wrote {}, which [deps] made and others use: let it write elsewhere",
                written.display()
            ))
            .into()),
            None => Ok(()),
        }
    }
}

/// The inputs that all commands of a contender's build share.
struct Job<'a> {
    builds: &'a Builds,
    contender: &'a Contender,
    env: &'a [(String, String)],
    stop: &'a AtomicBool,
}

impl Job<'_> {
    /// Makes the folder of `[deps]`, or finds it in the cache, with the files that it was made from.
    fn deps(
        &self,
        deps: &Deps,
        sources: &Sources,
        tools: &Tools,
        anew: bool,
        note: &mut dyn FnMut(&str),
    ) -> Result<MadeDeps, Error> {
        let from = sources.only(&deps.files)?;
        let commands = [&deps.build[..]];
        let digest = from.digest(&commands).map_err(unreadable)?;
        let key = key(&Digests { source: digest.clone(), tools: tools_digest(tools) }, tools, None);
        let name = format!("{}-deps", self.contender.folder_name());
        let place = Place::new(&self.builds.cache, &name, name.clone(), key);
        let folder = place.folder();
        // It finds nothing but the files that its key is made of, so that no other can change what it makes.
        let make = || {
            from.copy(folder, &digest, &commands).map_err(unreadable)?;
            let made = self.command("deps", &deps.build, &folder.join(from.home()), BUILD_LIMIT);
            made.map_err(|why| why.remedied("it finds only what `files` of [deps] names"))?;
            match from.are_in(folder, &digest, &commands) {
                Ok(true) => Ok(()),
                Ok(false) => Err(Fault::new("its deps command changed a file that it is made from").into()),
                Err(why) => Err(Error::step("its deps command removed a file that it is made from")(why)),
            }
        };
        let filling = Filling { make: &make, first_use: &|| Ok(()), doing: "building", is_sealed: true };
        let mut fill = |anew| {
            let filled = place.filled(&filling, anew, self.stop, note)?;
            let Filled { is_new, held, .. } = filled.expect("its first use is none");
            Ok::<_, Error>((Origin::of(is_new), held))
        };
        let (mut origin, mut held) = fill(anew)?;
        if held.written()?.is_some() {
            drop(held);
            (origin, held) = fill(true)?;
        }
        Ok(MadeDeps { from, origin, held })
    }

    fn version(&self, folder: &Path) -> Result<String, Error> {
        let command = &self.contender.version;
        let said = self.command("version", command, folder, VERSION_LIMIT)?;
        let text = String::from_utf8_lossy(&said);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        let silent = || Fault::new(format!("its version command `{command}` printed nothing")).into();
        line.map(str::to_owned).ok_or_else(silent)
    }

    fn command(&self, what: &str, command: &str, dir: &Path, limit: Duration) -> Result<Vec<u8>, Error> {
        let log = self.builds.file(self.contender, &format!("{what}.log"));
        let spawn = Spawn { command, dir, env: self.env, keeps: None, cores: &[], log: &log, group: None };
        let finished = run(&spawn, limit, self.stop).map_err(Error::step(format!("its {what} command")))?;
        if finished.status.success() {
            return Ok(finished.stdout);
        }
        let how = how_it_ended(finished.status);
        let (said, log) = (last_lines(&log), log.display());
        Err(Fault::new(format!("its {what} command `{command}` {how}: {said} (log: {log})")).into())
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

/// The key of a build in the cache. It changes with everything that the build depends on, the processor's
/// architecture and the time at which its `[deps]` were made included. A tool is known by its file, and by its
/// version if it was asked for one.
fn key(digests: &Digests, tools: &Tools, deps: Option<SystemTime>) -> String {
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
    if let Some(made) = deps.map(|deps| deps.duration_since(UNIX_EPOCH).unwrap_or_default()) {
        add(&mut hasher, &made.as_nanos().to_le_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
