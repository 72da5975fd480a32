//! The flags for a kept run to which trials are added, and the errors if something has changed since the run began.

use std::time::Duration;

use kumite_lab::Difference;
use kumite_nodes::On;
use kumite_record::{Contender, Run};

use crate::duration;
use crate::ending::Ending;
use crate::exit::Failure;
use crate::nodes::{RoleFlags, SlurmFlags};
use crate::wait::Wait;

#[derive(clap::Args)]
pub struct KeptFlags {
    /// Run: its id, the beginning of its id, or `last`
    #[arg(default_value = "last")]
    pub run: String,
    /// Begin no block that would end after this time, counted from now, e.g. 10m
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub budget: Option<Duration>,
    /// Place of the nodes of --role: local, which is by ssh; or slurm
    #[arg(long, value_name = "WHERE", default_value = "local")]
    pub on: On,
    #[command(flatten)]
    pub slurm: SlurmFlags,
    #[command(flatten)]
    pub roles: RoleFlags,
    #[command(flatten)]
    pub wait: Wait,
    #[command(flatten)]
    pub ending: Ending,
}

pub fn alike(id: &str, difference: Option<Difference>) -> Result<(), Failure> {
    match difference {
        None => Ok(()),
        Some(Difference { what, values: None }) => Err(changed(id, &format!("{what} has changed"))),
        Some(Difference { what, values: Some([then, now]) }) => {
            Err(changed(id, &format!("{what} has changed from {then} to {now}")))
        }
    }
}

/// An error if the run compares revisions of its contenders: nothing can be added to such a run.
pub fn of_working_tree(run: &Run) -> Result<(), Failure> {
    match run.revisions.is_empty() {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "run {id} compares revisions, and nothing is added to such a run: its own command begins a new one, \
             `kumite report {id}` shows what there is",
            id = run.id
        ))),
    }
}

pub fn changed(id: &str, what: &str) -> Failure {
    Failure::Usage(format!(
        "{what} since run {id} began, so this run cannot be continued: `kumite run` begins a new one, \
         `kumite report {id}` shows what there is"
    ))
}

pub fn can_be_run<'a>(then: impl Iterator<Item = &'a Contender>, now: &[Contender]) -> Result<(), Failure> {
    for Contender { name, .. } in then {
        let of_now = now.iter().find(|other| other.name == *name);
        if let Some(Contender { reason: Some(reason), version: None, .. }) = of_now {
            return Err(Failure::Incomplete(format!("{name} cannot be run any more: {reason}")));
        }
    }
    Ok(())
}
