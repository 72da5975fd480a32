//! `--role`: parts of a run that other nodes have.

use std::io::{BufRead, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_agent::{Host, Link, Program, Tell, Way, Worked, decode};
use kumite_lab::{Choice, Experiment, Joined, Nodes, Remote, Talk, check_roles, join};
use kumite_record::Cores;
use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::measure::before_trials;
use crate::on::sent_folders;
use crate::output;

/// To get ready: a build may take so long, and says nothing meanwhile.
const READYING: Duration = Duration::from_secs(30 * 60);
/// For all else. To start a service takes longest.
const WORKING: Duration = Duration::from_secs(3 * 60);

/// How a run on the engine's node is told of the other nodes.
pub const RELAYED: &str = "--relayed=";
/// What it begins a line with that is for one of them.
const RELAY: &str = "kumite asks ";

#[derive(clap::Args)]
pub struct Roles {
    /// Another node for a part of the run, reached by ssh: server=HOST (kind http), services=HOST, engine=HOST (what measures,
    /// and whatever else no other node has)
    #[arg(long = "role", value_name = "ROLE=HOST", conflicts_with = "relayed")]
    given: Vec<Given>,
    /// The nodes that whoever started this reaches, and relays to
    #[arg(long, hide = true, value_parser = |text: &str| serde_json::from_str::<RelayedNodes>(text))]
    relayed: Option<RelayedNodes>,
}

#[derive(Clone, Debug, PartialEq)]
struct Given {
    role: Part,
    host: Host,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Server,
    Services,
    Engine,
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Given, String> {
        const WRITE: &str = "write server=HOST, services=HOST or engine=HOST";
        let (role, host) = text.split_once('=').ok_or(WRITE)?;
        let role = match role {
            "server" => Part::Server,
            "services" => Part::Services,
            "engine" => Part::Engine,
            _ => return Err(format!("there is no role '{role}': {WRITE}")),
        };
        Ok(Given { role, host: host.parse()? })
    }
}

/// A node that whoever started us reaches.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct RelayedNode {
    name: String,
    address: Ipv4Addr,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RelayedNodes {
    here: Ipv4Addr,
    server: Option<RelayedNode>,
    services: Option<RelayedNode>,
}

/// The links to the nodes of a run, each to one.
pub struct Reached {
    /// Where this machine is reached by them.
    here: Ipv4Addr,
    links: Vec<(Host, Ipv4Addr, Linked)>,
}

impl Roles {
    /// Whether other nodes have any.
    pub fn are_given(&self) -> bool {
        !self.given.is_empty() || self.relayed.is_some()
    }

    /// Who measures, if that is another node.
    pub fn engine(&self) -> Option<&Host> {
        self.of(Part::Engine)
    }

    /// Whether they can be had.
    pub fn check(&self, experiment: &Experiment) -> Result<(), Failure> {
        for role in [Part::Server, Part::Services, Part::Engine] {
            if self.given.iter().filter(|given| given.role == role).count() > 1 {
                return Err(Failure::Usage("--role: each role is one node's".to_owned()));
            }
        }
        let elsewhere = |part| self.of(part).filter(|host| Some(*host) != self.engine()).is_some();
        let (server, services) = (elsewhere(Part::Server), elsewhere(Part::Services));
        if self.engine().is_some() && !server && !services {
            let why =
                "--role engine: nothing would be apart from it; to run all of it there, write --on ssh:HOST";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(check_roles(experiment, server, services)?)
    }

    /// Goes to the nodes that have roles, if any, and has them and this machine get ready.
    pub fn join(
        &self,
        experiment: &Experiment,
        choice: &Choice,
        here: &Cores,
        state: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Result<Joined, Failure> {
        let nodes = if self.are_given() { self.nodes(experiment, stop)? } else { Nodes::default() };
        join(experiment, choice, nodes, here, state, stop, &mut output::note).map_err(before_trials)
    }

    fn of(&self, role: Part) -> Option<&Host> {
        self.given.iter().find(|given| given.role == role).map(|given| &given.host)
    }

    /// Goes to the nodes of the server and of the services. If the way to one fails later, that is said, and `stop` is set: what
    /// was measured is kept.
    fn nodes(&self, experiment: &Experiment, stop: &Arc<AtomicBool>) -> Result<Nodes, Failure> {
        if let Some(RelayedNodes { here, server, services }) = &self.relayed {
            let remote = |node: &RelayedNode| {
                let talk = Relaying { node: node.name.clone(), stop: Arc::clone(stop) };
                Remote::new(&node.name, node.address, talk)
            };
            let server_node = server.as_ref().map(remote);
            let is_same = |node: &RelayedNode| server.as_ref().is_some_and(|server| server.name == node.name);
            let services = match services {
                Some(node) if is_same(node) => server_node.clone(),
                services => services.as_ref().map(remote),
            };
            return Ok(Nodes { here: *here, server: server_node, services, ..Nodes::default() });
        }
        let Reached { here, links } = self.reach(experiment, stop)?;
        let (server, services) = (self.of(Part::Server), self.of(Part::Services));
        let mut nodes = Nodes { here, ..Nodes::default() };
        for (host, address, linked) in links {
            let remote = Remote::new(host.name(), address, linked);
            if Some(&host) == server {
                nodes.server = Some(remote.clone());
            }
            if Some(&host) == services {
                nodes.services = Some(remote);
            }
        }
        Ok(nodes)
    }

    /// Goes to the nodes of the server and of the services, where they are not the engine's.
    fn reach(&self, experiment: &Experiment, stop: &Arc<AtomicBool>) -> Result<Reached, Failure> {
        let program = Program::own().map_err(Failure::Incomplete)?;
        let mut hosts: Vec<&Host> = Vec::new();
        for host in [Part::Server, Part::Services].into_iter().filter_map(|part| self.of(part)) {
            if Some(host) != self.engine() && !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let mut reached = Reached { here: Ipv4Addr::LOCALHOST, links: Vec::new() };
        for host in hosts {
            let linked = Linked::to(host, &program, experiment, stop).map_err(Failure::Incomplete)?;
            let (address, here) = linked.addresses;
            reached.here = here;
            reached.links.push((host.clone(), address, linked));
        }
        Ok(reached)
    }

    /// Goes to the nodes for a run on the engine's, which is reached at `here`; what that run is told of them.
    pub fn relays(
        &self,
        here: Ipv4Addr,
        experiment: &Experiment,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Relays, String), Failure> {
        let links = self.reach(experiment, stop)?.links;
        let named = |part| {
            let (host, address, _) = links.iter().find(|(host, ..)| Some(host) == self.of(part))?;
            Some(RelayedNode { name: host.name().to_owned(), address: *address })
        };
        let (server, services) = (named(Part::Server), named(Part::Services));
        let nodes = serde_json::to_string(&RelayedNodes { here, server, services });
        let nodes = nodes.map_err(|error| Failure::Incomplete(error.to_string()))?;
        Ok((Relays(links), format!("{RELAYED}{nodes}")))
    }
}

/// The links to the nodes that a run on the engine's node works with.
pub struct Relays(Vec<(Host, Ipv4Addr, Linked)>);

impl Relays {
    /// Has a node do what the run asks of it.
    pub fn does(&mut self, node: &str, work: &str) -> Worked {
        let of = self.0.iter_mut().find(|(host, ..)| host.name() == node);
        of.map_or_else(
            || Worked::Failed(format!("there is no node {node}")),
            |(.., linked)| linked.work(work),
        )
    }
}

/// An agent that has a role.
struct Linked {
    name: String,
    /// Until it is closed.
    link: Option<Link>,
    /// The node's, and ours as it sees it.
    addresses: (Ipv4Addr, Ipv4Addr),
    stop: Arc<AtomicBool>,
    is_ready: bool,
    /// Where what ssh says is kept, as long as it may say something.
    _log: tempfile::TempDir,
}

impl Linked {
    fn to(
        host: &Host,
        program: &Program,
        experiment: &Experiment,
        stop: &Arc<AtomicBool>,
    ) -> Result<Linked, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let log = folder.path().join("way.log");
        let mut link = Link::open(host.name(), &Way::Ssh(host, program), crate::VERSION, &log, stop)?;
        output::note(&format!("{}: connected in {:.1} s", host.name(), link.connected_in.as_secs_f64()));
        let (named, folders) = sent_folders(experiment)?;
        let addresses = link.addresses()?;
        link.prepare(&fresh_key(), &folders, stop)?;
        link.role(&named, stop)?;
        let (name, stop) = (host.name().to_owned(), Arc::clone(stop));
        Ok(Linked { name, link: Some(link), addresses, stop, is_ready: false, _log: folder })
    }

    fn work(&mut self, work: &str) -> Worked {
        let limit = if self.is_ready { WORKING } else { READYING };
        let name = &self.name;
        let mut note = |text: &str| output::note(&format!("{name}: {text}"));
        let Some(link) = &mut self.link else { return Worked::Lost(format!("{name}: it is closed")) };
        let worked = link.work(work, limit, &mut note, &self.stop);
        self.is_ready = true;
        worked
    }
}

impl Drop for Linked {
    /// The agent removes what it was sent before it ends.
    fn drop(&mut self) {
        self.link.take().into_iter().for_each(Link::close);
    }
}

/// Of no other run.
fn fresh_key() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:08x}{:024x}", std::process::id(), now.as_nanos())
}

impl Talk for Linked {
    fn does(&mut self, work: &str) -> Result<String, String> {
        answered(self.work(work), &self.stop)
    }
}

/// Nothing is measured without a node: one that is lost ends the run, as Ctrl-C does.
fn answered(worked: Worked, stop: &AtomicBool) -> Result<String, String> {
    match worked {
        Worked::Answer(answer) => Ok(answer),
        Worked::Failed(why) => Err(why),
        Worked::Lost(why) => {
            if !stop.swap(true, Ordering::Relaxed) {
                output::note(&format!("{why}; the run ends here"));
            }
            Err(why)
        }
    }
}

/// A node that whoever started us reaches.
struct Relaying {
    node: String,
    stop: Arc<AtomicBool>,
}

impl Talk for Relaying {
    fn does(&mut self, work: &str) -> Result<String, String> {
        let asked = Tell::Relay { node: self.node.clone(), work: work.to_owned() };
        let asked = serde_json::to_string(&asked).map_err(|error| error.to_string())?;
        let ask = || {
            writeln!(std::io::stderr().lock(), "{RELAY}{asked}")?;
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line)?;
            Ok::<_, std::io::Error>(line)
        };
        let worked = match ask() {
            Ok(line) => decode(line.trim_end().as_bytes()).unwrap_or_else(Worked::Lost),
            Err(error) => Worked::Lost(format!("nobody relays to {}: {error}", self.node)),
        };
        answered(worked, &self.stop)
    }
}

/// What a run on the engine's node says with this line, if it is for another node.
pub fn relayed(line: &str) -> Option<Tell> {
    decode(line.strip_prefix(RELAY)?.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_has_a_name_and_a_host() {
        let given: Given = "server=root@n1".parse().unwrap();
        assert_eq!((given.role, given.host.name()), (Part::Server, "root@n1"));
        for (text, expected) in [
            ("n1", "write server=HOST, services=HOST or engine=HOST"),
            ("client=n1", "there is no role 'client'"),
            ("server=-oX", "'-oX' is no host"),
        ] {
            let why = text.parse::<Given>().unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }
}
