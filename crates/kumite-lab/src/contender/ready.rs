//! A contender that can be started.

use std::path::PathBuf;

use kumite_record::Cores;

use super::{Answers, Drawn, Origin, Reads};

/// A contender that is built and answers its version command.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Its name.
    pub name: String,
    /// The folder in which it is run.
    pub folder: PathBuf,
    /// Where what it was built beside is kept, if there is such a thing.
    pub deps: Option<PathBuf>,
    /// The command that runs it.
    pub run: String,
    /// The variables that lead it to its tools, set on top of our own environment.
    pub env: Vec<(String, String)>,
    /// Its deliberate answers, where it is there to show a fault; `None` if it has to answer right.
    pub answers: Option<Answers>,
    /// Whose document it writes, if it measures by itself.
    pub reads: Option<Reads>,
    /// Where it comes from; none of one that is not here.
    pub origin: Option<Origin>,
    /// Memory of an instance, in MB, in place of the workload's.
    pub memory_mb: Option<u32>,
    /// The name of its trials in the record, where it is the second of a control.
    pub twin: Option<String>,
    /// What is drawn anew for the trial that it is started for, if that is one of a run with a control.
    pub drawn: Option<Drawn>,
}

impl Ready {
    /// The CPUs in the order in which it is given them.
    pub fn among(&self, cores: &Cores) -> Cores {
        self.drawn.map_or_else(|| cores.clone(), |drawn| drawn.among(cores))
    }

    /// The name of its trials in the record.
    pub fn recorded(&self) -> &str {
        self.twin.as_deref().unwrap_or(&self.name)
    }
}
