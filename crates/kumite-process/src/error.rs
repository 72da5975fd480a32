//! Errors of processes and control groups. Each names what was asked for and, where there is one, the remedy.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::Unavailable;

/// Why a process could not be started, watched or brought to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory to run in is missing, or is not one.
    #[error("cannot run in {path}: no such directory")]
    Directory {
        /// As it was given.
        path: PathBuf,
    },

    /// The log could not be created or written.
    #[error("cannot write the log {path}; does its directory exist, and is there room? {source}")]
    Log {
        /// As it was given.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// The shell could not be started.
    #[error("cannot start `{command}` with /bin/sh: {source}")]
    Start {
        /// The command.
        command: String,
        /// The system's reason.
        source: io::Error,
    },

    /// A core does not exist, or this process may not use it.
    #[error("cannot pin to cores {cores:?}; choose from {available:?}: {source}")]
    Cores {
        /// The cores asked for.
        cores: Vec<usize>,
        /// The cores this process may use.
        available: Vec<usize>,
        /// The system's reason.
        source: io::Error,
    },

    /// The state of a running process could not be had.
    #[error("cannot watch process {pid}: {source}")]
    Watch {
        /// The root of the tree.
        pid: u32,
        /// The system's reason.
        source: io::Error,
    },

    /// The table of the system's TCP sockets could not be read.
    #[error("cannot tell who listens on port {port}; is /proc there, with {table}? {source}")]
    Listeners {
        /// The port asked for.
        port: u16,
        /// The file of `/proc`.
        table: &'static str,
        /// The system's reason.
        source: io::Error,
    },

    /// A command that was to run to its end took too long; its tree has been ended.
    #[error("`{command}` did not end within {limit:?} and was stopped; its output is in {log}")]
    TimedOut {
        /// The command.
        command: String,
        /// The time it was given.
        limit: Duration,
        /// The file that has its output.
        log: PathBuf,
    },

    /// A command that was to run to its end was stopped by our caller; its tree has been ended.
    #[error("`{command}` was interrupted; its output so far is in {log}")]
    Interrupted {
        /// The command.
        command: String,
        /// The file that has its output.
        log: PathBuf,
    },

    /// A command that a [`Runner`] was to run could not be started.
    ///
    /// [`Runner`]: crate::Runner
    #[error("cannot start `{}`; is it there, and executable? {source}", program.display())]
    Program {
        /// As it was given.
        program: OsString,
        /// The system's reason.
        source: io::Error,
    },

    /// The file that a command is to read could not be opened.
    #[error("cannot read {path}, the input of a command; is it there? {source}")]
    Input {
        /// As it was given.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// A command that a [`Runner`] was to run took too long; its tree has been ended.
    ///
    /// [`Runner`]: crate::Runner
    #[error("`{}` did not end within {limit:?} and was stopped", program.display())]
    TooLong {
        /// As it was given.
        program: OsString,
        /// The time it was given.
        limit: Duration,
    },

    /// A command wanted the terminal, and there is none that it can have; its tree has been ended.
    #[error(
        "`{}` wanted the terminal, which it cannot have here, and was ended; only kumite compare lends one, in its foreground",
        program.display()
    )]
    WantsTerminal {
        /// As it was given.
        program: OsString,
    },

    /// A process was stopped by a signal, and nobody let it go on; its tree has been ended.
    #[error("`{process}` was stopped, nobody let it go on within a second, and so `{}` was ended", program.display())]
    Stopped {
        /// The command that waits for it, as it was given.
        program: OsString,
        /// The stopped process, by its command line.
        process: String,
    },

    /// The file that is to get the output of a command could not be created or emptied.
    #[error(
        "cannot write {path}, the output of a command; does its directory exist, and is there room? {source}"
    )]
    Output {
        /// As it was given.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// The helper that runs commands could not be started, or has ended.
    #[error("the process that runs commands, {helper}, has ended; start anew: {source}")]
    Runner {
        /// The program.
        helper: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// This machine has no control group for this, or does not let us.
    #[error("no control group can {what}: {source}")]
    NoGroup {
        /// A verb with its object.
        what: &'static str,
        /// The controller that is wanting.
        source: Unavailable,
    },

    /// A control group could not be read, written or emptied.
    #[error("cannot use the control group {path}; does a group above it allow for this? {source}")]
    Group {
        /// Its file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// A share of CPU time that the kernel cannot give.
    #[error("cannot limit to {share} of a core; choose 0.001 or more")]
    Share {
        /// As it was given.
        share: f64,
    },
}
