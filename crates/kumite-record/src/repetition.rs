//! The repetitions of a run: rounds, or nodes.

use crate::{Merged, Rule, Run, Scope, Trial};

impl Run {
    /// The nodes of the run, if its verdicts are about nodes like these. None if its verdicts are about these nodes
    /// alone, or if it was not merged from several.
    pub fn judged_by_nodes(&self) -> Option<&Merged> {
        self.merged.as_ref().filter(|merged| merged.scope == Scope::NodesLikeThese)
    }

    /// True if claims are judged by all rounds, at one look, so that later rounds may take a verdict back. False if a
    /// verdict stays, and rests on the rounds before it was given.
    pub fn is_judged_at_its_end(&self) -> bool {
        self.rule == Rule::Strict || !self.sittings.is_empty()
    }

    /// The index, from 0, of the repetition that a trial belongs to: of its node if verdicts are about nodes like
    /// these and its node is one of the run's, else of its round.
    pub fn repetition(&self, trial: &Trial) -> u32 {
        let node = self.judged_by_nodes().and_then(|merged| merged.node_of(trial));
        node.map_or(trial.block, |node| node as u32)
    }
}
