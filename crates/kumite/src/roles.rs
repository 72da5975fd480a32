//! `--role`: parts of a run that other nodes have.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::net::Ipv4Addr;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_agent::{Ask, Host, Link, Node, Program, Tell, Way, Worked, decode};
use kumite_lab::{Choice, Experiment, Joined, Nodes, Remote, Talk, check_roles, join};
use kumite_record::{Cores, Role, Roles};
use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::frames::{RELAYED, tell};
use crate::fresh_key::fresh_key;
use crate::measure::before_trials;
use crate::on::{On, sent_folders};
use crate::output;
use crate::slurm::{Wanted, own_job, own_node};

/// To get ready: a build may take so long, and says nothing meanwhile.
const READYING: Duration = Duration::from_secs(30 * 60);
/// For all else. To start a service takes longest.
const WORKING: Duration = Duration::from_secs(3 * 60);

#[derive(clap::Args)]
pub struct RoleFlags {
    /// Another node for a part of the run, reached by ssh: server=HOST (kind http), services=HOST, engine=HOST (what measures,
    /// and whatever else no other node has). With --on slurm it is a node of the job, and `server` alone means any
    #[arg(long = "role", id = "role", value_name = "ROLE=HOST", conflicts_with = "relayed")]
    given: Vec<Given>,
    /// The nodes that whoever started this reaches, and relays to
    #[arg(long, hide = true, value_parser = |text: &str| serde_json::from_str::<Relayed>(text))]
    relayed: Option<Relayed>,
}

#[derive(Clone, Debug, PartialEq)]
struct Given {
    role: Role,
    /// Any node of a job if there is none.
    host: Option<Host>,
}

/// Which nodes have the roles.
pub struct Placed {
    nodes: BTreeMap<Role, Node>,
    relayed: Option<Relayed>,
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Given, String> {
        let (role, host) = match text.split_once('=') {
            Some((role, host)) => (role, Some(host.parse()?)),
            None => (text, None),
        };
        let role = role.parse().map_err(|why| format!("{why}: write {}", forms()))?;
        Ok(Given { role, host })
    }
}

/// How roles are given.
fn forms() -> String {
    let [first @ .., last] = Role::ALL.map(|role| format!("{role}=HOST"));
    format!("{} or {last}", first.join(", "))
}

/// The nodes that whoever started this run reaches.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Relayed {
    here: Ipv4Addr,
    elsewhere: BTreeMap<Role, RelayedNode>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct RelayedNode {
    name: String,
    address: Ipv4Addr,
}

impl RoleFlags {
    /// Whether other nodes have any.
    pub fn are_given(&self) -> bool {
        !self.given.is_empty() || self.relayed.is_some()
    }

    /// Whether they can be had.
    pub fn check(&self, experiment: &Experiment, on: &On) -> Result<(), Failure> {
        let wrong = |why: &str| Err(Failure::Usage(why.to_owned()));
        let of = |role| self.given.iter().filter(move |given| given.role == role);
        if Role::ALL.into_iter().any(|role| of(role).count() > 1) {
            return wrong("--role: each role is one node's");
        }
        if *on != On::Slurm && self.given.iter().any(|given| given.host.is_none()) {
            return wrong(&format!("--role: write {}; any node is for --on slurm", forms()));
        }
        let engine = of(Role::Engine).next();
        let is_apart = |given: &&Given| match engine {
            Some(engine) => given.role != Role::Engine && (given.host.is_none() || given.host != engine.host),
            None => true,
        };
        let elsewhere: Roles = self.given.iter().filter(is_apart).map(|given| given.role).collect();
        if engine.is_some() && elsewhere.is_empty() {
            return wrong(
                "--role engine: nothing would be apart from it; to run all of it there, write --on ssh:HOST",
            );
        }
        if *on == On::Slurm && engine.is_none() && !self.given.is_empty() && own_job().is_none() {
            return wrong(
                "--role: outside of a job this machine is none of the cluster's nodes: add --role engine",
            );
        }
        Ok(check_roles(experiment, &elsewhere)?)
    }

