//! Flags for other nodes, and who has them work.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_nodes::{Driver, Given, GivenRoles, Relayed, SbatchWords, SlurmOptions};

use crate::{VERSION, duration, output};

/// This process.
pub fn driver(stop: &Arc<AtomicBool>) -> Driver {
    Driver { version: VERSION, note: output::note, stop: Arc::clone(stop) }
}

#[derive(clap::Args)]
pub struct RoleFlags {
    /// Run a part on another node, over ssh: server=HOST (kind http), services=HOST, engine=HOST (what measures, and
    /// all that has no node of its own). With --on slurm HOST is a node of the job, and `server` alone means any
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
}

#[derive(clap::Args)]
pub struct SlurmFlags {
    /// With --on slurm: options for sbatch, e.g. '--partition=bench --time=60 --nodes=4'. With --role, 'OPTIONS : OPTIONS' gives
    /// each role's node its own, in the order of the roles
    #[arg(
        long = "slurm",
        value_name = "OPTIONS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    words: SbatchWords,
    /// With --on slurm: give up if the job has not begun after this time
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "1h")]
    queue_timeout: Duration,
}

impl SlurmFlags {
    pub fn options(&self) -> SlurmOptions {
        SlurmOptions { words: self.words.clone(), queue_timeout: self.queue_timeout }
    }
}
