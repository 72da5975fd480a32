//! A run that other nodes execute, and the words that tell them so.

use std::path::PathBuf;
use std::time::Duration;

use kumite_lab::Experiment;

/// A run that other nodes execute, whole or a share each.
pub struct Away<'a> {
    /// The experiment, as it was read here. Nodes are sent its files, and read them again.
    pub experiment: &'a Experiment,
    /// The seed of all parts of the run, which makes them one run.
    pub seed: u64,
    /// The flags of `kumite run` that are passed on to nodes: for the contenders, the control, the number of blocks,
    /// the rule and the wait.
    pub words: Vec<String>,
    /// The time that the run may take: no block is begun that would end later. None if it is not limited.
    pub budget: Option<Duration>,
    /// True if the run is to pass a gate, for which only shards of the strict rule are taken.
    pub is_gate: bool,
    /// The command as it was typed, for the record.
    pub command: String,
    /// The file of the store for all parts of the run.
    pub db: PathBuf,
}

impl Away<'_> {
    /// The arguments of `kumite run` on another node.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments =
            vec![format!("--seed={}", self.seed), format!("--profile={}", self.experiment.profile)];
        arguments.extend(self.words.iter().cloned());
        arguments.extend(self.budget.map(|budget| format!("--budget={}ms", budget.as_millis().max(1))));
        arguments
    }
}
