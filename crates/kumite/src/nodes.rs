//! The flags for other nodes, and the driver of these nodes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_lab::Experiment;
use kumite_nodes::{Driver, Given, GivenRoles, On, Placed, Relayed, SbatchWords, SlurmOptions};

use crate::exit::Failure;
use crate::{VERSION, duration, output};

/// The driver of other nodes: this process.
pub fn driver(stop: &Arc<AtomicBool>) -> Driver {
    Driver { version: VERSION, note: output::note, stop: Arc::clone(stop) }
}

#[derive(clap::Args)]
pub struct RoleFlags {
    /// Run a part on another node, over ssh: server=HOST (kind http), services=HOST, or engine=HOST (the measuring side,
    /// and all that has no node of its own). With --on slurm HOST is a node of the job, and `server` alone means any
    #[arg(long = "role", id = "role", value_name = "ROLE=HOST", conflicts_with = "relayed")]
    given: Vec<Given>,
    /// The nodes that whoever started this reaches, and relays to
    #[arg(long, hide = true)]
    relayed: Option<Relayed>,
}

impl RoleFlags {
    pub fn roles(&self) -> GivenRoles {
        GivenRoles { given: self.given.clone(), relayed: self.relayed.clone() }
    }

    /// The nodes for the roles that these flags give, at the place that `--on` names. No node is contacted yet.
    pub fn at<'a>(&self, on: &'a On, slurm: &SlurmFlags) -> RoleNodes<'a> {
        RoleNodes { roles: self.roles(), on, slurm: slurm.options() }
    }
}

/// The nodes for the roles of a run, as its flags name them.
pub struct RoleNodes<'a> {
    roles: GivenRoles,
    on: &'a On,
    slurm: SlurmOptions,
}

impl RoleNodes<'_> {
    /// Refuses roles that this experiment cannot have, before anything is started.
    pub fn check(&self, experiment: &Experiment) -> Result<(), Failure> {
        Ok(self.roles.check(experiment, self.on)?)
    }

    /// Gives each role its node. With `--on slurm` the nodes are those of a job, which is waited for. An error if the
    /// nodes cannot be had.
    pub fn placed(&self, experiment: &Experiment, driver: &Driver) -> Result<Placed, Failure> {
        Ok(self.roles.placed(self.on, &self.slurm, &experiment.name, driver)?)
    }
}

#[derive(clap::Args)]
pub struct SlurmFlags {
    /// Options for sbatch, e.g. '--partition=bench --time=60 --nodes=4'; 'OPTIONS : OPTIONS' gives each --role's node its own, in
    /// their order; for --on slurm
    #[arg(
        long = "slurm",
        value_name = "OPTIONS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    words: SbatchWords,
    /// Time after which to give up a job that has not begun; for --on slurm
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "1h")]
    queue_timeout: Duration,
}

impl SlurmFlags {
    pub fn options(&self) -> SlurmOptions {
        SlurmOptions { words: self.words.clone(), queue_timeout: self.queue_timeout }
    }
}
