//! Why an agent could not be reached, asked or understood, on either side of the way.
//!
//! Each error says its cause itself, so that its `Display` is whole. What an agent does wrong is a [`Misdeed`] of the node
//! it is named with.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::frame::{NotAFrame, encode, shown};
use crate::message::{PROTOCOL, Tell};

/// Why something could not be done by an agent, or for one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something could not be done with a file or a folder.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// The verb: `read`, `write`.
        doing: &'static str,
        /// On the machine where this is said.
        path: PathBuf,
        /// As the system gave it.
        source: io::Error,
    },

    /// The program that runs here has no path that could be sent or started.
    #[error("cannot tell in which file kumite itself is: {0}")]
    OwnFile(#[source] io::Error),

    /// A folder that is to be sent could not be walked through.
    #[error("cannot send {}: {source}", folder.display())]
    Walk {
        /// The folder.
        folder: PathBuf,
        /// It names the file.
        source: ignore::Error,
    },

    /// A file's name cannot stand in a frame, which is JSON.
    #[error("cannot send {}: its name is not UTF-8; rename it", path.display())]
    NotUtf8 {
        /// Where it would be, relative to the run's folder.
        path: PathBuf,
    },

    /// A folder is too large to be an experiment.
    #[error("cannot send {}: it has more than {mib} MiB; let a .gitignore leave out what is built", folder.display())]
    TooLarge {
        /// The folder.
        folder: PathBuf,
        /// The most that is sent.
        mib: u64,
    },

    /// More has come than any driver sends for one run.
    #[error("more than {mib} MiB have come for one run")]
    TooMany {
        /// The most that is taken.
        mib: u64,
    },

    /// A path would lead out of the run's folder.
    #[error("'{}' is no path below a folder", shown(path.as_bytes()))]
    NotBelow {
        /// The path that a frame named.
        path: String,
    },

    /// A piece of a file could not be decoded.
    #[error("a piece of {path} is no base64: {source}")]
    NotBase64 {
        /// The file, relative to the run's folder.
        path: String,
        /// At which byte.
        source: base64::DecodeError,
    },

    /// The command that leads to a node could not be started.
    #[error("{node}: {source}")]
    Start {
        /// As users call it.
        node: String,
        /// It names the command.
        source: kumite_process::Error,
    },

    /// The agent of a node ended, was cut off, or did what it should not.
    #[error("{node}: the agent {misdeed}{}", log.as_deref().map(|log| format!(": {log}")).unwrap_or_default())]
    Agent {
        /// As users call it.
        node: String,
        /// Why nothing more can be asked of it.
        misdeed: Misdeed,
        /// The last lines that the way there wrote to standard error, as ssh does; none if it wrote nothing.
        log: Option<String>,
    },

    /// The driver was told to stop.
    #[error("it was interrupted")]
    Interrupted,
}

/// An agent's end or fault, in words that go on from its name. After each, nothing more can be asked of that agent.
#[derive(Debug, thiserror::Error)]
pub enum Misdeed {
    /// Its output is closed: it ended, or what leads to it did.
    #[error("ended")]
    Ended,
    /// Its input is closed.
    #[error("broke off")]
    BrokeOff,
    /// Its output cannot be read.
    #[error("cannot be heard: {0}")]
    Unheard(#[source] io::Error),
    /// It has given no sign of life.
    #[error("has not been heard for {} s: the way to it is cut, or its node stands still", .0.as_secs())]
    Silent(Duration),
    /// It gives signs of life, and no answer.
    #[error("says nothing")]
    NoAnswer,
    /// Its input is open, and it reads nothing.
    #[error("does not take what it is told")]
    TakesNothing,
    /// Its input was closed while the program was on its way.
    #[error("broke off while kumite was sent")]
    BrokeOffWhileSent,
    /// The program was not read to its end.
    #[error("did not take kumite in time")]
    TookNoProgram,
    /// It wants the program by a way that has none to send.
    #[error("wants to be sent kumite, which does not come by this way")]
    NoProgram,
    /// It is another version of kumite.
    #[error(
        "has kumite {}, which speaks version {protocol} of its protocol; this is {own}, with version {PROTOCOL}",
        shown(kumite.as_bytes())
    )]
    OtherVersion {
        /// Its version.
        kumite: String,
        /// Its protocol's.
        protocol: u32,
        /// The driver's version.
        own: String,
    },
    /// There is much before the first frame, and no frame.
    #[error("wrote {0} lines, and none is an agent's")]
    OnlyBanner(usize),
    /// A line is longer than any frame.
    #[error("wrote a line that is no frame of ours, and does not end")]
    Endless,
    /// A line is no frame.
    #[error("said what it should not: {0}")]
    Garbled(#[source] NotAFrame),
    /// A frame came at the wrong time.
    #[error("said {} when nobody asked for it", shown(encode(.0).trim_ascii_end()))]
    Unasked(Box<Tell>),
    /// A piece of what it sent could not be decoded.
    #[error("sent a piece that is no base64: {0}")]
    NotBase64(#[source] base64::DecodeError),
    /// It sent more than there can be.
    #[error("sent more than {0} bytes")]
    TooMuch(u64),
    /// It sent another frame than a piece.
    #[error("sent something else than was asked for")]
    NotData,
    /// It answered a role by another frame.
    #[error("said something else than whether it can have a role")]
    NotARole,
    /// It answered work by another frame.
    #[error("said something else than what came of its work")]
    NotWorked,
    /// It could not do what was asked, for a reason of its own.
    #[error("cannot do that: {0}")]
    Refused(String),
    /// It could not take a role, for a reason of its own.
    #[error("cannot have a role: {0}")]
    RefusedRole(String),
    /// It knows no address of IPv4 by which one comes to it.
    #[error("does not say by which of its addresses one comes to it: it knows none of IPv4")]
    NoAddress,
}

impl Error {
    /// For `map_err`: names the verb and the file of what failed.
    pub fn cannot(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Error + Copy {
        move |source| Error::File { doing, path: path.to_owned(), source }
    }
}
