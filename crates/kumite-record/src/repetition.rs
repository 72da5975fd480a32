//! What the repetitions of a run are.

use crate::{Merged, Run, Scope, Trial};

impl Run {
    /// What its verdicts are about, if it is of several nodes and that is not these alone: the nodes.
    pub fn judged_by_nodes(&self) -> Option<&Merged> {
        self.merged.as_ref().filter(|merged| merged.scope == Scope::NodesLikeThese)
    }

    /// Which repetition a trial is of, from 0: its round or, where verdicts are about nodes like these, its node.
    pub fn repetition(&self, trial: &Trial) -> u32 {
        let node = self.judged_by_nodes().and_then(|merged| merged.node_of(trial));
        node.map_or(trial.block, |node| node as u32)
    }
}
