//! The ends of instances, and their reasons.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// The reason why the host ended an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// The host is stopped.
    HostStopped,
    /// The instance wrote more than this to its log.
    LogTooLong {
        /// The most that an instance may write.
        most_bytes: u64,
    },
    /// The instance said that it cannot be initialized.
    Uninitialized,
    /// The instance was not initialized in time. The call goes on with another initialization.
    InitCutOff {
        /// The time that an initialization may take.
        limit: Duration,
    },
    /// A call was not over in time.
    TimeOut {
        /// The time that a call may take.
        limit: Duration,
    },
    /// The instance's share of a CPU could not be set. Has the error in words.
    NoShare(String),
}

/// As a phrase: `time-out after 3 s`.
impl fmt::Display for KillReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            KillReason::HostStopped => f.write_str("the host is stopped"),
            KillReason::LogTooLong { most_bytes } => {
                write!(f, "it wrote more than {} MiB to its log", most_bytes >> 20)
            }
            KillReason::Uninitialized => f.write_str("it said that it cannot be initialized"),
            KillReason::InitCutOff { limit } => {
                write!(f, "its initialization was cut off after {} s", limit.as_secs_f64())
            }
            KillReason::TimeOut { limit } => write!(f, "time-out after {} s", limit.as_secs_f64()),
            KillReason::NoShare(error) => f.write_str(error),
        }
    }
}

/// The way in which an instance ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The status of its process. None if it is not known.
    pub status: Option<ExitStatus>,
    /// True if it had used up its memory.
    pub out_of_memory: bool,
}

/// In AWS's words: `exit status 1`.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.out_of_memory {
            f.write_str("out of memory, ")?;
        }
        match self.status.map(|status| (status.code(), status.signal())) {
            None => f.write_str("in an unknown way"),
            Some((Some(code), _)) => write!(f, "exit status {code}"),
            Some((None, Some(9))) => f.write_str("signal: killed"),
            Some((None, Some(signal))) => write!(f, "signal {signal}"),
            Some((None, None)) => f.write_str("an unknown way"),
        }
    }
}
