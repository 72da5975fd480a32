//! A contender that can be started.

use std::path::PathBuf;

use super::{Answers, Origin, Reads};

/// A contender that is built and answers its version command.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Its name.
    pub name: String,
    /// Where it is run.
    pub folder: PathBuf,
    /// Where what it was built beside is kept, if there is such a thing.
    pub deps: Option<PathBuf>,
    /// The command that runs it.
    pub run: String,
    /// What leads it to its tools, set on top of our own environment.
    pub env: Vec<(String, String)>,
    /// What it is known to answer, where that is not what it should.
    pub answers: Option<Answers>,
    /// Whose document it writes, if it measures by itself.
    pub reads: Option<Reads>,
    /// Where it comes from; none of one that is not here.
    pub origin: Option<Origin>,
    /// Memory of an instance, in MB, in place of the workload's.
    pub memory_mb: Option<u32>,
}
