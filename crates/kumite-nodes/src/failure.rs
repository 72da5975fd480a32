//! The reasons why a run on several machines did not come to its end.

use std::io;
use std::path::PathBuf;

use kumite_lab::{Error, Halt, SpecError};
use kumite_record::StoreError;

use crate::misuse::Misuse;
use crate::slurm_error::Error as SlurmError;

/// The reason why a run on several machines did not come to its end. [`is_usage`](Failure::is_usage) tells whether the
/// user must type something else. `kumite_lab::chain` puts the failure and its causes into words.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Flags make no sense, alone or together.
    #[error(transparent)]
    Misuse(#[from] Misuse),

    /// A file of the experiment cannot be used, its parts cannot have the roles that are asked for, or shards cannot
    /// be merged.
    #[error(transparent)]
    Spec(#[from] SpecError),

    /// A Slurm cluster gives no nodes, or cannot be asked for them; or the run was interrupted while Slurm was asked.
    #[error(transparent)]
    Slurm(#[from] SlurmError),

    /// A node's agent could not be reached or understood, or refused a request. Or a file for the agent could not be
    /// read, or one from the agent could not be written. Or the run was interrupted meanwhile.
    #[error(transparent)]
    Agent(#[from] kumite_agent::Error),

    /// A step of the lab failed; the error says which.
    #[error(transparent)]
    Lab(#[from] Error),

    /// A results store could not be read or written, or has no run of that name, or several.
    #[error(transparent)]
    Store(#[from] StoreError),

    /// A folder or file that the experiment needs cannot be sent: it is outside the folder that has `experiments` in
    /// it, or its path is not UTF-8.
    #[error("cannot send {}: it must be below {}, as the experiment is, and its path UTF-8", folder.display(), root.display())]
    Elsewhere {
        /// The folder or file that cannot be sent.
        folder: PathBuf,
        /// The folder that has `experiments` in it.
        root: PathBuf,
    },

    /// A temporary folder or file, for what arrives or for a log, cannot be made.
    #[error("cannot make a temporary folder; TMPDIR says where it is to be")]
    Scratch(#[source] io::Error),

    /// The descriptor of standard input, by which the driver asks, cannot be duplicated. (A read that fails ends the
    /// agent without an error.)
    #[error("cannot take what a driver asks from standard input")]
    Input(#[source] io::Error),

    /// The run of a share asked for another node's work. Only a run on the engine's node may do so.
    #[error("{node}: a share asks no other node")]
    RelayOfShare {
        /// The node that asked.
        node: String,
    },

    /// A node's answer to the question for its facts is no list of findings.
    #[error("{node}: its findings cannot be read")]
    Findings {
        /// The name of the node.
        node: String,
        /// The fault of the answer.
        source: serde_json::Error,
    },

    /// No node has the role engine.
    #[error("no node has the role engine")]
    NoEngine,

    /// The engine's node gave no finished run, as when the run ended there before its first trial.
    #[error("{node}: no trial was made; its messages above say why")]
    NoTrial {
        /// The name of the engine's node.
        node: String,
    },

    /// No share arrived, and the store had no complete share before.
    #[error("no node gave a share")]
    NoShare,

    /// The run was interrupted, or a share was while the share waited for a node. An interruption during a question to
    /// Slurm or to an agent is [`Failure::Slurm`] or [`Failure::Agent`] instead.
    #[error("it was interrupted")]
    Interrupted,
}

impl Failure {
    /// True if the flags, the experiment or the name of a run are at fault, so that something else must be typed or
    /// written. False for all else: most of it may pass with the same command.
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
