//! A run that other nodes execute, and how they are told so.

use std::path::PathBuf;
use std::time::Duration;

use kumite_lab::Experiment;

/// A run that other nodes execute, whole or a share each.
pub struct Away<'a> {
    /// As it was read here. Nodes are sent its files, and read them again.
    pub experiment: &'a Experiment,
    /// The seed of every part of it: it makes the parts one run.
    pub seed: u64,
    /// The flags of `kumite run` that say how many blocks, which contenders and by which rule.
    pub words: Vec<String>,
    /// Begin no block that would end after this time.
    pub budget: Option<Duration>,
    /// True if it is to pass a gate, for which only shards of the strict rule are taken.
    pub is_gate: bool,
    /// The command as it was typed, for the record.
    pub command: String,
    /// The store into which all of it comes.
    pub db: PathBuf,
}

impl Away<'_> {
    /// The arguments of `kumite run` on another node.
    pub(crate) fn arguments(&self, budget: Option<Duration>) -> Vec<String> {
        let mut arguments =
            vec![format!("--seed={}", self.seed), format!("--profile={}", self.experiment.profile)];
        arguments.extend(self.words.iter().cloned());
        arguments.extend(budget.map(|budget| format!("--budget={}ms", budget.as_millis())));
        arguments
    }
}