    /// What nodes a job for them is to have.
    pub fn wanted(&self) -> Wanted<'_> {
        match self.given.is_empty() {
            true => Wanted::Nodes,
            false => Wanted::Roles(self.given.iter().map(|given| given.host.as_ref().map(Host::name)).fold(
                Vec::new(),
                |mut names, name| {
                    // Two roles may have one node.
                    if name.is_none() || !names.contains(&name) {
                        names.push(name);
                    }
                    names
                },
            )),
        }
    }

    /// Which nodes have them: those of the job if there is one.
    pub fn placed(&self, of_job: Option<&[Node]>) -> Result<Placed, Failure> {
        let relayed = self.relayed.clone();
        let Some(of_job) = of_job else {
            let of = |given: &Given| Some((given.role, Node::Ssh(given.host.clone()?)));
            return Ok(Placed { nodes: self.given.iter().filter_map(of).collect(), relayed });
        };
        // Where nobody else has the engine, it is here.
        let has_engine = self.given.iter().any(|given| given.role == Role::Engine);
        let here = own_node().filter(|_| !has_engine);
        let mut named = self.given.iter().filter_map(|given| given.host.as_ref()).map(Host::name);
        let is_free = |node: &&Node| {
            Some(node.name()) != here.as_deref() && named.clone().all(|name| name != node.name())
        };
        let mut free: Vec<&Node> = of_job.iter().filter(is_free).rev().collect();
        let all = || of_job.iter().map(Node::name).collect::<Vec<_>>().join(", ");
        if let Some(name) = named.find(|name| of_job.iter().all(|node| node.name() != *name)) {
            return Err(Failure::Usage(format!("--role: the job has {}, and not {name}", all())));
        }
        let node_for = |given: &Given| match &given.host {
            Some(host) => of_job.iter().find(|node| node.name() == host.name()),
            None => free.pop(),
        };
        let nodes: Option<Vec<&Node>> = self.given.iter().map(node_for).collect();
        let nodes = nodes.ok_or_else(|| {
            Failure::Usage(format!("--role: the job has {}: too few for a node each", all()))
        })?;
        let roles = self.given.iter().map(|given| given.role);
        Ok(Placed { nodes: roles.zip(nodes.into_iter().cloned()).collect(), relayed })
    }
}

impl Placed {
    fn are_given(&self) -> bool {
        !self.nodes.is_empty() || self.relayed.is_some()
    }

    /// Who measures, if that is another node.
    pub fn engine(&self) -> Option<&Node> {
        self.nodes.get(&Role::Engine)
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

    /// The nodes that are not the engine's, each once, with their roles.
    fn others(&self) -> Vec<(&Node, Roles)> {
        let mut others: Vec<(&Node, Roles)> = Vec::new();
        for (role, node) in self.nodes.iter().filter(|(_, node)| Some(*node) != self.engine()) {
            match others.iter_mut().find(|(other, _)| *other == node) {
                Some((_, roles)) => drop(roles.insert(*role)),
                None => others.push((node, Roles::from([*role]))),
            }
        }
        others
    }

    /// Goes to the other nodes. If the way to one fails later, that is said, and `stop` is set: what was measured is kept.
    fn nodes(&self, experiment: &Experiment, stop: &Arc<AtomicBool>) -> Result<Nodes, Failure> {
        if let Some(relayed) = &self.relayed {
            return Ok(relayed.nodes(stop));
        }
        let program = Program::own().map_err(Failure::Incomplete)?;
        let mut nodes = Nodes::default();
        for (node, roles) in self.others() {
            let linked = Linked::to(node, &program, experiment, stop).map_err(Failure::Incomplete)?;
            let (address, here) = linked.addresses;
            nodes.here = here;
            let remote = Remote::new(node.name(), address, linked);
            nodes.elsewhere.extend(roles.into_iter().map(|role| (role, remote.clone())));
        }
        Ok(nodes)
    }

    /// Goes to the nodes for a run on the engine's, which is reached at `here`; what that run is told of them.
    pub fn relays(
        &self,
        here: Ipv4Addr,
        experiment: &Experiment,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Relays, String), Failure> {
        let program = Program::own().map_err(Failure::Incomplete)?;
        let (mut links, mut elsewhere) = (Vec::new(), BTreeMap::new());
        for (node, roles) in self.others() {
            let linked = Linked::to(node, &program, experiment, stop).map_err(Failure::Incomplete)?;
            let relayed = RelayedNode { name: linked.name.clone(), address: linked.addresses.0 };
            elsewhere.extend(roles.into_iter().map(|role| (role, relayed.clone())));
            links.push(linked);
        }
        let relayed = serde_json::to_string(&Relayed { here, elsewhere });
        let relayed = relayed.map_err(|error| Failure::Incomplete(error.to_string()))?;
        Ok((Relays(links), format!("{RELAYED}{relayed}")))
    }
}

impl Relayed {
    fn nodes(&self, stop: &Arc<AtomicBool>) -> Nodes {
        let mut remotes = BTreeMap::<&str, Remote>::new();
        let elsewhere = self.elsewhere.iter().map(|(role, RelayedNode { name, address })| {
            let relaying =
                || Relaying { node: name.clone(), cut_off: Duration::ZERO, stop: Arc::clone(stop) };
            let remote = remotes.entry(name).or_insert_with(|| Remote::new(name, *address, relaying()));
            (*role, remote.clone())
        });
        Nodes { here: self.here, elsewhere: elsewhere.collect(), echo: None }
    }
}

/// The links to the nodes that a run on the engine's node works with.
pub struct Relays(Vec<Linked>);

impl Relays {
    /// Has a node do what the run asks of it.
    pub fn does(&mut self, node: &str, work: &str) -> Ask {
        let Some(linked) = self.0.iter_mut().find(|linked| linked.name == node) else {
            return Ask::Relayed {
                worked: Worked::Failed(format!("there is no node {node}")),
                cut_off_ms: 0,
            };
        };
        let worked = linked.work(work);
        let cut_off_ms = u64::try_from(linked.cut_off().as_millis()).unwrap_or(u64::MAX);
        Ask::Relayed { worked, cut_off_ms }
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
        node: &Node,
        program: &Program,
        experiment: &Experiment,
        stop: &Arc<AtomicBool>,
    ) -> Result<Linked, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let log = folder.path().join("way.log");
        let name = node.name().to_owned();
        let mut link = Link::open(&name, &Way::To(node, program), crate::VERSION, &log, stop)?;
        output::note(&format!("{name}: connected in {:.1} s", link.connected_in.as_secs_f64()));
        let (named, folders) = sent_folders(experiment)?;
        let addresses = link.addresses()?;
        link.prepare(&fresh_key(), &folders, stop)?;
        link.role(&named, stop)?;
        let stop = Arc::clone(stop);
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

impl Talk for Linked {
    fn does(&mut self, work: &str) -> Result<String, String> {
        answered(self.work(work), &self.stop)
    }

