//! The share that one of several runs has of a plan, and what a run that was merged from such shares remembers of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Node, Trial};

/// One of the shares that several runs have of a plan: every `of`-th round, the `nth` of them first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// The number of the share, from 1.
    pub nth: u32,
    /// The number of shards of the plan.
    pub of: u32,
    /// The node that it was executed on.
    pub node: String,
}

impl Shard {
    /// True if it has the round with this index, from 0.
    pub fn has(&self, round: u32) -> bool {
        round % self.of == self.nth - 1
    }
}

/// The runs and nodes that a run was merged from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Merged {
    /// How many shards make it whole.
    pub of: u32,
    /// The runs that count, in the order of their shards.
    pub runs: Vec<String>,
    /// The nodes that they were executed on, in the order of their first shards.
    pub nodes: Vec<Node>,
    /// The subject of its verdicts.
    pub scope: Scope,
}

impl Merged {
    /// The position of the node that a trial was executed on.
    pub fn node_of(&self, trial: &Trial) -> Option<usize> {
        let name = trial.node.as_ref()?;
        self.nodes.iter().position(|node| node.name == *name)
    }
}

/// The subject of the verdicts of a run on several nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// These nodes: rounds are the repetitions.
    #[default]
    TheseNodes,
    /// Nodes like these: each is one repetition, by the median of its rounds.
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
}
