//! Calls of git.
//!
//! Each call is about the repository of its folder and no other, whatever hook of git started kumite. It takes no
//! lock for a mere convenience, such as a fresh index; runs no hook; and asks for no password at the terminal.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{Spawn, last_lines, run};
use shlex::bytes::try_quote;
use tempfile::TempDir;

use crate::Error;

/// The longest time that a call may take: a checkout of the largest repositories takes minutes.
const LIMIT: Duration = Duration::from_secs(30 * 60);
/// The status with which a shell says that there is no such program.
const NOT_FOUND: i32 = 127;

/// The variables by which git tells its hooks where they are. They are not passed on, since another repository may be
/// meant here.
const OF_HOOKS: [&str; 11] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The names of the variables that git and builds keep of our environment.
pub(crate) fn kept_variables() -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| !OF_HOOKS.contains(&name.as_str())).collect()
}

/// The way to call git, with a folder for git's output.
pub(crate) struct Git<'a> {
    scratch: TempDir,
    env: Vec<(String, String)>,
    keeps: Vec<String>,
    stop: &'a AtomicBool,
}

impl<'a> Git<'a> {
    pub(crate) fn new(stop: &'a AtomicBool) -> Result<Git<'a>, Error> {
        let scratch = tempfile::tempdir().map_err(Error::cannot("make", &std::env::temp_dir()))?;
        let set = [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")];
        let env = set.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Ok(Git { scratch, env, keeps: kept_variables(), stop })
    }

    /// Calls git in a folder, and returns its standard output. A status other than 0 is an error.
    pub(crate) fn call<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S]) -> Result<Vec<u8>, Error> {
        let mut line = b"git -c core.hooksPath=/dev/null".to_vec();
        for argument in arguments {
            line.push(b' ');
            line.extend_from_slice(&try_quote(argument.as_ref().as_bytes())?);
        }
        let (out, log) = (self.scratch.path().join("out"), self.scratch.path().join("log"));
        let out_quoted = try_quote(out.as_os_str().as_bytes())?.into_owned();
        let whole = [b"exec ", &*line, b" > ", &out_quoted].concat();
        // A name that is not UTF-8 is no name that anybody types; git then says that it has none such.
        let command = String::from_utf8_lossy(&whole);
        let keeps: Vec<&str> = self.keeps.iter().map(String::as_str).collect();
        let spawn = Spawn {
            command: &command,
            dir: folder,
            env: &self.env,
            keeps: Some(&keeps),
            cores: &[],
            log: &log,
            group: None,
        };
        let status = run(&spawn, LIMIT, self.stop)?.status;
        match status.code() {
            Some(0) => std::fs::read(&out).map_err(Error::cannot("read", &out)),
            Some(NOT_FOUND) => Err(Error::NoGit),
            _ => Err(Error::Git {
                command: String::from_utf8_lossy(&line).replacen(" -c core.hooksPath=/dev/null", "", 1),
                status,
                said: last_lines(&log),
            }),
        }
    }

    /// The first line that git says; empty if git says nothing.
    pub(crate) fn line<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S]) -> Result<String, Error> {
        let out = self.call(folder, arguments)?;
        Ok(String::from_utf8_lossy(&out).lines().next().unwrap_or_default().to_owned())
    }

    /// The first line that git says; `None` if it says no by its status.
    pub(crate) fn asked<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: &[S],
    ) -> Result<Option<String>, Error> {
        match self.line(folder, arguments) {
            Ok(line) => Ok(Some(line)),
            Err(Error::Git { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The paths that git says, each with a NUL behind it.
    pub(crate) fn paths<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: &[S],
    ) -> Result<Vec<PathBuf>, Error> {
        let out = self.call(folder, arguments)?;
        let paths = out.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
    }
}
