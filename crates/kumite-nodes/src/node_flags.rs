//! The flags for nodes together, of which each makes sense alone.

use kumite_lab::Experiment;

use crate::misuse::Misuse;
use crate::on::On;
use crate::roles::GivenRoles;
use crate::shard::some_for_each;
use crate::slurm::{SlurmOptions, own_job};

/// How several nodes have a part in a run.
pub struct NodeFlags<'a> {
    /// `--on`.
    pub on: &'a On,
    /// `--role`.
    pub roles: &'a GivenRoles,
    /// `--slurm`.
    pub slurm: &'a SlurmOptions,
    /// `--shards`.
    pub shards: Option<u32>,
}

impl NodeFlags<'_> {
    /// Refuses flags that contradict each other.
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
