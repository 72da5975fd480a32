//! The reasons why a comparison was not made, or did not come to its end.
//!
//! A [`UsageError`] is found before a command or a hook is run. The other errors occur while commands or servers are
//! compared, and what was measured until then is kept.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use kumite_load::Errors;
use kumite_process::{CommandLineError, NoCounters, how_it_ended};
use kumite_record::LeftOutReason;
use thiserror::Error;

use super::difference::Difference;
use super::nth::Nth;
use super::parameters::ParameterError;

/// The reason why a comparison was not made, or did not come to its end.
#[derive(Debug, Error)]
pub enum CompareError {
    /// The arguments make no sense; no command and no hook was run.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// A process could not be started, watched or ended.
    #[error(transparent)]
    Process(#[from] kumite_process::Error),
    /// A command ended with a status that is a failure.
    #[error(
        "{command} {} in {nth}; --show-output shows what it says, --ignore-failure goes on all the same",
        how_it_ended(*status)
    )]
    Command {
        /// The command line as it was typed, in backquotes, with parameters filled in; its revision follows, if it has
        /// one.
        command: String,
        /// The number of the run that failed.
        nth: Nth,
        /// The status of the run, which is none of the allowed ones.
        status: ExitStatus,
    },
    /// Too many runs of a command were left out: ten or more, and more than half of its runs; or all of them at the
    /// end.
    #[error(
        "{command} failed in {failed} of {runs} runs, which is too often to go on (the last: {last}); --show-output shows \
         what it says"
    )]
    TooOften {
        /// The command line as it was typed, in backquotes, with parameters filled in; its revision follows, if it has
        /// one.
        command: String,
        /// The number of runs that were left out.
        failed: usize,
        /// The number of runs of the command, with those that were left out.
        runs: usize,
        /// The reason why the last run that was left out does not count.
        last: LeftOutReason,
    },
    /// A hook ended with another status than 0.
    #[error("{flag} `{text}` for {command} {}: {log}", how_it_ended(*status))]
    Hook {
        /// The flag that gave the hook, such as `--prepare`.
        flag: &'static str,
        /// The hook's text as it was typed, with parameters filled in.
        text: String,
        /// The command for which the hook was run, in backquotes; its revision follows, if it has one.
        command: String,
        /// The status of the hook, which is not 0.
        status: ExitStatus,
        /// The last lines of the hook's output, on one line.
        log: String,
    },
    /// A hook took too long, and was ended.
    #[error("{flag} `{text}` did not end within {limit:?}: {log}")]
    HookTooLong {
        /// The flag that gave the hook, such as `--prepare`.
        flag: &'static str,
        /// The hook's text as it was typed, with parameters filled in.
        text: String,
        /// The time that the hook was given.
        limit: Duration,
        /// The last lines of the hook's output, on one line.
        log: String,
    },
    /// The budget was over while `--setup` still ran, before the first run.
    #[error(
        "--setup `{text}` still ran when --budget was over ({budget:?}), and was ended: give a longer one, or do that \
         before"
    )]
    SetupTooLong {
        /// The setup's text as it was typed, with parameters filled in.
        text: String,
        /// The whole budget.
        budget: Duration,
    },
    /// No folder for outputs could be made.
    #[error("cannot make a folder for outputs: {0}")]
    Folder(#[source] io::Error),
    /// The files of counted runs could not be written or removed.
    #[error("--counts: {}: {source}", path.display())]
    Counts {
        /// The path of the file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The output of a command could not be read or kept.
    #[error("cannot look at the output of {command}: {source}")]
    Unread {
        /// The command line as it was typed, in backquotes, with parameters filled in; its revision follows, if it has
        /// one.
        command: String,
        /// The system's error.
        source: io::Error,
    },
    /// Two runs that were to write the same did not.
    #[error(transparent)]
    Differs(#[from] Difference),
    /// The load engine could not put a server under load.
    #[error("{url}: {source}")]
    Load {
        /// The server's address.
        url: String,
        /// The error of the load engine.
        source: kumite_load::Error,
    },
    /// A server gave no right answer to a whole load, in a block or in its warm-up, and so has no throughput.
    #[error(
        "no right answer from {url}{} ({}){}",
        within.map_or(String::new(), |within| format!(" within {within:?}")),
        errors.in_words(),
        first_wrong.as_ref().map_or(String::new(), |wrong| format!("; {wrong}"))
    )]
    NoAnswer {
        /// The server's address as it was typed.
        url: String,
        /// The length of the load; `None` if it is a number of requests.
        within: Option<Duration>,
        /// The numbers of failed requests, by kind.
        errors: Box<Errors>,
        /// A description of the first answer that was not right; `None` if there was none.
        first_wrong: Option<String>,
    },
    /// A server of kumite's own could not be started.
    #[error("cannot start a server on 127.0.0.1: {0}")]
    Server(#[source] io::Error),
    /// The path of kumite is not UTF-8, so that it cannot start itself.
    #[error("{}: its path is no text", .0.display())]
    Helper(PathBuf),
    /// A thread of kumite's own panicked.
    #[error("a thread on CPU {cpu} came to an end")]
    Thread {
        /// The CPU that the thread was pinned to.
        cpu: usize,
    },
    /// The user stopped the comparison.
    #[error("it was interrupted")]
    Interrupted,
}

/// The reason why the arguments make no sense.
#[derive(Debug, Error)]
pub enum UsageError {
    /// There is no command, and no reference.
    #[error("there is nothing to run: give a command, or two to compare")]
    NoCommand,
    /// The revisions and parameters make more commands than can be compared.
    #[error("there are more than {most} commands")]
    TooManyCommands {
        /// The most commands that can be compared.
        most: usize,
    },
    /// A flag was given neither once for all commands nor once for each.
    #[error("{given} times {flag} for {commands} commands: give one for all, or one for each")]
    NotOneEach {
        /// The flag, such as `--prepare`.
        flag: &'static str,
        /// The number of times that the flag was given.
        given: usize,
        /// The number of commands that were typed; a reference that is none of them is counted, too.
        commands: usize,
    },
    /// More names were given than commands were typed, and not exactly one for each command that parameters and
    /// revisions make of these.
    #[error("{names} names for {commands} commands")]
    TooManyNames {
        /// The number of names.
        names: usize,
        /// The number of commands that were typed.
        commands: usize,
    },
    /// A parameter, or the combination of several, cannot be used.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The value of `--env` sets no variables.
    #[error("--env {text:?}: {source}")]
    Env {
        /// The value as it was typed.
        text: String,
        /// The error in the value.
        source: EnvError,
    },
    /// A parameter has the name `dir`, which stands for the folder of a revision.
    #[error("with --rev, {{dir}} is the folder of the revision: give the parameter dir another name")]
    FolderTwice,
    /// The text of a command is no command line: it is empty, or cannot be split into words.
    #[error(transparent)]
    Command(#[from] CommandLineError),
    /// The text of a hook or of a build is no command line: it is empty, or cannot be split into words.
    #[error("{flag} {text:?}: {source}")]
    Hook {
        /// The flag that gave the hook, such as `--prepare`.
        flag: &'static str,
        /// The hook's text as it was typed, with parameters filled in.
        text: String,
        /// The error in the text.
        source: CommandLineError,
    },
    /// A metric is a counter that this machine does not have, or that may not be read.
    #[error("{}: {source}; judge time_cpu here, or count instructions by --counts", names.join(","))]
    Counters {
        /// The metrics that are counters.
        names: Vec<&'static str>,
        /// The reason why these counters cannot be read.
        source: NoCounters,
    },
    /// The file that commands are to read cannot be read.
    #[error("--input {}: {source}", path.display())]
    Input {
        /// The path as it was typed.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file that commands are to read is a folder.
    #[error("--input {}: it is a folder", path.display())]
    InputIsFolder {
        /// The path as it was typed.
        path: PathBuf,
    },
}

/// The reason why a text sets no environment variables.
#[derive(Debug, Error)]
pub enum EnvError {
    /// The text has an open quote, or ends in a backslash.
    #[error("a quote is not closed, or a backslash ends it")]
    Unclosed,
    /// The text sets a variable whose name begins with `KUMITE_`; kumite sets those itself.
    #[error("names that begin with KUMITE_ are kumite's own")]
    Reserved,
    /// A word of the text is no `NAME=VALUE`, or its name is none that a variable can have.
    #[error("`{0}` is no NAME=VALUE")]
    NoAssignment(String),
}
