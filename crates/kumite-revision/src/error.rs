//! The errors of looking up, checking out and building a revision. Each names the revision or the place, and the remedy
//! if there is one.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use kumite_process::how_it_ended;
use thiserror::Error;

/// The remedy for a commit that a shallow clone lacks.
const DEEPEN: &str = "this is a shallow clone, which has not all commits: `git fetch --unshallow` gets them, as `fetch-depth: 0` \
                      of actions/checkout does";

/// The reason why a revision could not be looked up, checked out or built.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no `git` on PATH.
    #[error("revisions need git, which is not on PATH: install it")]
    NoGit,
    /// git finds no repository with a working tree around the folder, or refuses to read the repository, for example
    /// because it belongs to another user.
    #[error("revisions are those of a git repository, and {} is in none: {said}", folder.display())]
    NoRepository {
        /// The folder that was looked at.
        folder: PathBuf,
        /// The last lines of git's output, joined into one line.
        said: String,
    },
    /// The repository has no such revision.
    #[error("this repository has no revision {name}{}", unknown_remedy(near.as_deref(), *is_shallow))]
    Unknown {
        /// The revision as it was typed; of `A...B`, the side that is not known, which may be HEAD.
        name: String,
        /// A revision of the remote that the user may have meant; `None` if there is none.
        near: Option<String>,
        /// True if the repository is a shallow clone, which may lack the commit.
        is_shallow: bool,
    },
    /// Two revisions have no common commit here.
    #[error("{one} and {other} have no common commit here{}", if *is_shallow { format!(": {DEEPEN}") } else { String::new() })]
    NoMergeBase {
        /// One revision; HEAD if it was left out.
        one: String,
        /// The other revision; HEAD if it was left out.
        other: String,
        /// True if the repository is a shallow clone, which may lack the common commit.
        is_shallow: bool,
    },
    /// The remote names no default branch that exists here, and none of the usual branches exists.
    #[error(
        "cannot tell which branch {name} is to be merged into: there is none of {}; give the reference before it, such as \
         --rev BRANCH...{name}",
        tried.join(", ")
    )]
    NoDefaultBranch {
        /// The revision as it was typed.
        name: String,
        /// The usual names that were looked for.
        tried: Vec<String>,
    },
    /// The revision lacks the folder in which the user is.
    #[error("{name} has no folder {}, which each revision has to have", folder.display())]
    NoFolder {
        /// The revision as it was typed.
        name: String,
        /// The folder, relative to the top of the repository.
        folder: PathBuf,
    },
    /// The commit of a submodule is not in the user's copy of the submodule.
    #[error(
        "{name} needs commit {commit} of the submodule {}, which is not here: `git -C {} fetch` may get it",
        path.display(),
        path.display()
    )]
    NoSubmoduleCommit {
        /// The revision as it was typed.
        name: String,
        /// The path of the submodule in the repository.
        path: PathBuf,
        /// The commit that the revision has there.
        commit: String,
    },
    /// A call of git failed.
    #[error("`{command}` {}: {said}", how_it_ended(*status))]
    Git {
        /// The command line, without the option that keeps hooks from running.
        command: String,
        /// The status of git.
        status: ExitStatus,
        /// The last lines of git's output, joined into one line.
        said: String,
    },
    /// The build of a revision failed.
    #[error("{name} cannot be built: `{command}` {}: {said} (log: {})", how_it_ended(*status), log.display())]
    Build {
        /// The revision as it was typed.
        name: String,
        /// The build command as it was typed, with parameters filled in.
        command: String,
        /// The status of the command.
        status: ExitStatus,
        /// The last lines of the build's output, joined into one line.
        said: String,
        /// The file with the build's whole output.
        log: PathBuf,
    },
    /// The files of the working tree changed while they were copied.
    #[error("the files of {} changed while they were copied: try again", folder.display())]
    Changing {
        /// The top of the working tree.
        folder: PathBuf,
    },
    /// A file or a folder could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// The verb, such as `make`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A path or a name has a NUL byte, so that it cannot be an argument of git.
    #[error(transparent)]
    Quote(#[from] shlex::QuoteError),
    /// The cache could not be used.
    #[error(transparent)]
    Cache(#[from] kumite_cache::Error),
    /// git or a build could not be started or watched, took too long, or was stopped by a signal.
    #[error(transparent)]
    Process(kumite_process::Error),
    /// kumite was told to stop during a call of git or a build. If it was told so while it waited for another kumite,
    /// the error is [`Error::Cache`] instead.
    #[error("it was interrupted")]
    Interrupted,
}

impl From<kumite_process::Error> for Error {
    fn from(error: kumite_process::Error) -> Error {
        match error {
            kumite_process::Error::Interrupted { .. } => Error::Interrupted,
            error => Error::Process(error),
        }
    }
}

impl Error {
    pub(crate) fn cannot(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Error + Copy {
        move |source| Error::File { doing, path: path.to_owned(), source }
    }

    /// True if the fault is in the user's arguments, or in the choice of the current folder.
    pub fn is_usage(&self) -> bool {
        match self {
            Error::NoRepository { .. }
            | Error::Unknown { .. }
            | Error::NoMergeBase { .. }
            | Error::NoDefaultBranch { .. }
            | Error::NoFolder { .. }
            | Error::Quote(_) => true,
            Error::NoGit
            | Error::NoSubmoduleCommit { .. }
            | Error::Git { .. }
            | Error::Build { .. }
            | Error::Changing { .. }
            | Error::File { .. }
            | Error::Cache(_)
            | Error::Process(_)
            | Error::Interrupted => false,
        }
    }
}

fn unknown_remedy(near: Option<&str>, is_shallow: bool) -> String {
    match (near, is_shallow) {
        (Some(near), _) => format!("; there is {near}"),
        (None, true) => format!(": {DEEPEN}"),
        (None, false) => ": `git log --all --oneline` lists what there is".to_owned(),
    }
}
