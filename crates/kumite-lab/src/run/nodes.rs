//! The nodes that have roles get ready for them, and this machine for the rest.

use std::net::SocketAddrV4;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_record::{ContenderStatus, Cores, Node, Role};

use super::prepare::{Choice, Prepared, prepare};
use crate::contender::Ready;
use crate::driver::http;
use crate::halt::Halt;
use crate::node::{Nodes, Readied, Wanted, Work};
use crate::spec::Experiment;
use crate::toml_source::SpecError;

/// What came of it.
pub struct Joined {
    /// The contenders and services, wherever they are.
    pub prepared: Prepared,
    /// The same nodes, now ready.
    pub nodes: Nodes,
    /// Which CPUs a contender may have, and which the engine has.
    pub cores: Cores,
    /// Who has which role.
    pub roles: Vec<Role>,
}

/// Whether an experiment can have parts on other nodes; these are its words for the roles.
pub fn check_roles(experiment: &Experiment, server: bool, services: bool) -> Result<(), SpecError> {
    let wrong = |what: String| Err(SpecError::Usage(what));
    let (name, kind) = (&experiment.name, experiment.kind());
    if server && !http::is(&kind) {
        return wrong(format!(
            "--role server: {name} is of kind {}, whose contenders are talked to by a pipe, and stay with kumite",
            kind.as_str()
        ));
    }
    if services && experiment.services.is_empty() {
        return wrong(format!("--role services: {name} has no services"));
    }
    Ok(())
}

/// Has every node find and build what its roles take, and this machine the rest.
pub fn join(
    experiment: &Experiment,
    choice: &Choice,
    mut nodes: Nodes,
    here: &Cores,
    state: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Joined, Halt> {
    let elsewhere = (nodes.server.is_some(), nodes.services.is_some());
    let choice =
        Choice { contenders_elsewhere: elsewhere.0, services_elsewhere: elsewhere.1, ..choice.clone() };
    let mut prepared = prepare(experiment, &choice, state, stop, note)?;
    let mut cores = here.clone();
    let mut roles = Vec::new();
    let mut echo = None;
    for (role, node) in nodes.others() {
        let has = |of: &Option<crate::node::Remote>| of.as_ref().is_some_and(|of| of.is(node));
        let (server, services) = (has(&nodes.server), has(&nodes.services));
        let wanted = Wanted {
            profile: experiment.profile.clone(),
            server,
            services,
            only: choice.only.clone(),
            skip: choice.skip.clone(),
            unplanned: choice.unplanned.clone(),
            install: choice.install,
        };
        let readied: Readied = node.ask(&Work::Prepare(wanted)).map_err(|why| Halt::of(why, stop))?;
        if server {
            echo = Some(SocketAddrV4::new(node.address(), readied.echo_port));
            cores = Cores {
                contender: readied.cores.contender.clone(),
                engine: here.engine.clone(),
                apart: true,
            };
            let ran = readied.contenders.iter().filter(|contender| contender.status == ContenderStatus::Ran);
            prepared.ready = ran.map(|contender| elsewhere_ready(&contender.name)).collect();
            prepared.contenders = readied.contenders;
        }
        if services {
            prepared.services = readied.services;
        }
        let machine = readied.machine;
        let node = Node { name: node.name().to_owned(), machine };
        roles.push(Role { role: role.to_owned(), node });
    }
    nodes.echo = echo;
    Ok(Joined { prepared, nodes, cores, roles })
}

/// What a plan has to know of a contender that is built on another node.
fn elsewhere_ready(name: &str) -> Ready {
    Ready {
        name: name.to_owned(),
        folder: Path::new("").to_owned(),
        run: String::new(),
        env: Vec::new(),
        answers: None,
        reads: None,
        origin: None,
        memory_mb: None,
    }
}
