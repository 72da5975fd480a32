//! Why a comparison could not be made, or not to its end.
//!
//! A [`UsageError`] is found before anything is run. The rest happens while commands or servers are compared, and what
//! was measured until then is kept.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use kumite_load::Errors;
use kumite_process::{CommandLineError, how_it_ended};
use thiserror::Error;

use super::difference::Difference;
use super::nth::Nth;
use super::parameters::ParameterError;

/// A comparison was not made, or not to its end.
#[derive(Debug, Error)]
pub enum CompareError {
    /// Nothing was run.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// A process could not be started, watched or ended.
    #[error(transparent)]
    Process(#[from] kumite_process::Error),
    /// A command ended otherwise than it may.
    #[error(
        "`{command}` {} in {nth}; --show-output shows what it says, --ignore-failure goes on all the same",
        how_it_ended(*status)
    )]
    Command {
        /// As it was typed, parameters filled in.
        command: String,
        /// The run that failed.
        nth: Nth,
        /// Never one that is allowed.
        status: ExitStatus,
    },
    /// A hook ended otherwise than with 0.
    #[error("{flag} `{text}` for `{command}` {}: {log}", how_it_ended(*status))]
    Hook {
        /// The flag that gave it.
        flag: &'static str,
        /// As it was typed, parameters filled in.
        text: String,
        /// The command that it was run for.
        command: String,
        /// Never 0.
        status: ExitStatus,
        /// The end of its output, on one line.
        log: String,
    },
    /// A hook had to be ended.
    #[error("{flag} `{text}` did not end within {limit:?}: {log}")]
    HookTooLong {
        /// The flag that gave it.
        flag: &'static str,
        /// As it was typed, parameters filled in.
        text: String,
        /// The time it had.
        limit: Duration,
        /// The end of its output, on one line.
        log: String,
    },
    /// The budget was over before the first run.
    #[error(
        "--setup `{text}` still ran when --budget was over ({budget:?}), and was ended: give a longer one, or do that \
         before"
    )]
    SetupTooLong {
        /// As it was typed, parameters filled in.
        text: String,
        /// All of it.
        budget: Duration,
    },
    /// There is no room for outputs.
    #[error("cannot make a folder for outputs: {0}")]
    Folder(#[source] io::Error),
    /// An output that was written could not be read, or not be kept.
    #[error("cannot look at the output of `{command}`: {source}")]
    Unread {
        /// As it was typed, parameters filled in.
        command: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Commands that were to write the same did not.
    #[error(transparent)]
    Differs(#[from] Difference),
    /// A load could not be offered.
    #[error("{url}: {source}")]
    Load {
        /// The server's address.
        url: String,
        /// The engine's reason.
        source: kumite_load::Error,
    },
    /// A server gave no right answer in a whole block: it has no throughput.
    #[error(
        "no right answer from {url}{} ({}){}",
        within.map_or(String::new(), |within| format!(" within {within:?}")),
        errors.in_words(),
        first_wrong.as_ref().map_or(String::new(), |wrong| format!("; {wrong}"))
    )]
    NoAnswer {
        /// As it was typed.
        url: String,
        /// The length of the block, unless it is a number of requests.
        within: Option<Duration>,
        /// Failed requests by kind.
        errors: Box<Errors>,
        /// The first answer that was not right, if there was any answer.
        first_wrong: Option<String>,
    },
    /// A server of kumite's own could not be started.
    #[error("cannot start a server on 127.0.0.1: {0}")]
    Server(#[source] io::Error),
    /// kumite cannot start itself by a path that is no text.
    #[error("{}: its path is no text", .0.display())]
    Helper(PathBuf),
    /// A thread of kumite's own panicked.
    #[error("a thread on CPU {cpu} came to an end")]
    Thread {
        /// The CPU that it was pinned to.
        cpu: usize,
    },
    /// The user ended it.
    #[error("it was interrupted")]
    Interrupted,
}

/// The command line makes no sense. A sentence with the remedy.
#[derive(Debug, Error)]
pub enum UsageError {
    /// There is no command, and no reference.
    #[error("there is nothing to run: give a command, or two to compare")]
    NoCommand,
    /// Parameters make too many commands.
    #[error("there are more than {most} commands")]
    TooManyCommands {
        /// The most that can be compared.
        most: usize,
    },
    /// Neither one for all commands nor one for each.
    #[error("{given} times {flag} for {commands} commands: give one for all, or one for each")]
    NotOneEach {
        /// The flag that may be given several times.
        flag: &'static str,
        /// Times that it was given.
        given: usize,
        /// Those that were typed, with the reference where that is none of them.
        commands: usize,
    },
    /// Names without commands.
    #[error("{names} names for {commands} commands")]
    TooManyNames {
        /// Number of names.
        names: usize,
        /// Number of commands that were typed.
        commands: usize,
    },
    /// A parameter, or their combinations.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Variables that cannot be set.
    #[error("--env {text:?}: {source}")]
    Env {
        /// As it was typed.
        text: String,
        /// The reason.
        source: EnvError,
    },
    /// A command that cannot be started.
    #[error(transparent)]
    Command(#[from] CommandLineError),
    /// A hook that cannot be started.
    #[error("{flag} {text:?}: {source}")]
    Hook {
        /// The flag that gave it.
        flag: &'static str,
        /// As it was typed, parameters filled in.
        text: String,
        /// The reason.
        source: CommandLineError,
    },
    /// The input of commands cannot be read.
    #[error("--input {}: {source}", path.display())]
    Input {
        /// As it was typed.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The input of commands is a folder.
    #[error("--input {}: it is a folder", path.display())]
    InputIsFolder {
        /// As it was typed.
        path: PathBuf,
    },
}

/// A text sets no variables.
#[derive(Debug, Error)]
pub enum EnvError {
    /// It cannot be split into words.
    #[error("a quote is not closed, or a backslash ends it")]
    Unclosed,
    /// kumite sets those itself.
    #[error("names that begin with KUMITE_ are kumite's own")]
    Reserved,
    /// A word without a name that a variable can have.
    #[error("`{0}` is no NAME=VALUE")]
    NoAssignment(String),
}
