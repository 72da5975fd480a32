//! The repetitions of a run: rounds, or nodes.

use crate::{Merged, Rule, Run, Scope, Trial};

impl Run {
    /// The nodes of the run, if its verdicts are about nodes like these; none if they are about these alone, or there
    /// is one.
    pub fn judged_by_nodes(&self) -> Option<&Merged> {
        self.merged.as_ref().filter(|merged| merged.scope == Scope::NodesLikeThese)
    }

    /// True where claims are judged by all rounds, at one look: a verdict may be taken back by later rounds. Else a
    /// verdict stays, and rests on the rounds before it was given.
    pub fn is_judged_at_its_end(&self) -> bool {
        self.rule == Rule::Strict || !self.sittings.is_empty()
    }

    /// The repetition that a trial belongs to, from 0: its round or, where verdicts are about nodes like these, its
    /// node.
    pub fn repetition(&self, trial: &Trial) -> u32 {
        let node = self.judged_by_nodes().and_then(|merged| merged.node_of(trial));
        node.map_or(trial.block, |node| node as u32)
    }
}
