//! `--role`: roles, and the nodes that are to have them.

use std::str::FromStr;

use kumite_agent::{Host, Node, NotAHost};
use kumite_lab::{Experiment, check_roles};
use kumite_record::{NotARole, Role, Roles};

use super::placed::Placed;
use super::relayed::Relayed;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::misuse::{Misuse, role_forms};
use crate::on::On;
use crate::slurm::{NodesWanted, SlurmOptions, own_job, own_node};

/// A role, and the node that is to have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    role: Role,
    /// The host that is to have the role; none for any node of a job.
    host: Option<Host>,
}

/// The reason why a text is not a role for a node.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotAGiven {
    /// There is no role of that name.
    #[error("{source}: write {}", role_forms())]
    Role {
        /// The error, which has the name.
        #[from]
        source: NotARole,
    },
    /// The text after `=` cannot be a host.
    #[error(transparent)]
    Host(#[from] NotAHost),
}

impl FromStr for Given {
    type Err = NotAGiven;

    fn from_str(text: &str) -> Result<Given, NotAGiven> {
        let (role, host) = match text.split_once('=') {
            Some((role, host)) => (role, Some(host.parse()?)),
            None => (text, None),
        };
        Ok(Given { role: role.parse()?, host })
    }
}

/// All roles that are given to other nodes.
#[derive(Clone, Debug, Default)]
pub struct GivenRoles {
    /// The roles given on the command line.
    pub given: Vec<Given>,
    /// The roles of the nodes that only the driver reaches; none except on the engine's node.
    pub relayed: Option<Relayed>,
}

impl GivenRoles {
    /// True if any role is given to another node.
    pub fn are_given(&self) -> bool {
        !self.given.is_empty() || self.relayed.is_some()
    }

    /// Refuses roles that contradict each other, or that do not fit `on` or the experiment. Starts nothing.
    pub fn check(&self, experiment: &Experiment, on: &On) -> Result<(), Failure> {
        let of = |role| self.given.iter().filter(move |given| given.role == role);
        if Role::ALL.into_iter().any(|role| of(role).count() > 1) {
            return Err(Misuse::RoleTwice.into());
        }
        if *on != On::Slurm && self.given.iter().any(|given| given.host.is_none()) {
            return Err(Misuse::RoleWithoutHost.into());
        }
        let engine = of(Role::Engine).next();
        let is_apart = |given: &&Given| match engine {
            Some(engine) => given.role != Role::Engine && (given.host.is_none() || given.host != engine.host),
            None => true,
        };
        let elsewhere: Roles = self.given.iter().filter(is_apart).map(|given| given.role).collect();
        if engine.is_some() && elsewhere.is_empty() {
            return Err(Misuse::OnlyEngine.into());
        }
        if *on == On::Slurm && engine.is_none() && !self.given.is_empty() && own_job().is_none() {
            return Err(Misuse::EngineOutside.into());
        }
        Ok(check_roles(experiment, &elsewhere)?)
    }

    /// True if another node is to have the engine.
    pub fn have_engine(&self) -> bool {
        self.given.iter().any(|given| given.role == Role::Engine)
    }

    /// The nodes that a job for these roles must have.
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

    /// Gives each role its node. With `--on slurm` the nodes are those of a job, which is submitted if this process is
    /// in none. An error if the job cannot be had, or has too few nodes.
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

    /// A node of the job for each role, in the order of the roles.
    fn nodes_of(&self, job: &[Node]) -> Result<Vec<Node>, Misuse> {
        // Where nobody else has the engine, this node has it, and no other role.
        let here = own_node().filter(|_| !self.have_engine());
        let mut named = self.given.iter().filter_map(|given| given.host.as_ref()).map(Host::name);
        let is_free = |node: &&Node| {
            Some(node.name()) != here.as_deref() && named.clone().all(|name| name != node.name())
        };
        let mut free: Vec<&Node> = job.iter().filter(is_free).rev().collect();
        let all = || job.iter().map(|node| node.name().to_owned()).collect();
        if let Some(name) = named.find(|name| job.iter().all(|node| node.name() != *name)) {
            return Err(Misuse::NotInJob { nodes: all(), name: name.to_owned() });
        }
        let node_for = |given: &Given| match &given.host {
            Some(host) => job.iter().find(|node| node.name() == host.name()),
            None => free.pop(),
        };
        let nodes: Option<Vec<&Node>> = self.given.iter().map(node_for).collect();
        match nodes {
            Some(nodes) => Ok(nodes.into_iter().cloned().collect()),
            None => Err(Misuse::TooFewNodes { nodes: all() }),
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
            let why = text.parse::<Given>().unwrap_err().to_string();
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
        for (given, expected) in [
            (&["server", "engine"][..], "n1 n2"),
            (&["server", "engine=n1", "services"], "n2 n1 n3"),
            (&["server=n2", "services=n2", "engine"], "n2 n2 n1"),
        ] {
            let nodes = roles(given).nodes_of(&of_job).unwrap();
            assert_eq!(nodes.iter().map(Node::name).collect::<Vec<_>>().join(" "), expected);
        }
        let refused = |given: &[&str], job| roles(given).nodes_of(job).unwrap_err().to_string();
        assert_eq!(refused(&["server=n9"], &of_job), "--role: the job has n1, n2, n3, and not n9");
        assert_eq!(
            refused(&["server", "engine"], &of_job[..1]),
            "--role: the job has n1: too few for a node each"
        );
        let given = roles(&["server=n2", "services=n2", "engine"]);
        let NodesWanted::Roles(wanted) = given.wanted() else { panic!("no roles") };
        assert_eq!(wanted, [Some("n2"), None]);
    }
}
