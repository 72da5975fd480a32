//! The trees of revisions in kumite's cache, where each is made and built once.
//!
//! A tree is found by its repository, its commit, the digest of its files if they are not the commit's, its submodules,
//! and what it was built by: the command, the folder, and the variables that builds read. The paths of two trees of a
//! repository differ only in a digest. So they are equally long, and no program profits from a short path.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use blake3::Hasher;
use kumite_cache::{Cache, Filled, Filling, Place, add};
use kumite_process::{Spawn, last_lines, run};
use serde::{Deserialize, Serialize};

use crate::git::kept_variables;
use crate::inputs::inputs;
use crate::revision::Revision;
use crate::submodules::Submodule;
use crate::tree::{Tree, check_out};
use crate::{Error, Repository};

/// The longest time that a build may take: nobody waits longer for one.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);
/// The version of how trees are made. It is raised when that changes, so that earlier trees are not used any more.
const VERSION: u32 = 1;
/// The beginning of the name of each tree's folder in the cache.
const FOLDER: &str = "revision";

/// The command that builds a revision.
#[derive(Clone, Debug)]
pub struct Build {
    /// The command as it was typed, with parameters filled in.
    pub text: String,
    /// The command as a line for `sh`.
    pub line: String,
}

/// The cache of a repository's trees.
pub struct Trees<'a> {
    repository: &'a Repository<'a>,
    cache: Cache,
    logs: PathBuf,
    build_env: &'a [String],
    stop: &'a AtomicBool,
}

/// The time of a build, as it is kept beside the tree.
#[derive(Serialize, Deserialize)]
struct Built {
    build_s: Option<f64>,
}

