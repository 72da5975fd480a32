//! Errors of a Slurm cluster. They stand below `slurm`, so that [`Failure`](crate::Failure) can hold them and `slurm` return it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why there are no nodes of a Slurm cluster, or none any more.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A word that no shell can be given.
    #[error("cannot be said to Slurm")]
    Word(#[source] shlex::QuoteError),
    /// There is no room for the log of a command.
    #[error("cannot make a temporary folder; TMPDIR says where it is to be")]
    Scratch(#[source] io::Error),
    /// A temporary file, such as the job's script, could not be written.
    #[error("cannot write {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// As the system gave it.
        source: io::Error,
    },
    /// A command of Slurm's did not come to its end.
    #[error("{program}")]
    Command {
        /// The command.
        program: String,
        /// It names the command line.
        source: kumite_process::Error,
    },
    /// Slurm is not here.
    #[error("there is no {program} here: --on slurm needs Slurm's commands")]
    NoCommand {
        /// The command that was to be run.
        program: String,
    },
    /// A command of Slurm's refused.
    #[error("{program}: {said}")]
    Refused {
        /// The command.
        program: String,
        /// Its last words.
        said: String,
    },
    /// A job was submitted, as it seems, and nobody knows its number.
    #[error("sbatch: no number of a job: '{said}'")]
    NoNumber {
        /// Its output instead.
        said: String,
    },
    /// A job, or a task of it, has ended before we are done.
    #[error(transparent)]
    Ended(#[from] TaskEnd),
    /// A job ended before it began.
    #[error("job {id} has not begun: it is {told}")]
    NeverBegun {
        /// Its number.
        id: String,
        /// Its state and the reason, in Slurm's words.
        told: String,
    },
    /// A job waited too long.
    #[error("job {id} has not begun after {} s: {told}; --queue-timeout gives it longer", waited.as_secs())]
    Late {
        /// Its number.
        id: String,
        /// The time that it was given.
        waited: Duration,
        /// Its state and the reason, in Slurm's words.
        told: String,
    },
    /// A job has begun without a node.
    #[error("the job has no nodes")]
    NoNodes,
    /// We were told to stop.
    #[error("it was interrupted")]
    Interrupted,
}

/// The end of a job, or of a task of it, that had nodes for us.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TaskEnd {
    /// It ended so long ago that Slurm has forgotten it.
    #[error("Slurm does not know job {name} any more")]
    Forgotten {
        /// As `scancel` takes it.
        name: String,
    },
    /// It ended, well or not.
    #[error("job {name} is {told}")]
    Ended {
        /// As `scancel` takes it.
        name: String,
        /// Its state and the reason, in Slurm's words.
        told: String,
    },
}
