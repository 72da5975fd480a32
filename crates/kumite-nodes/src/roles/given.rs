//! `--role`: which roles are given to which nodes.

use std::str::FromStr;

use kumite_agent::{Host, Node};
use kumite_lab::{Experiment, check_roles};
use kumite_record::{Role, Roles};

use super::placed::Placed;
use super::relayed::Relayed;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::on::On;
use crate::slurm::{NodesWanted, SlurmOptions, own_job, own_node};

/// A role, and who is to have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    role: Role,
    /// Any node of a job if there is none.
    host: Option<Host>,
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

/// All roles that are given.
#[derive(Clone, Debug, Default)]
pub struct GivenRoles {
    /// On the command line.
    pub given: Vec<Given>,
    /// By whoever started this run, and reaches their nodes.
    pub relayed: Option<Relayed>,
}

impl GivenRoles {
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

    /// Whether another node has the engine.
    pub fn have_engine(&self) -> bool {
        self.given.iter().any(|given| given.role == Role::Engine)
    }

    /// What nodes a job for them is to have.
    fn wanted(&self) -> NodesWanted<'_> {
        match self.given.is_empty() {
            true => NodesWanted::Nodes,
            false => {
                NodesWanted::Roles(self.given.iter().map(|given| given.host.as_ref().map(Host::name)).fold(
                    Vec::new(),
                    |mut names, name| {
                        // Two roles may have one node.
                        if name.is_none() || !names.contains(&name) {
                            names.push(name);
                        }
                        names
                    },
                ))
            }
        }
    }

    /// Which nodes have them: those of the job if there is one.
    pub fn placed(
        &self,
        on: &On,
        slurm: &SlurmOptions,
        what: &str,
        driver: &Driver,
    ) -> Result<Placed, Failure> {
        let allocation = match on {
            On::Slurm => Some(on.allocate(slurm, &self.wanted(), what, driver)?),
            _ => None,
        };
        let nodes = match &allocation {
            Some(allocation) => self.nodes_of(&allocation.nodes)?,
            None => self.given.iter().filter_map(|given| Some(Node::Ssh(given.host.clone()?))).collect(),
        };
        let roles = self.given.iter().map(|given| given.role);
        Ok(Placed {
            nodes: roles.zip(nodes).collect(),
            relayed: self.relayed.clone(),
            _allocation: allocation,
        })
    }

    /// The node of a job for each that is given.
    fn nodes_of(&self, job: &[Node]) -> Result<Vec<Node>, Failure> {
        // Where nobody else has the engine, it is here.
        let here = own_node().filter(|_| !self.have_engine());
        let mut named = self.given.iter().filter_map(|given| given.host.as_ref()).map(Host::name);
        let is_free = |node: &&Node| {
            Some(node.name()) != here.as_deref() && named.clone().all(|name| name != node.name())
        };
        let mut free: Vec<&Node> = job.iter().filter(is_free).rev().collect();
        let all = || job.iter().map(Node::name).collect::<Vec<_>>().join(", ");
        if let Some(name) = named.find(|name| job.iter().all(|node| node.name() != *name)) {
            return Err(Failure::Usage(format!("--role: the job has {}, and not {name}", all())));
        }
        let node_for = |given: &Given| match &given.host {
            Some(host) => job.iter().find(|node| node.name() == host.name()),
            None => free.pop(),
        };
        let nodes: Option<Vec<&Node>> = self.given.iter().map(node_for).collect();
        match nodes {
            Some(nodes) => Ok(nodes.into_iter().cloned().collect()),
            None => Err(Failure::Usage(format!("--role: the job has {}: too few for a node each", all()))),
        }
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

    fn roles(given: &[&str]) -> GivenRoles {
        GivenRoles { given: given.iter().map(|text| text.parse().unwrap()).collect(), relayed: None }
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
            let nodes = roles(given).nodes_of(&of_job).map_err(|failure| failure.to_string())?;
            Ok::<_, String>(nodes.iter().map(Node::name).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(placed(&["server", "engine"]), Ok("n1 n2".to_owned()));
        assert_eq!(placed(&["server", "engine=n1", "services"]), Ok("n2 n1 n3".to_owned()));
        assert_eq!(placed(&["server=n2", "services=n2", "engine"]), Ok("n2 n2 n1".to_owned()));
        assert_eq!(placed(&["server=n9"]), Err("--role: the job has n1, n2, n3, and not n9".to_owned()));
        assert!(roles(&["server", "engine"]).nodes_of(&of_job[..1]).is_err());
        let given = roles(&["server=n2", "services=n2", "engine"]);
        let NodesWanted::Roles(wanted) = given.wanted() else { panic!("no roles") };
        assert_eq!(wanted, [Some("n2"), None]);
    }
}
