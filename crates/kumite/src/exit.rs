//! Exit codes, and the failures that lead to them.

use std::fmt;
use std::process::ExitCode;

use kumite_lab::{Error, Halt, SpecError};
use kumite_record::StoreError;

/// The text on exit codes, below every help text.
pub const HELP: &str = "\
Exit status:
  0  done; a claim that fails is a finding, not an error
  1  the answer is no: the gate is shut (--gate); `check` or `build` found a failing contender, `task` a wrong answer, `kit-test` a failing kit, `selfcheck` something worse than promised; a function that `function invoke` called failed; more than 1 % of the requests of `load` failed, or one did that was told what to expect (with --slo the objective decides, by a gate alone); `compare --same-output` found outputs that differ; `replicate` came to another verdict
  2  wrong usage, or an error in an experiment, a contender or a macro
  3  not completed; what was measured until then is kept and reported";

/// The reason why a command does not end with exit code 0.
#[derive(Debug)]
pub enum Failure {
    /// The answer to the question that was asked is no.
    Gate(String),
    /// A gate does not let the run pass. Its line, which says why, has been printed.
    Shut,
    /// The command line, a specification or a file that was named is at fault.
    Usage(String),
    /// The command could not be completed.
    Incomplete(String),
}

impl Failure {
    /// The documented exit code of this failure.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Gate(_) | Failure::Shut => 1,
            Failure::Usage(_) => 2,
            Failure::Incomplete(_) => 3,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Gate(what) | Failure::Usage(what) | Failure::Incomplete(what) => f.write_str(what),
            Failure::Shut => f.write_str("the gate does not let pass"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<kumite_nodes::Failure> for Failure {
    fn from(failure: kumite_nodes::Failure) -> Failure {
        let what = kumite_lab::chain(&failure);
        if failure.is_usage() { Failure::Usage(what) } else { Failure::Incomplete(what) }
    }
}

impl From<kumite_revision::Error> for Failure {
    fn from(error: kumite_revision::Error) -> Failure {
        let what = error.to_string();
        if error.is_usage() { Failure::Usage(what) } else { Failure::Incomplete(what) }
    }
}

/// Implements `From` for errors by way of kumite-nodes' `Failure`, so that its `is_usage` decides on the exit code.
macro_rules! as_of_nodes {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                kumite_nodes::Failure::from(error).into()
            }
        }
    )*};
}

as_of_nodes!(SpecError, Halt, Error, StoreError, kumite_nodes::Misuse, kumite_agent::Error);
