//! Shards: the shares of a plan that several runs execute, and the record of a run that was merged from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Node, Trial};

/// A share of a plan that is executed as a run of its own: every `of`-th round of the plan, beginning with round number
/// `nth`, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// The number of the share, from 1.
    pub nth: u32,
    /// The number of shards of the plan.
    pub of: u32,
    /// The name of the node that the shard was executed on.
    pub node: String,
}

impl Shard {
    /// True if the round with this index, from 0, belongs to the shard. A shard of none, which only a made-up record has,
    /// has no round.
    pub fn has(&self, round: u32) -> bool {
        round.checked_rem(self.of).is_some_and(|rest| rest + 1 == self.nth)
    }
}

/// The runs and nodes that a run was merged from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Merged {
    /// The number of shards of the plan.
    pub of: u32,
    /// The ids of the runs that were merged, in the order of their shards.
    pub runs: Vec<String>,
    /// The nodes that these runs were executed on, in the order of their first shards.
    pub nodes: Vec<Node>,
    /// The scope of the verdicts: these nodes, or nodes like these.
    pub scope: Scope,
}

impl Merged {
    /// The position in `nodes` of the node that a trial was executed on. None if the trial names no node, or one that
    /// is not in `nodes`.
    pub fn node_of(&self, trial: &Trial) -> Option<usize> {
        let name = trial.node.as_ref()?;
        self.nodes.iter().position(|node| node.name == *name)
    }
}

/// The scope of the verdicts of a run on several nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The verdicts are about these nodes: rounds are the repetitions.
    #[default]
    TheseNodes,
    /// The verdicts are about nodes like these: each node is one repetition, by the median of its rounds.
    NodesLikeThese,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_is_in_one_shard() {
        for of in 1..=5 {
            for round in 0..20 {
                let has = |nth: &u32| Shard { nth: *nth, of, node: String::new() }.has(round);
                assert_eq!((1..=of).filter(has).count(), 1, "round {round} of {of} shards");
            }
        }
    }

    #[test]
    fn a_made_up_shard_has_no_round() {
        for (nth, of) in [(0, 0), (1, 0), (0, 1), (2, 1)] {
            assert!(!Shard { nth, of, node: String::new() }.has(0), "{nth} of {of}");
        }
    }
}
