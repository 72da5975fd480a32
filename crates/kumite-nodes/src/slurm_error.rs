//! Errors of a Slurm cluster. They stand outside `slurm`, so that [`Failure`](crate::Failure) can hold them and
//! `slurm` can return it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The reason why a Slurm cluster gives no nodes, or has taken them away.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A word of a command cannot be quoted for a shell.
    #[error("cannot be said to Slurm")]
    Word(#[source] shlex::QuoteError),
    /// A temporary folder, for the log of a command or the script of a job, cannot be made.
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
    /// A command of Slurm's could not be started, or did not come to its end: it took longer than 60 s, or was
    /// interrupted.
    #[error("{program}")]
    Command {
        /// The name of the command.
        program: String,
        /// The reason.
        source: kumite_process::Error,
    },
    /// A command of Slurm's is not installed here.
    #[error("there is no {program} here: --on slurm needs Slurm's commands")]
    NoCommand {
        /// The name of the command.
        program: String,
    },
    /// A command of Slurm's ended with a status of failure, or by a signal.
    #[error("{program}: {said}")]
    Refused {
        /// The name of the command.
        program: String,
        /// The last lines that the command printed, on standard output or standard error.
        said: String,
    },
    /// A job seems to have been submitted, and its number is not known.
    #[error("sbatch: no number of a job: '{said}'")]
    NoNumber {
        /// The output of sbatch, at most 200 characters of it.
        said: String,
    },
    /// Slurm no longer knows a job that waited for its nodes.
    #[error(transparent)]
    Ended(#[from] TaskEnd),
    /// A job, or a task of it, ended before all of the job had its nodes.
    #[error("job {id} has not begun: it is {told}")]
    NeverBegun {
        /// The number of the job.
        id: String,
        /// The state of what ended, and the reason for it, in Slurm's words.
        told: String,
    },
    /// A job waited too long for its nodes.
    #[error("job {id} has not begun after {} s: {told}; --queue-timeout gives it longer", waited.as_secs())]
    Late {
        /// The number of the job.
        id: String,
        /// The most time that the job was to wait.
        waited: Duration,
        /// The last news of the job: its state and the reason for it, in Slurm's words, or the reason why Slurm could
        /// not be asked. Empty if it only was PENDING, without a reason.
        told: String,
    },
    /// A job has begun, and Slurm names no node of it.
    #[error("the job has no nodes")]
    NoNodes,
    /// The waiting for a job's nodes was interrupted. A command that is interrupted is [`Error::Command`] instead.
    #[error("it was interrupted")]
    Interrupted,
}

/// The end of a job, or of a task of it, whose nodes kumite used or waited for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TaskEnd {
    /// Slurm does not know the job or task: it ended long ago, or there is none of that name.
    #[error("Slurm does not know job {name} any more")]
    Forgotten {
        /// The job's or task's name, as `scancel` takes it.
        name: String,
    },
    /// The job or task has ended, well or not, or is just ending.
    #[error("job {name} is {told}")]
    Ended {
        /// The job's or task's name, as `scancel` takes it.
        name: String,
        /// The state and the reason for it, in Slurm's words.
        told: String,
    },
}