    fn cut_off(&mut self) -> Duration {
        self.link.as_mut().map_or(Duration::ZERO, Link::cut_off)
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
    cut_off: Duration,
    stop: Arc<AtomicBool>,
}

impl Talk for Relaying {
    fn does(&mut self, work: &str) -> Result<String, String> {
        let asked = Tell::Relay { node: self.node.clone(), work: work.to_owned() };
        let ask = || {
            tell(&asked)?;
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line)?;
            Ok::<_, std::io::Error>(line)
        };
        let worked = match ask() {
            Ok(line) => match decode(line.trim_end().as_bytes()) {
                Ok(Ask::Relayed { worked, cut_off_ms }) => {
                    self.cut_off += Duration::from_millis(cut_off_ms);
                    worked
                }
                Ok(_) => Worked::Lost("something else was relayed than what came of its work".to_owned()),
                Err(why) => Worked::Lost(why),
            },
            Err(error) => Worked::Lost(format!("nobody relays to {}: {error}", self.node)),
        };
        answered(worked, &self.stop)
    }

    fn cut_off(&mut self) -> Duration {
        std::mem::take(&mut self.cut_off)
    }
}

#[cfg(test)]
mod tests {
    use kumite_agent::JobNode;

    use super::*;

    #[test]
    fn a_role_has_a_name_and_a_host() {
        let given: Given = "server=root@n1".parse().unwrap();
        assert_eq!((given.role, given.host.as_ref().map(Host::name)), (Role::Server, Some("root@n1")));
        assert_eq!("engine".parse(), Ok(Given { role: Role::Engine, host: None }));
        for (text, expected) in [
            ("n1", "there is no role 'n1'"),
            ("client=n1", "there is no role 'client'"),
            ("server=-oX", "'-oX' is no host"),
        ] {
            let why = text.parse::<Given>().unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    fn roles(given: &[&str]) -> RoleFlags {
        RoleFlags { given: given.iter().map(|text| text.parse().unwrap()).collect(), relayed: None }
    }

    #[test]
    fn roles_have_the_nodes_of_a_job_that_they_name_and_else_any() {
        let node = |name: &str| {
            Node::OfJob(JobNode {
                job: "7".to_owned(),
                component: None,
                name: name.to_owned(),
                addresses: None,
            })
        };
        let of_job = [node("n1"), node("n2"), node("n3")];
        let placed = |given: &[&str]| {
            let placed = roles(given).placed(Some(&of_job)).map_err(|failure| failure.to_string())?;
            Ok::<_, String>(
                placed.nodes.values().map(|node| node.name().to_owned()).collect::<Vec<_>>().join(" "),
            )
        };
        assert_eq!(placed(&["server", "engine"]), Ok("n1 n2".to_owned()));
        assert_eq!(placed(&["server", "engine=n1", "services"]), Ok("n2 n3 n1".to_owned()));
        assert_eq!(placed(&["server=n2", "services=n2", "engine"]), Ok("n2 n2 n1".to_owned()));
        assert_eq!(placed(&["server=n9"]), Err("--role: the job has n1, n2, n3, and not n9".to_owned()));
        assert!(roles(&["server", "engine"]).placed(Some(&of_job[..1])).is_err());
        let given = roles(&["server=n2", "services=n2", "engine"]);
        let Wanted::Roles(wanted) = given.wanted() else { panic!("no roles") };
        assert_eq!(wanted, [Some("n2"), None]);
    }
}
