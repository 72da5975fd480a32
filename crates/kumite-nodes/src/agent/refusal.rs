//! The reasons why an agent does not do what it was asked.

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use kumite_agent::NotAFrame;
use kumite_record::StoreError;

/// The reason why this machine may not be measured on now, such as another kumite that measures.
pub(super) type Busy = Box<dyn StdError + Send + Sync>;

/// The reason why an agent does not do what it was asked. The driver gets it in words, with its causes. The question
/// ends, and the agent goes on.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error(transparent)]
    Frame(#[from] NotAFrame),
    /// A file that was sent could not be taken, or one of this node could not be read or written.
    #[error(transparent)]
    File(#[from] kumite_agent::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Process(#[from] kumite_process::Error),
    #[error(transparent)]
    Busy(#[from] Busy),
    #[error("cannot start kumite with what was asked")]
    Word(#[from] shlex::QuoteError),
    /// The driver cannot be written to.
    #[error("the driver does not listen")]
    Deaf(#[source] io::Error),
    #[error("the driver is gone")]
    DriverGone,
    #[error("kumite did not end")]
    NotEnded,
    #[error("it has no role")]
    NoRole,
    #[error("nothing runs")]
    NothingRuns,
    #[error("nobody said which run it is")]
    NoRun,
    #[error("that is no key of a run")]
    NoKey,
    #[error("there is no place for a run's files: neither HOME nor XDG_CACHE_HOME is an absolute path")]
    NoHome,
    #[error("{}: not UTF-8", path.display())]
    NotUtf8 { path: PathBuf },
}
