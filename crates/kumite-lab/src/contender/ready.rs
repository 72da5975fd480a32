//! A contender that can be started.

use std::path::PathBuf;

use kumite_record::Cores;

use super::{Answers, Drawn, Origin, Reads};

/// A contender that is built, if it has a build, and has answered its version command. If the contender is on another
/// node, or is a server that somebody else started, only its name is known here: its folder and command are empty.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The contender's name.
    pub name: String,
    /// The folder in which the contender is run.
    pub folder: PathBuf,
    /// The folder that `[deps]` made, beside which the contender was built. None if it has no `[deps]`, or is on
    /// another node.
    pub deps: Option<PathBuf>,
    /// The command that runs the contender.
    pub run: String,
    /// The variables that lead the contender to its tools, set on top of kumite's own environment.
    pub env: Vec<(String, String)>,
    /// The deliberate answers of a contender that is there to show a fault. None if it has to answer right.
    pub answers: Option<Answers>,
    /// The document that the contender writes if it measures by itself. None if kumite measures it.
    pub reads: Option<Reads>,
    /// The origin of the contender's build. None if the contender is on another node, or was started by somebody
    /// else.
    pub origin: Option<Origin>,
    /// The memory of an instance, in MB, in place of the workload's. None to take the workload's.
    pub memory_mb: Option<u32>,
    /// The name of the contender's trials in the record, if it is the second build of a control. None for any other
    /// contender, whose trials are recorded under `name`.
    pub twin: Option<String>,
    /// The conditions that were drawn for one trial, in a run that has a control. None otherwise.
    pub drawn: Option<Drawn>,
}

impl Ready {
    /// The CPUs in the order in which the contender is given them: an order that was drawn for the trial or, if none
    /// was, that of `cores`.
    pub fn among(&self, cores: &Cores) -> Cores {
        self.drawn.map_or_else(|| cores.clone(), |drawn| drawn.among(cores))
    }

    /// The name of the contender's trials in the record.
    pub fn recorded(&self) -> &str {
        self.twin.as_deref().unwrap_or(&self.name)
    }
}
