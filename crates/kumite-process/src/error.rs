//! Errors of processes and control groups. Each names what was asked for and, if there is one, the remedy.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::{NoCounters, Unavailable};

/// The reason why a process could not be started, watched or brought to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Counters of a run could not be opened or read.
    #[error("counters of `{}`: {source}", program.to_string_lossy())]
    Counters {
        /// The program of the run.
        program: OsString,
        /// The reason.
        source: NoCounters,
    },
    /// The directory to run in is missing, is no directory, or cannot be entered.
    #[error("cannot run in {path}: no such directory")]
    Directory {
        /// The path of the directory, as the caller gave it.
        path: PathBuf,
    },

    /// The log could not be created or written, or the pipe of an output on its way there could not be made or read.
    #[error("cannot write the log {path}; does its directory exist, and is there room? {source}")]
    Log {
        /// The path of the log, as the caller gave it.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// The shell could not be started or watched, its pipes could not be made, or it did not stop so that it could be
    /// put into its control group.
    #[error("cannot start `{command}` with /bin/sh: {source}")]
    Start {
        /// The command line, as the caller gave it; that of the helper for a [`Runner`](crate::Runner).
        command: String,
        /// The system's error; ours if the shell ended, or did not stop in time, before it was in its control group.
        source: io::Error,
    },

    /// A core that a command was to be pinned to does not exist, or may not be used.
    #[error("cannot pin to cores {cores:?}; choose from {available:?}: {source}")]
    Cores {
        /// The cores that were asked for.
        cores: Vec<usize>,
        /// The cores that the calling thread may use; empty if the system does not tell.
        available: Vec<usize>,
        /// The system's error; EINVAL if the system left out some of the cores, and always for a command of a
        /// [`Runner`](crate::Runner).
        source: io::Error,
    },

    /// The end of a tree's root could not be waited for.
    #[error("cannot watch process {pid}: {source}")]
    Watch {
        /// The process id of the tree's root.
        pid: u32,
        /// The system's error.
        source: io::Error,
    },

    /// The table of the system's TCP sockets could not be read.
    #[error("cannot tell who listens on port {port}; is /proc there, with {table}? {source}")]
    Listeners {
        /// The port that was asked about.
        port: u16,
        /// The path of the table in `/proc`.
        table: &'static str,
        /// The system's error.
        source: io::Error,
    },

    /// A command that was to run to its end took too long; its tree has been ended.
    #[error("`{command}` did not end within {limit:?} and was stopped; its output is in {log}")]
    TimedOut {
        /// The command line, as the caller gave it.
        command: String,
        /// The time that the command was given.
        limit: Duration,
        /// The path of the log, which has the command's output.
        log: PathBuf,
    },

    /// A command that was to run to its end was stopped by our caller, or by Ctrl-C at the terminal that it was lent;
    /// its tree has been ended.
    #[error("`{command}` was interrupted; its output so far is in {log}")]
    Interrupted {
        /// The command line, as the caller gave it.
        command: String,
        /// The path of the log, which has the command's output until then.
        log: PathBuf,
    },

    /// A command that a [`Runner`] was to run was not found, has a NUL byte in its command line, could not be started
    /// or waited for, or was left out because one before it in the queue did not pass.
    ///
    /// [`Runner`]: crate::Runner
    #[error("cannot start `{}`; is it there, and executable? {source}", program.display())]
    Program {
        /// The program, as the caller gave it.
        program: OsString,
        /// The system's error; ours for a NUL byte, and for a command that was left out.
        source: io::Error,
    },

    /// The file that a command is to read could not be opened.
    #[error("cannot read {path}, the input of a command; is it there? {source}")]
    Input {
        /// The path of the input, as the caller gave it.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// A command that a [`Runner`] was to run took too long; it and all else that the runner had started have been
    /// ended.
    ///
    /// [`Runner`]: crate::Runner
    #[error("`{}` did not end within {limit:?} and was stopped", program.display())]
    TooLong {
        /// The program, as the caller gave it.
        program: OsString,
        /// The time that the command was given.
        limit: Duration,
    },

    /// A command that a [`Runner`] was to run wanted the terminal, and could not have it; it and its process group
    /// have been ended.
    ///
    /// [`Runner`]: crate::Runner
    #[error(
        "`{}` wanted the terminal, which it cannot have here, and was ended; only kumite compare lends one, in its foreground",
        program.display()
    )]
    WantsTerminal {
        /// The program, as the caller gave it.
        program: OsString,
    },

    /// A process of a command was stopped by a signal, and nobody let it go on; the command has been ended.
    #[error("`{process}` was stopped, nobody let it go on within a second, and so `{}` was ended", program.display())]
    Stopped {
        /// The program of a [`Runner`](crate::Runner)'s command, as the caller gave it; otherwise the whole command
        /// line.
        program: OsString,
        /// The command line of the stopped process, or its id if that cannot be read. If it is a runner's command
        /// itself, it may be the program alone.
        process: String,
    },

    /// The file that is to get the output of a command could not be created or emptied.
    #[error(
        "cannot write {path}, the output of a command; does its directory exist, and is there room? {source}"
    )]
    Output {
        /// The path of the output, as the caller gave it; that of standard output if there are two.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// The helper that runs commands could not be started, was not ready in time, or has ended; we also end it when
    /// its runner is stopped or a command takes too long.
    #[error("the process that runs commands, {helper}, has ended; start anew: {source}")]
    Runner {
        /// The path of the helper's program.
        helper: PathBuf,
        /// The system's error; a broken pipe if we had ended the helper before.
        source: io::Error,
    },

    /// This machine has no control group for the purpose, or does not let us use one.
    #[error("no control group can {what}: {source}")]
    NoGroup {
        /// The purpose of the group, as a phrase that follows "can": `limit memory`.
        what: &'static str,
        /// The reason why the controller for it is not to be had.
        source: Unavailable,
    },

    /// A control group could not be read or written, or was not frozen or empty within 5 s.
    #[error("cannot use the control group {path}; does a group above it allow for this? {source}")]
    Group {
        /// The file or folder of the group.
        path: PathBuf,
        /// The system's error; `TimedOut` after the 5 s, `InvalidData` for a file that says something else.
        source: io::Error,
    },

    /// The share of CPU time is none that the kernel can give: it is below 0.001, or not finite.
    #[error("cannot limit to {share} of a core; choose 0.001 or more")]
    Share {
        /// The share of one core that was asked for.
        share: f64,
    },
}
