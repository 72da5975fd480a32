//! The errors of the lab: each names the thing that could not be done, and its `source` is the cause.
//!
//! An error is made into words once, by [`chain`], where it is shown or goes into the record. Variants with `error`
//! in place of `source` put words around another error, and show its causes themselves.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::toml_source::SpecError;
use crate::unfit::Unfit;

type Cause = Box<dyn StdError + Send + Sync>;

/// An error of the lab. Its message says what could not be done; its source says why. [`chain`] gives both. A variant
/// with a field `error` puts words around that error, and its message includes that error's causes.
#[derive(Debug, Error)]
pub enum Error {
    /// Something could not be done with a file or a folder: the fields have the verb, the path and the system's error.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// The verb for the attempt: `make`, `read`.
        doing: &'static str,
        /// The file or the folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// Something could not be done with a file or a folder. The error around this one says what it was.
    #[error("{}", path.display())]
    At {
        /// The file or the folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// A step of a longer task could not be done.
    #[error("{step}")]
    Step {
        /// The step, with its verb: `cannot adopt processes …`.
        step: Cow<'static, str>,
        /// The cause.
        source: Cause,
    },

    /// A service could not be fetched, did not start, or did not end with its counts.
    #[error("the service '{name}'{} {}", kind.map(|kind| format!(" ({kind})")).unwrap_or_default(), chain(&**error))]
    Service {
        /// The service's name in experiment.toml.
        name: String,
        /// The kind of the service. `None` if the service had started.
        kind: Option<&'static str>,
        /// The cause, as a predicate: "did not start".
        error: Box<Error>,
    },

    /// A tool that a contender, a service, an experiment or an option of kumite needs was not found on this machine, is
    /// too old, or did not tell its version.
    #[error("{who_needs} {}{}", chain(&**error), also_after(installed))]
    Missing {
        /// The subject and the verb: `the service 'db' needs`.
        who_needs: String,
        /// The packages that were installed without making the tool available: one text for each source of packages.
        /// Empty if none were installed.
        installed: Vec<String>,
        /// The error of the search, which names the tool.
        error: Box<Error>,
    },

    /// A tool is missing, or is not as it is needed.
    #[error(transparent)]
    Tool(#[from] MissingTool),

    /// An attempt failed, and an installation that was to remedy this failed, too.
    #[error("{}; {then}", chain(&**first))]
    Mending {
        /// The error of the attempt.
        first: Box<Error>,
        /// The failure of the installation, as a clause.
        then: String,
        /// The error of the installation.
        source: Box<Error>,
    },

    /// An error with what can be done about it.
    #[error("{}; {remedy}", chain(&**error))]
    Remedied {
        /// The remedy, as a clause.
        remedy: Cow<'static, str>,
        /// The error that the remedy is for.
        error: Box<Error>,
    },

    /// A file asks for something that could not be carried out.
    #[error("{} (in {})", chain(&**error), file.display())]
    Within {
        /// The file.
        file: PathBuf,
        /// The error that came of carrying out what the file asks for.
        error: Box<Error>,
    },

    /// A process could not be started, watched or ended, did not end in time, or was interrupted; or a thread could
    /// not be pinned to its CPUs.
    #[error(transparent)]
    Process(#[from] kumite_process::Error),

    /// A place in the cache of builds could not be used, or kumite was told to stop while it waited for one.
    #[error(transparent)]
    Cache(#[from] kumite_cache::Error),

    /// A folder could not be walked through.
    #[error(transparent)]
    Walk(ignore::Error),

    /// The load engine could not offer its load.
    #[error(transparent)]
    Load(kumite_load::Error),

    /// The files that a service provides for reading could not be written.
    #[error(transparent)]
    Disk(kumite_disk::Error),

    /// The system does not allow as many connections as the load needs.
    #[error(transparent)]
    Files(kumite_limits::TooManyConnections),

    /// More CPUs are asked for than kumite may give to a contender.
    #[error(transparent)]
    Cores(#[from] kumite_host::CoresError),

    /// The stub that answers at once could not be started on the server's node.
    #[error(transparent)]
    Echo(kumite_stub::Error),

    /// Another program did something that it should not, or failed to do what it should.
    #[error(transparent)]
    Fault(#[from] Fault),

    /// A value of the specification will not do.
    #[error(transparent)]
    Unfit(#[from] Unfit),

    /// A file of the experiment, an option or a kept run cannot be used.
    #[error(transparent)]
    Spec(#[from] SpecError),

    /// The system has no `apt-get`, so nothing can be installed.
    #[error("this system has no apt-get, the package manager that --install knows")]
    NoAptGet,

    /// Somebody writes to the files that are to be built.
    #[error("they changed while they were copied")]
    Changing,

    /// kumite was told to stop.
    #[error("it was interrupted")]
    Interrupted,

    /// A variable that leads to tools is not UTF-8.
    #[error("{name} is not UTF-8: {}", value.display())]
    NotUtf8 {
        /// The name of the variable.
        name: &'static str,
        /// The value of the variable.
        value: PathBuf,
    },

    /// Neither HOME nor XDG_CACHE_HOME is an absolute path, so there is no place for packages of npm.
    #[error("there is no place for them: neither HOME nor XDG_CACHE_HOME is set")]
    NoHome,

    /// The path of kumite itself is not UTF-8, so it cannot be started.
    #[error("cannot be called {}: not UTF-8", path.display())]
    OwnName {
        /// The path of kumite's file.
        path: PathBuf,
    },

    /// No free port was found at an address.
    #[error("no free port on {host} among {count} from {first}: end what listens there")]
    NoPort {
        /// The address on which a port was looked for.
        host: Ipv4Addr,
        /// The first port that was tried.
        first: u16,
        /// The number of ports that were tried.
        count: u16,
    },

    /// There is no user to run a program that refuses root.
    #[error("refuses to run as root, and /etc/passwd has neither the user postgres nor nobody")]
    NoUser,

    /// There is no usable folder for the files of contenders.
    #[error("there is no folder to write to for the files of contenders: set TMPDIR to one")]
    NoScratch,

    /// The disk has less room than a trial needs.
    #[error(
        "a trial of the {profile} profile needs {:.1} GB of free disk, and {} has {:.1} GB: make room, or set TMPDIR to a folder on \
         another disk",
        needed / 1e9, folder.display(), free / 1e9
    )]
    NoRoom {
        /// The profile that was chosen.
        profile: String,
        /// The folder in which the trial's files would be.
        folder: PathBuf,
        /// The room that the largest trial needs, in bytes.
        needed: f64,
        /// The room that the disk has, in bytes.
        free: f64,
    },
}

/// A tool that is missing, is too old, or does not tell its version.
#[derive(Debug, Error)]
pub enum MissingTool {
    /// The tool was not found: neither on PATH nor, for a contender, a service or an experiment, in the other places
    /// where tools are looked for.
    #[error("{need}, which is not on PATH")]
    Absent {
        /// The tool and its oldest version that will do: `go >= 1.22`.
        need: String,
    },
    /// Every tool of that name that told its version is older than needed.
    #[error("{need}, found {found} in {}", folder.display())]
    Old {
        /// The tool and its oldest version that will do: `go >= 1.22`.
        need: String,
        /// The newest version that was found.
        found: String,
        /// The folder of the tool's newest version.
        folder: PathBuf,
    },
    /// No tool of that name told its version: it could not be asked, did not end in time, or printed none.
    #[error("{need}, and {} {}", file.display(), chain(&**error))]
    Silent {
        /// The tool and its oldest version that will do: `go >= 1.22`.
        need: String,
        /// The file of the first tool of that name.
        file: PathBuf,
        /// The error of asking that tool for its version.
        error: Box<Error>,
    },
}

fn also_after(installed: &[String]) -> String {
    if installed.is_empty() {
        return String::new();
    }
    format!(", also after installing {}", installed.join(" "))
}

/// A misdeed of another program, in words: of a contender, a service, a tool, a node. It is no failure of kumite's,
/// and goes into the record as a trial's reason.
///
/// It holds words alone, because its only reader is a person: nothing in kumite decides by which fault it was.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Fault(String);

impl Fault {
    /// Makes a fault from words that continue a sentence whose subject is the program.
    pub fn new(what: impl Into<String>) -> Fault {
        Fault(what.into())
    }
}

impl From<Fault> for String {
    fn from(fault: Fault) -> String {
        fault.0
    }
}

impl Error {
    /// Makes an error that names the file and the verb, for `map_err`.
    pub(crate) fn cannot(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Error + Copy {
        move |source| Error::File { doing, path: path.to_owned(), source }
    }

    /// Makes an error that names the file, for `map_err`. The caller puts an error around it that says what was done.
    pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Error + Copy {
        move |source| Error::At { path: path.to_owned(), source }
    }

    /// Makes an error that names the step, for `map_err`.
    pub(crate) fn step<E: Into<Cause>>(step: impl Into<Cow<'static, str>>) -> impl FnOnce(E) -> Error {
        move |source| Error::Step { step: step.into(), source: source.into() }
    }

    /// The same error, with what can be done about it.
    pub(crate) fn remedied(self, remedy: impl Into<Cow<'static, str>>) -> Error {
        Error::Remedied { remedy: remedy.into(), error: Box::new(self) }
    }

    /// The same error, as that of a service.
    pub(crate) fn of_service(self, name: &str, kind: Option<&'static str>) -> Error {
        Error::Service { name: name.to_owned(), kind, error: Box::new(self) }
    }
}

/// An error with its causes, as one text: `what: cause: cause`. A cause that the text has already is not repeated.
pub fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !is_said(&said, &words) {
            said.push_str(": ");
            said.push_str(&words);
        }
        next = cause.source();
    }
    said
}

fn is_said(said: &str, cause: &str) -> bool {
    let phrase = |before: &str, cause: &str| {
        let phrase = format!("{before}{cause}");
        said.ends_with(&phrase) || said.contains(&format!("{phrase}; "))
    };
    // SQLite's own cause puts a number before the words that it repeats.
    let without_number = cause.rsplit_once(": ").map(|(_, words)| words);
    [": ", "? "]
        .into_iter()
        .any(|before| phrase(before, cause) || without_number.is_some_and(|words| phrase(before, words)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing() -> (PathBuf, io::Error) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not-there");
        let error = std::fs::read(&path).unwrap_err();
        (path, error)
    }

    #[test]
    fn a_missing_file_names_its_path_and_its_cause() {
        let (path, error) = missing();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let cause = error.to_string();
        let error = Error::cannot("read", &path)(error);
        assert_eq!(chain(&error), format!("cannot read {}: {cause}", path.display()));
    }

    #[test]
    fn a_cause_that_repeats_another_after_a_number_is_said_already() {
        assert!(is_said(
            "cannot open a.db: not a database; --db names another",
            "Error code 26: not a database"
        ));
        assert!(!is_said("cannot open a.db", "Error code 26: not a database"));
    }

    #[test]
    fn a_cause_is_not_taken_for_said_because_its_letters_are() {
        let job = Error::step("job 3")(Fault::new("3"));
        assert_eq!(chain(&job), "job 3: 3");
    }

    #[test]
    fn each_cause_is_said_once_however_many_there_are_and_whoever_says_them() {
        let (path, error) = missing();
        let cause = error.to_string();
        let at = path.display().to_string();
        // kumite-process says its cause itself.
        let log = kumite_process::Error::Log { path: path.clone(), source: error };
        let error = Error::step("cannot be started")(log).of_service("db", Some("command"));
        let said = chain(&error);
        assert!(
            said.starts_with(&format!(
                "the service 'db' (command) cannot be started: cannot write the log {at}"
            )),
            "{said}"
        );
        for once in [&*cause, &*at, "the service", "cannot be started", "cannot write"] {
            assert_eq!(said.matches(once).count(), 1, "{once}: {said}");
        }
        // A remedy may follow.
        let folder = kumite_disk::Error::Folder { folder: path.clone(), source: missing().1 };
        let said = chain(&Error::Disk(folder));
        assert_eq!((said.matches(&cause).count(), said.matches(&at).count()), (1, 1), "{said}");
        let (path, error) = missing();
        let files = Error::step("cannot read its files")(Error::at(&path)(error));
        let error = Error::step("n1")(files.remedied("look there"));
        let said = chain(&error);
        assert_eq!(said, format!("n1: cannot read its files: {}: {cause}; look there", path.display()));
    }
}
