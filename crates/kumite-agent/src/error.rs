//! The errors of reaching, asking and understanding an agent, on either side of the way.
//!
//! The `Display` of each error includes its cause. A fault of an agent is a [`Misdeed`], which stands beside the name
//! of its node.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::frame::{NotAFrame, encode, shown};
use crate::message::{PROTOCOL, Tell};

/// An error of a driver that reaches or asks an agent, or of an agent that takes files.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a folder could not be read, written or made.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// The verb, such as `read`.
        doing: &'static str,
        /// The path, on the machine where the error occurs.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },

    /// The system does not tell the file of the program that this process runs.
    #[error("cannot tell in which file kumite itself is: {0}")]
    OwnFile(#[source] io::Error),

    /// A folder that is to be sent could not be walked through.
    #[error("cannot send {}: {source}", folder.display())]
    Walk {
        /// The path of the folder.
        folder: PathBuf,
        /// The error, which names the file.
        source: ignore::Error,
    },

    /// The name of a file is not UTF-8, so that no frame can have it.
    #[error("cannot send {}: its name is not UTF-8; rename it", path.display())]
    NotUtf8 {
        /// The path that the file would have on the node, relative to the run's folder.
        path: PathBuf,
    },

    /// A folder is too large to be sent.
    #[error("cannot send {}: it has more than {mib} MiB; let a .gitignore leave out what is built", folder.display())]
    TooLarge {
        /// The path of the folder.
        folder: PathBuf,
        /// The most that is sent, in MiB.
        mib: u64,
    },

    /// More has arrived for one run than any driver sends.
    #[error("more than {mib} MiB have come for one run")]
    TooMany {
        /// The most that is taken, in MiB.
        mib: u64,
    },

    /// A path in a frame is empty or absolute, has `.` as its first part, or has a part `..` or a NUL in it.
    #[error("'{}' is no path below a folder", shown(path.as_bytes()))]
    NotBelow {
        /// The path in the frame.
        path: String,
    },

    /// A piece of a file is not base64.
    #[error("a piece of {path} is no base64: {source}")]
    NotBase64 {
        /// The path of the file, relative to the run's folder.
        path: String,
        /// The error, which names the byte.
        source: base64::DecodeError,
    },

    /// The command that leads to a node could not be started, or its log could not be made.
    #[error("{node}: {source}")]
    Start {
        /// The name of the node, as users call it.
        node: String,
        /// The reason why the command could not be started, or the log could not be made.
        source: kumite_process::Error,
    },

    /// The agent of a node ended, was cut off, refused what was asked, or did what it should not.
    #[error("{node}: the agent {misdeed}{}", log.as_deref().map(|log| format!(": {log}")).unwrap_or_default())]
    Agent {
        /// The name of the node, as users call it.
        node: String,
        /// The reason why nothing more can be asked of the agent.
        misdeed: Misdeed,
        /// The last lines that the command which leads to the node, such as ssh, wrote to standard error. `None` if it
        /// wrote nothing.
        log: Option<String>,
    },

    /// The `stop` that the call was given is set: the driver was told to stop, or a share was halted.
    #[error("it was interrupted")]
    Interrupted,
}

/// The end or the fault of an agent, in words that follow "the agent". After it, nothing more can be asked of that
/// agent.
#[derive(Debug, thiserror::Error)]
pub enum Misdeed {
    /// The agent's output is closed: the agent ended, or the command that leads to it did.
    #[error("ended")]
    Ended,
    /// The agent's input is closed, or cannot be written to.
    #[error("broke off")]
    BrokeOff,
    /// The agent's output cannot be read.
    #[error("cannot be heard: {0}")]
    Unheard(#[source] io::Error),
    /// The agent has given no sign of life for this long.
    #[error("has not been heard for {} s: the way to it is cut, or its node stands still", .0.as_secs())]
    Silent(Duration),
    /// The agent's first frame did not come in time; or an answer did not, although there are signs of life.
    #[error("says nothing")]
    NoAnswer,
    /// The agent's input is open, and the agent has not taken a frame within 60 s.
    #[error("does not take what it is told")]
    TakesNothing,
    /// The agent's input was closed, or could not be written to, while the program was being sent.
    #[error("broke off while kumite was sent")]
    BrokeOffWhileSent,
    /// The program was not read to its end within 120 s.
    #[error("did not take kumite in time")]
    TookNoProgram,
    /// The node asks for the program, on a way that has none to send.
    #[error("wants to be sent kumite, which does not come by this way")]
    NoProgram,
    /// The agent is another version of kumite.
    #[error(
        "has kumite {}, which speaks version {protocol} of its protocol; this is {own}, with version {PROTOCOL}",
        shown(kumite.as_bytes())
    )]
    OtherVersion {
        /// The agent's version.
        kumite: String,
        /// The version of the agent's protocol.
        protocol: u32,
        /// The driver's version.
        own: String,
    },
    /// The output begins with this many lines, none of which is the first frame of an agent.
    #[error("wrote {0} lines, and none is an agent's")]
    OnlyBanner(usize),
    /// A line is longer than any frame.
    #[error("wrote a line that is no frame of ours, and does not end")]
    Endless,
    /// A line that is not a frame came during a run.
    #[error("said what it should not: {0}")]
    Garbled(#[source] NotAFrame),
    /// A frame of a kind that no run gives came during a run.
    #[error("said {} when nobody asked for it", shown(encode(.0).trim_ascii_end()))]
    Unasked(Box<Tell>),
    /// A piece of the answer is not base64.
    #[error("sent a piece that is no base64: {0}")]
    NotBase64(#[source] base64::DecodeError),
    /// The answer has more than this many bytes.
    #[error("sent more than {0} bytes")]
    TooMuch(u64),
    /// The answer has a line that is neither a piece of the answer, nor a note, nor a refusal.
    #[error("sent something else than was asked for")]
    NotData,
    /// The answer to a role is a wrong frame, or no frame.
    #[error("said something else than whether it can have a role")]
    NotARole,
    /// The answer to work is a wrong frame, or no frame; a refusal is wrong, too.
    #[error("said something else than what came of its work")]
    NotWorked,
    /// The agent could not do what was asked, for this reason.
    #[error("cannot do that: {0}")]
    Refused(String),
    /// The agent could not take a role, for this reason.
    #[error("cannot have a role: {0}")]
    RefusedRole(String),
    /// The agent does not know both its own and the driver's address as IPv4.
    #[error("does not say by which of its addresses one comes to it: it knows none of IPv4")]
    NoAddress,
}

impl Error {
    /// Makes an error of a verb and a path, for `map_err`.
    pub fn cannot(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Error + Copy {
        move |source| Error::File { doing, path: path.to_owned(), source }
    }
}
