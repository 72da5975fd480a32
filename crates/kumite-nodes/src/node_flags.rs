//! The flags for nodes, which are checked together.

use kumite_lab::Experiment;

use crate::misuse::Misuse;
use crate::on::On;
use crate::roles::GivenRoles;
use crate::shard::some_for_each;
use crate::slurm::{SlurmOptions, own_job};

/// The flags by which several nodes have a part in a run.
pub struct NodeFlags<'a> {
    /// The value of `--on`.
    pub on: &'a On,
    /// The values of `--role`.
    pub roles: &'a GivenRoles,
    /// The values of `--slurm` and `--queue-timeout`.
    pub slurm: &'a SlurmOptions,
    /// The value of `--shards`; none if it is not given.
    pub shards: Option<u32>,
}

impl NodeFlags<'_> {
    /// Refuses flags that contradict each other, and fewer blocks than `--shards` asks for. `is_shard` is true if
    /// `--shard` is given.
    pub fn check(&self, is_shard: bool, experiment: &Experiment) -> Result<(), Misuse> {
        if self.roles.are_given() && (matches!(self.on, On::Ssh(_)) || is_shard) {
            return Err(Misuse::RolesAndShares);
        }
        if *self.on != On::Slurm && (self.shards.is_some() || self.slurm.are_given()) {
            return Err(Misuse::NotOnSlurm);
        }
        match (self.shards, own_job()) {
            (Some(_), Some(job)) => Err(Misuse::ShardsInsideJob { job }),
            (Some(of), None) => some_for_each("--shards", of, "shares", experiment),
            (None, _) => Ok(()),
        }
    }
}