impl<'a> Trees<'a> {
    /// The trees of a repository. Logs of builds are below `state`, the folder of the results. `build_env` names
    /// variables that a build depends on beside the usual ones, such as `PATH`. Making a tree ends once `stop` is set.
    /// An error if the folders for logs and trees cannot be made.
    pub fn new(
        repository: &'a Repository,
        state: &Path,
        build_env: &'a [String],
        stop: &'a AtomicBool,
    ) -> Result<Trees<'a>, Error> {
        let state = std::path::absolute(state).map_err(Error::cannot("find", state))?;
        let logs = state.join("builds");
        std::fs::create_dir_all(&logs).map_err(Error::cannot("make", &logs))?;
        Ok(Trees { repository, cache: Cache::of_user(&state)?, logs, build_env, stop })
    }

    /// The tree of a revision, built by `build` if that is given. It is taken from the cache, or made if it is not
    /// there or was written to since it was made; with `anew` it is always made. `note` is called with sentences about
    /// steps that take long, submodules that are empty, and files that were written to an earlier tree. An error if git
    /// or the build fails, the revision does not have the folder in which the user is, the cache cannot be used, or
    /// `stop` is set.
    pub fn tree(
        &self,
        revision: &Revision,
        build: Option<&Build>,
        anew: bool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Tree, Error> {
        let Repository { below, .. } = self.repository;
        // The files of submodules are among the others in a working tree.
        let submodules = match revision.changed {
            Some(_) => Vec::new(),
            None => self.repository.submodules(&revision.name, &revision.commit)?,
        };
        for submodule in submodules.iter().filter(|submodule| submodule.copy.is_none()) {
            let path = submodule.path.display();
            note(&format!(
                "{}: the submodule {path} is not checked out here, and is empty there",
                revision.name
            ));
        }
        let key = self.key(revision, &submodules, build);
        let log = self.logs.join(format!("{FOLDER}-{}.log", &key[..16]));
        let place = Place::new(&self.cache, FOLDER, revision.name.clone(), key);
        let (file, top) =
            (place.folder().join("built.json"), place.folder().join("tree").join(self.repository.name()));
        let folder = top.join(below);
        let make = || {
            let above = top.parent().unwrap_or(&top);
            std::fs::create_dir_all(above).map_err(Error::cannot("make", above))?;
            check_out(self.repository, revision, &submodules, &top)?;
            let built = Built { build_s: self.built(revision, build, &folder, &log)? };
            let text = serde_json::to_vec(&built).expect("a number");
            std::fs::write(&file, text).map_err(Error::cannot("write", &file))
        };
        let first_use = || {
            let text = std::fs::read(&file).map_err(Error::cannot("read", &file))?;
            let unread = |error: serde_json::Error| Error::cannot("read", &file)(error.into());
            let Built { build_s } = serde_json::from_slice(&text).map_err(unread)?;
            Ok(build_s)
        };
        let doing = if build.is_some() { "building" } else { "checking out" };
        let filling = Filling { make: &make, first_use: &first_use, doing, is_sealed: false };
        let mut anew = anew;
        loop {
            let filled: Option<Filled<Option<f64>>> = place.filled(&filling, anew, self.stop, note)?;
            let Some(Filled { used: build_s, is_new, held }) = filled else {
                anew = true;
                continue;
            };
            // Files that an earlier comparison left there would be an advantage that the other side has not.
            if let (false, Some(written)) = (is_new, held.written()?) {
                let written = written.strip_prefix(&top).unwrap_or(&written).display();
                note(&format!("{}: its tree is another since it was made: {written}", revision.name));
                drop(held);
                anew = true;
                continue;
            }
            if !folder.is_dir() {
                return Err(Error::NoFolder { name: revision.name.clone(), folder: below.clone() });
            }
            return Ok(Tree { folder, build_s, was_cached: !is_new, _held: held });
        }
    }

    /// Builds a revision, if it is to be built. Returns the time in seconds; `None` without a build.
    fn built(
        &self,
        revision: &Revision,
        build: Option<&Build>,
        folder: &Path,
        log: &Path,
    ) -> Result<Option<f64>, Error> {
        let Some(build) = build else { return Ok(None) };
        if !folder.is_dir() {
            let folder = self.repository.below.clone();
            return Err(Error::NoFolder { name: revision.name.clone(), folder });
        }
        let keeps = kept_variables();
        let keeps: Vec<&str> = keeps.iter().map(String::as_str).collect();
        let spawn = Spawn {
            command: &build.line,
            dir: folder,
            env: &[],
            keeps: Some(&keeps),
            cores: &[],
            log,
            group: None,
        };
        let began = Instant::now();
        let finished = run(&spawn, BUILD_LIMIT, self.stop)?;
        if finished.status.success() {
            return Ok(Some(began.elapsed().as_secs_f64()));
        }
        Err(Error::Build {
            name: revision.name.clone(),
            command: build.text.clone(),
            status: finished.status,
            said: last_lines(log),
            log: log.to_owned(),
        })
    }

    /// The key of a tree in the cache: the digest of all that a tree is found by.
    fn key(&self, revision: &Revision, submodules: &[Submodule], build: Option<&Build>) -> String {
        let Repository { common_dir, below, .. } = self.repository;
        let mut hasher = Hasher::new();
        let mut given = |bytes: &[u8]| add(&mut hasher, bytes);
        given(&VERSION.to_le_bytes());
        given(std::env::consts::ARCH.as_bytes());
        given(common_dir.as_os_str().as_encoded_bytes());
        given(self.repository.name().as_encoded_bytes());
        given(revision.commit.as_bytes());
        given(revision.digest().unwrap_or_default().as_bytes());
        given(&(submodules.len() as u64).to_le_bytes());
        for submodule in submodules {
            given(submodule.path.as_os_str().as_encoded_bytes());
            given(submodule.commit.as_bytes());
            given(submodule.copy.as_deref().unwrap_or(Path::new("")).as_os_str().as_encoded_bytes());
        }
        if let Some(build) = build {
            given(build.line.as_bytes());
            given(below.as_os_str().as_encoded_bytes());
            for (name, value) in inputs(std::env::vars_os(), self.build_env) {
                given(name.as_encoded_bytes());
                given(value.as_encoded_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }
}
