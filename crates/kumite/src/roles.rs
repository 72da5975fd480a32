//! `--role`: parts of a run that other nodes have.

use std::net::Ipv4Addr;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_agent::{Host, Link, Program, Way};
use kumite_lab::{Experiment, Nodes, Remote, Talk, check_roles};

use crate::exit::Failure;
use crate::on::sent_folders;
use crate::output;

/// To get ready: a build may take so long, and says nothing meanwhile.
const READYING: Duration = Duration::from_secs(30 * 60);
/// For all else. To start a service takes longest.
const WORKING: Duration = Duration::from_secs(3 * 60);

#[derive(clap::Args)]
pub struct Roles {
    /// Another node for a part of the run, reached by ssh: server=HOST (kind http), services=HOST; the engine is here
    #[arg(long = "role", value_name = "ROLE=HOST")]
    given: Vec<Given>,
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
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Given, String> {
        let (role, host) = text.split_once('=').ok_or("write server=HOST or services=HOST")?;
        let role = match role {
            "server" => Part::Server,
            "services" => Part::Services,
            _ => return Err(format!("there is no role '{role}': write server=HOST or services=HOST")),
        };
        Ok(Given { role, host: host.parse()? })
    }
}

impl Roles {
    /// Whether other nodes have any.
    pub fn are_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// Whether they can be had.
    pub fn check(&self, experiment: &Experiment) -> Result<(), Failure> {
        for role in [Part::Server, Part::Services] {
            if self.given.iter().filter(|given| given.role == role).count() > 1 {
                return Err(Failure::Usage("--role: each role is one node's".to_owned()));
            }
        }
        Ok(check_roles(experiment, self.of(Part::Server).is_some(), self.of(Part::Services).is_some())?)
    }

    fn of(&self, role: Part) -> Option<&Host> {
        self.given.iter().find(|given| given.role == role).map(|given| &given.host)
    }

    /// Goes to the nodes. If the way to one of them fails later, that is said, and `stop` is set: what was measured is kept.
    pub fn nodes(&self, experiment: &Experiment, stop: &Arc<AtomicBool>) -> Result<Nodes, Failure> {
        let mut nodes = Nodes::default();
        let (server, services) = (self.of(Part::Server), self.of(Part::Services));
        let kumite = std::env::current_exe().map_err(|error| error.to_string());
        let kumite = kumite.and_then(|file| Program::read(&file)).map_err(Failure::Incomplete)?;
        let to = |host: &Host| node(host, &kumite, experiment, stop).map_err(Failure::Incomplete);
        if let Some(host) = server {
            let (node, here) = to(host)?;
            (nodes.server, nodes.here) = (Some(node), here);
        }
        nodes.services = match services {
            Some(host) if Some(host) == server => nodes.server.clone(),
            Some(host) => {
                let (node, here) = to(host)?;
                nodes.here = here;
                Some(node)
            }
            None => None,
        };
        Ok(nodes)
    }
}

/// An agent that waits for its role, and this machine's address as it sees it.
fn node(
    host: &Host,
    kumite: &Program,
    experiment: &Experiment,
    stop: &Arc<AtomicBool>,
) -> Result<(Remote, Ipv4Addr), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let log = folder.path().join("way.log");
    let mut link = Link::open(host.name(), &Way::Ssh(host, kumite), crate::VERSION, &log, stop)?;
    output::note(&format!("{}: connected in {:.1} s", host.name(), link.connected_in.as_secs_f64()));
    let (named, folders) = sent_folders(experiment)?;
    let key = format!("{:016x}", kumite_lab::seed_of(experiment));
    link.prepare(&key, &folders, stop)?;
    let (address, here) = link.role(&named, stop)?;
    let talk =
        Talking { name: host.name().to_owned(), link, stop: Arc::clone(stop), is_ready: false, _log: folder };
    Ok((Remote::new(host.name(), address, talk), here))
}

struct Talking {
    name: String,
    link: Link,
    stop: Arc<AtomicBool>,
    is_ready: bool,
    /// Where what ssh says is kept, as long as it may say something.
    _log: tempfile::TempDir,
}

impl Talk for Talking {
    fn does(&mut self, work: &str) -> Result<String, String> {
        let limit = if self.is_ready { WORKING } else { READYING };
        let name = self.name.clone();
        let mut note = |text: &str| output::note(&format!("{name}: {text}"));
        let done = self.link.work(work, limit, &mut note, &self.stop);
        self.is_ready = true;
        done.unwrap_or_else(|why| {
            if !self.stop.swap(true, Ordering::Relaxed) {
                output::note(&format!("{why}; nothing is measured any more"));
            }
            Err(why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_has_a_name_and_a_host() {
        let given: Given = "server=root@n1".parse().unwrap();
        assert_eq!((given.role, given.host.name()), (Part::Server, "root@n1"));
        for (text, expected) in [
            ("n1", "write server=HOST or services=HOST"),
            ("client=n1", "there is no role 'client'"),
            ("server=-oX", "'-oX' is no host"),
        ] {
            let why = text.parse::<Given>().unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }
}
