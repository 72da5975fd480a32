//! The exit code of a run.

use kumite_process::{TimedRun, shell_status};

/// The exit code of a run as a shell counts it: if a signal ended the run, 128 plus the signal's number. −1 if
/// neither is known.
pub(crate) fn exit_code(run: &TimedRun) -> i32 {
    shell_status(run.status).unwrap_or(-1)
}
