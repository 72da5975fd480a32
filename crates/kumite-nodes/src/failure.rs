//! Why a run on several machines did not come to its end.

use std::io;
use std::path::PathBuf;

use kumite_lab::{Error, Halt, SpecError};
use kumite_record::StoreError;

use crate::misuse::Misuse;
use crate::slurm_error::Error as SlurmError;

/// Why a run on several machines did not come to its end. [`is_usage`](Failure::is_usage) tells whose turn it is: the
/// user's, to type something else, or the machines'. `kumite_lab::chain` makes it into words, with its causes.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Flags that make no sense, or none together.
    #[error(transparent)]
    Misuse(#[from] Misuse),

    /// A file of the experiment cannot be used.
    #[error(transparent)]
    Spec(#[from] SpecError),

    /// No nodes of a Slurm cluster, or none any more.
    #[error(transparent)]
    Slurm(#[from] SlurmError),

    /// A node's agent could not be reached or understood.
    #[error(transparent)]
    Agent(#[from] kumite_agent::Error),

    /// The lab could not do something.
    #[error(transparent)]
    Lab(#[from] Error),

    /// A results store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),

    /// A node could not find it where the experiment looks for it.
    #[error("cannot send {}: it must be below {}, as the experiment is, and its path UTF-8", folder.display(), root.display())]
    Elsewhere {
        /// A folder that a contender uses.
        folder: PathBuf,
        /// The folder that has `experiments` in it.
        root: PathBuf,
    },

    /// There is no room for what arrives.
    #[error("cannot make a temporary folder; TMPDIR says where it is to be")]
    Scratch(#[source] io::Error),

    /// A driver cannot be heard.
    #[error("cannot take what a driver asks from standard input")]
    Input(#[source] io::Error),

    /// A share was asked to relay, which only the engine's node is.
    #[error("{node}: a share asks no other node")]
    RelayOfShare {
        /// The node that asked.
        node: String,
    },

    /// A node's doctor answered something else than findings.
    #[error("{node}: its findings cannot be read")]
    Findings {
        /// The node.
        node: String,
        /// The place where its answer is no list of findings.
        source: serde_json::Error,
    },

    /// No node has the engine, and none was to be begun on.
    #[error("no node has the role engine")]
    NoEngine,

    /// The engine's node has made no trial.
    #[error("{node}: no trial was made; its messages above say why")]
    NoTrial {
        /// The engine's node.
        node: String,
    },

    /// No share arrived, and none was there before.
    #[error("no node gave a share")]
    NoShare,

    /// It was told to stop.
    #[error("it was interrupted")]
    Interrupted,
}

impl Failure {
    /// True if something else must be typed or written; false if the same command may succeed next time.
    pub fn is_usage(&self) -> bool {
        match self {
            Failure::Misuse(_) | Failure::Spec(_) => true,
            Failure::Store(error) => {
                matches!(error, StoreError::NoSuchRun { .. } | StoreError::Ambiguous { .. })
            }
            _ => false,
        }
    }
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Failure {
        match halt {
            Halt::Interrupted => Failure::Interrupted,
            Halt::Failed(why) | Halt::Void(_, why) => Failure::Lab(why),
        }
    }
}
