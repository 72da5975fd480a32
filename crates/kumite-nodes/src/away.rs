use std::path::PathBuf;
use std::time::Duration;

use kumite_lab::Experiment;

/// A run that other nodes execute.
pub struct Away<'a> {
    /// Of what.
    pub experiment: &'a Experiment,
    /// It goes by this seed, wherever a part of it is.
    pub seed: u64,
    /// How many blocks, which contenders, by which rule: what else `kumite run` is given.
    pub words: Vec<String>,
    /// Begin no block that would end after this time.
    pub budget: Option<Duration>,
    /// Whether it is to pass a gate.
    pub is_gate: bool,
    /// The command as it was typed.
    pub command: String,
    /// The store that all of it comes into.
    pub db: PathBuf,
}

impl Away<'_> {
    /// What the same run is called with on another node.
    pub(crate) fn words(&self, budget: Option<Duration>) -> Vec<String> {
        let mut words =
            vec![format!("--seed={}", self.seed), format!("--profile={}", self.experiment.profile)];
        words.extend(self.words.iter().cloned());
        words.extend(budget.map(|budget| format!("--budget={}ms", budget.as_millis())));
        words
    }
}
