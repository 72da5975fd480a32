//! The preparation of nodes that have roles, and of this machine for the other roles.
//!
//! A [`Role`] comes from the command line (`--role server=HOST`) as a value and ends in the record as one. Here each
//! node builds or finds what its roles take, and its answer replaces this machine's part of the preparation. Drivers
//! then ask [`Nodes::with_role`](crate::Nodes) where to start a server; services ask it, too.

use std::net::SocketAddrV4;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_record::{Contender, ContenderStatus, Cores, Node, Role, RoleElsewhere, Roles};

use super::prepare::{Choice, Prepared, prepare};
use crate::contender::Ready;
use crate::driver::http;
use crate::halt::Halt;
use crate::node::Nodes;
use crate::spec::Experiment;
use crate::toml_source::SpecError;
use crate::work::Prepare;

/// The nodes of a run, ready for their roles.
pub struct Joined {
    /// The contenders and services, whichever node they are on.
    pub prepared: Prepared,
    /// The nodes, which are ready now.
    pub nodes: Nodes,
    /// The CPUs of contenders and of the load engine, each on its own node.
    pub cores: Cores,
    /// The roles that other nodes have.
    pub roles: Vec<RoleElsewhere>,
}

/// Returns an error if another node cannot have one of these roles for the experiment.
pub fn check_roles(experiment: &Experiment, elsewhere: &Roles) -> Result<(), SpecError> {
    let (name, kind) = (&experiment.name, experiment.kind());
    let wrong = |role: &Role| match role {
        Role::Server => (!http::is_http(&kind)).then(|| {
            format!(
                "{name} is of kind {}, whose contenders are talked to by a pipe, and stay with kumite",
                kind.as_str()
            )
        }),
        Role::Services => experiment.services.is_empty().then(|| format!("{name} has no services")),
        Role::Engine => None,
    };
    match elsewhere.iter().find_map(|role| Some((role, wrong(role)?))) {
        Some((role, why)) => Err(SpecError::Usage(format!("--role {role}: {why}"))),
        None => Ok(()),
    }
}

/// Has every node find and build what its roles take, and this machine the rest. An error if something that the
/// experiment itself needs is not available, a node is lost, or `stop` is set. A contender that cannot be built is no
/// error.
pub fn join(
    experiment: &Experiment,
    choice: &Choice,
    mut nodes: Nodes,
    here: &Cores,
    state: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Joined, Halt> {
    let choice = Choice { elsewhere: nodes.elsewhere.keys().copied().collect(), ..choice.clone() };
    let mut prepared = prepare(experiment, &choice, state, stop, note)?;
    let mut cores = here.clone();
    let mut elsewhere = Vec::new();
    let mut echo = None;
    for (node, roles) in nodes.others() {
        let wanted = Prepare {
            profile: experiment.profile.clone(),
            roles: roles.clone(),
            only: choice.only.clone(),
            skip: choice.skip.clone(),
            unplanned: choice.unplanned.clone(),
            install: choice.install,
        };
        let readied = node.ask(wanted).map_err(|why| Halt::unless_stopped(why, stop))?;
        for role in roles {
            match role {
                Role::Server => {
                    echo = Some(SocketAddrV4::new(node.address(), readied.echo_port));
                    cores = Cores {
                        contender: readied.cores.contender.clone(),
                        engine: here.engine.clone(),
                        apart: true,
                    };
                    let is_ready = |contender: &&Contender| contender.status == ContenderStatus::Ran;
                    let ready = readied.contenders.iter().filter(is_ready);
                    prepared.ready = ready.map(|contender| elsewhere_ready(&contender.name)).collect();
                    prepared.contenders = readied.contenders.clone();
                }
                Role::Services => prepared.services = readied.services.clone(),
                // The engine is always here.
                Role::Engine => {}
            }
            let node = Node { name: node.name().to_owned(), machine: readied.machine.clone() };
            elsewhere.push(RoleElsewhere { role, node });
        }
    }
    nodes.echo = echo;
    Ok(Joined { prepared, nodes, cores, roles: elsewhere })
}

/// A contender that is built on another node, with as much as a plan has to know of it.
fn elsewhere_ready(name: &str) -> Ready {
    Ready {
        name: name.to_owned(),
        folder: Path::new("").to_owned(),
        run: String::new(),
        env: Vec::new(),
        answers: None,
        reads: None,
        deps: None,
        origin: None,
        memory_mb: None,
        twin: None,
        drawn: None,
    }
}
