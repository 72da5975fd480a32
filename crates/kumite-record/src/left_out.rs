//! Runs of a comparison that are in no figure, because they failed.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe_tag;

/// A run that is in no figure. Its block has no ratio for the pairs of its command.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The number of the block, from 0.
    pub block: usize,
    /// True for the second run in its block, if the command stands in each block twice.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_second: bool,
    /// The reason why it is left out.
    pub why: LeftOutReason,
}

pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

/// The reason why a run is left out.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
#[schemars(transform = describe_tag)]
pub enum LeftOutReason {
    /// The signal with this number ended the command; or the command's shell ended with the status 128 plus the signal,
    /// as it does if the signal ended the last program that it ran. `--ignore-failure` does not name that status.
    Killed {
        /// The number of the signal.
        signal: i32,
    },
    /// The run took longer than `--timeout`, and was ended.
    TimedOut {
        /// The longest time of a run, in seconds.
        seconds: f64,
    },
    /// The command ended with a status that `--ignore-failure` does not name.
    Failed {
        /// The exit code.
        exit_code: i32,
    },
    /// One of two runs at once took longer than `--timeout`, and both were ended. Which of the two took too long is not
    /// known, so this is no failure of either.
    EitherTimedOut {
        /// The longest time of a run, in seconds.
        seconds: f64,
    },
}

impl LeftOutReason {
    /// True if it is known that the command itself failed. False if the other run at the same time may have been the
    /// one that took too long.
    pub fn is_failure(self) -> bool {
        !matches!(self, LeftOutReason::EitherTimedOut { .. })
    }
}

/// Shows the reason as a participle: `killed by signal 9`.
impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LeftOutReason::Killed { signal } => write!(f, "killed by signal {signal}"),
            LeftOutReason::TimedOut { seconds } => write!(f, "not ended within {seconds} s"),
            LeftOutReason::Failed { exit_code } => write!(f, "ended with status {exit_code}"),
            LeftOutReason::EitherTimedOut { seconds } => {
                write!(f, "ended because one of the two at once did not end within {seconds} s")
            }
        }
    }
}

/// The numbers of failed runs of a pair, with a verdict on which of the two fails more often. No run that failed is in
/// a ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFailures {
    /// The verdict on `a`.
    pub verdict: FailureVerdict,
    /// The allowed probability of a false verdict in one direction, from 0 to 1, over all looks together.
    pub alpha: f64,
    /// The runs of `a` that failed.
    pub a: FailedRuns,
    /// The runs of `b` that failed; those of both its places, if `b` stands in each block twice.
    pub b: FailedRuns,
    /// The numbers of blocks in which just one of the two failed, with one entry for each run of `b` in a block. The
    /// verdict has to be shown against each of these runs.
    pub against: Vec<OneFailed>,
}

/// A number of runs, and how many of them failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedRuns {
    /// The number of runs that failed.
    pub failed: usize,
    /// The number of runs that were made.
    pub runs: usize,
}

/// The numbers of blocks in which just one failed: the run of `a`, or the run of `b` with which it is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneFailed {
    /// The number of blocks in which only `a` failed.
    pub only_a: usize,
    /// The number of blocks in which only `b` failed.
    pub only_b: usize,
}

/// A verdict on how often `a` fails, compared with `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureVerdict {
    /// `a` fails more often than `b`.
    More,
    /// `a` fails less often than `b`.
    Less,
    /// The blocks do not decide.
    Undecided,
}
