//! Instruction counts of commands, as `kumite compare --counts` takes them under valgrind. They are counts and no
//! times: no verdict on speed rests on them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe_tag;

/// The way in which instructions were counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counting {
    /// The tool that counted, with its version: `callgrind-3.19.0`. None if no run was counted.
    pub tool: Option<String>,
    /// The margin, as a share: counts whose ratio is from 1 / (1 + margin) to 1 + margin are the same.
    pub margin: f64,
    /// The folder in kumite's cache with callgrind's files of one run of each command.
    pub folder: String,
}

/// The instructions that one command executes, in all its processes and threads. A shell that kumite put around the
/// command is not among them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandCounts {
    /// The instructions of each counted run. Empty if the command was not counted.
    pub instructions: Vec<u64>,
    /// The number of processes of the first counted run; 0 if the command was not counted.
    pub processes: usize,
    /// Callgrind's file of the first counted run: of the process with the most instructions. `None` if the command was
    /// not counted.
    pub file: Option<String>,
    /// The reason why the command was not counted. None if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncounted: Option<Uncounted>,
}

/// The reason why a command has no instruction counts. One run that cannot be counted is enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
#[schemars(transform = describe_tag)]
pub enum Uncounted {
    /// The command failed under valgrind, or valgrind could not run it.
    Failed {
        /// The exit code of the run; if a signal ended it, 128 plus the signal.
        exit_code: i32,
        /// The last words of valgrind or of the command.
        said: String,
    },
    /// The command did not end under valgrind within the time that kumite allows.
    TooLong {
        /// The time that the command was allowed, in seconds.
        seconds: f64,
    },
    /// Some processes of the command were killed, or still ran when the command had ended. They have no count.
    Lost {
        /// The number of those processes.
        processes: usize,
    },
    /// Some processes of the command were forked in a way that callgrind does not notice. They repeat the counts of the
    /// process that forked them.
    Repeated {
        /// The number of those processes.
        processes: usize,
    },
    /// The command starts a program that valgrind may not run, because it changes the user or has capabilities.
    Privileged {
        /// The program, as it was started.
        program: String,
    },
    /// No process of the command was counted: its shell did everything itself.
    NoProcess,
    /// kumite could not run valgrind, or could not read its files.
    Error {
        /// The error in words.
        error: String,
    },
    /// The counting ended before the command was counted: the user or an error ended it.
    Interrupted,
}

/// A comparison of two commands by their instruction counts. It has no probability of error: the ranges are those of
/// the runs that were counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCounts {
    /// The finding: the counts are the same, they changed, or neither can be told.
    pub state: CountState,
    /// The range of the count of `b` over that of `a`. None if one of the two was not counted, or has a count of 0.
    pub ratio: Option<CountRatio>,
    /// The functions whose counts differ most, at most five, the largest difference first. Empty if the counts are not
    /// changed, or if callgrind's files could not be read; a warning then says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionCounts>,
}

/// The finding on two instruction counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountState {
    /// All ratios of a run of `b` to a run of `a` are within the margin.
    Same,
    /// All ratios of a run of `b` to a run of `a` are beyond the margin, on the same side.
    Changed,
    /// The counts are neither the same nor changed by this rule; or one of the two commands was not counted.
    CannotTell,
}

/// The range of a ratio of counts, over all pairs of runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountRatio {
    /// The least ratio of the count of a run of `b` to that of a run of `a`; above 0.
    pub low: f64,
    /// The greatest ratio of the count of a run of `b` to that of a run of `a`.
    pub high: f64,
}

/// The instructions of a function in two commands, without those of the functions that it calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCounts {
    /// The name of the function, without its file, its program, rustc's hash and the depth of a recursion; functions of
    /// one name are counted together. `functions without a name` stands for all that have no symbol.
    pub name: String,
    /// The number of instructions that the function executes in `a`; 0 if `a` does not execute it.
    pub a: u64,
    /// The number of instructions that the function executes in `b`; 0 if `b` does not execute it.
    pub b: u64,
}
