//! The repetitions of a run: rounds, or nodes.

use crate::{Merged, Rule, Run, Scope, Trial};

impl Run {
    /// The record of the merge, if the run's verdicts are about nodes like its own ([`Scope::NodesLikeThese`]). None if
    /// they are about its own nodes alone, or if the run was not merged from several.
    pub fn judged_by_nodes(&self) -> Option<&Merged> {
        self.merged.as_ref().filter(|merged| merged.scope == Scope::NodesLikeThese)
    }

    /// True if each verdict rests on all rounds of the run, so that further rounds may take it back: under
    /// [`Rule::Strict`], and in a run with sittings. False if a verdict stays, and rests on the rounds before it was
    /// given.
    pub fn is_judged_at_its_end(&self) -> bool {
        self.rule == Rule::Strict || !self.sittings.is_empty()
    }

    /// The index, from 0, of the repetition that a trial belongs to. If verdicts are about nodes like the run's own, it
    /// is the position of the trial's node in the list of the run's nodes. Otherwise, and if the node is not in that
    /// list, it is the index of the trial's round.
    pub fn repetition(&self, trial: &Trial) -> u32 {
        let node = self.judged_by_nodes().and_then(|merged| merged.node_of(trial));
        node.map_or(trial.block, |node| node as u32)
    }
}
