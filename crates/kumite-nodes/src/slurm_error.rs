//! Errors of a Slurm cluster. They stand outside `slurm`, so that [`Failure`](crate::Failure) can hold them and
//! `slurm` can return it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The reason why a Slurm cluster gives no nodes, or none any more.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A word of a command cannot be quoted for a shell.
    #[error("cannot be said to Slurm")]
    Word(#[source] shlex::QuoteError),
    /// A temporary folder for the log of a command cannot be made.
    #[error("cannot make a temporary folder; TMPDIR says where it is to be")]
    Scratch(#[source] io::Error),
    /// A temporary file, such as the job's script, could not be written.
    #[error("cannot write {}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A command of Slurm's did not come to its end.
    #[error("{program}")]
    Command {
        /// The name of the command.
        program: String,
        /// The error, which names the command line.
        source: kumite_process::Error,
    },
    /// A command of Slurm's is not installed here.
    #[error("there is no {program} here: --on slurm needs Slurm's commands")]
    NoCommand {
        /// The name of the command.
        program: String,
    },
    /// A command of Slurm's failed.
    #[error("{program}: {said}")]
    Refused {
        /// The name of the command.
        program: String,
        /// The last lines that the command wrote to standard error.
        said: String,
    },
    /// A job seems to have been submitted, and its number is not known.
    #[error("sbatch: no number of a job: '{said}'")]
    NoNumber {
        /// The output of sbatch.
        said: String,
    },
    /// A job, or a task of it, has ended too early.
    #[error(transparent)]
    Ended(#[from] TaskEnd),
    /// A job ended before it had its nodes.
    #[error("job {id} has not begun: it is {told}")]
    NeverBegun {
        /// The number of the job.
        id: String,
        /// The job's state and the reason for it, in Slurm's words.
        told: String,
    },
    /// A job waited too long for its nodes.
    #[error("job {id} has not begun after {} s: {told}; --queue-timeout gives it longer", waited.as_secs())]
    Late {
        /// The number of the job.
        id: String,
        /// The time for which it waited.
        waited: Duration,
        /// The job's state and the reason for it, in Slurm's words; or the reason why Slurm could not be asked.
        told: String,
    },
    /// A job has begun without a node.
    #[error("the job has no nodes")]
    NoNodes,
    /// The waiting was interrupted.
    #[error("it was interrupted")]
    Interrupted,
}

/// The end of a job, or of a task of it, whose nodes kumite used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TaskEnd {
    /// The job ended so long ago that Slurm has forgotten it.
    #[error("Slurm does not know job {name} any more")]
    Forgotten {
        /// The job's or task's name, as `scancel` takes it.
        name: String,
    },
    /// The job ended, well or not.
    #[error("job {name} is {told}")]
    Ended {
        /// The job's or task's name, as `scancel` takes it.
        name: String,
        /// The state and the reason for it, in Slurm's words.
        told: String,
    },
}
