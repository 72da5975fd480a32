//! The nodes that have roles, and the way to them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use kumite_agent::{Node, Program};
use kumite_lab::{Experiment, Nodes, Remote};
use kumite_record::{Role, Roles};

use super::linked::{Linked, Relays};
use super::relayed::{Relayed, RelayedNode};
use crate::driver::Driver;
use crate::failure::Failure;
use crate::frames::RELAYED;
use crate::slurm::Allocation;

/// The nodes that have roles. If a job was submitted for them, it ends when this is dropped.
pub struct Placed {
    pub(super) nodes: BTreeMap<Role, Node>,
    pub(super) relayed: Option<Relayed>,
    pub(super) _allocation: Option<Allocation>,
}

impl Placed {
    /// The node that measures; none if it is this machine.
    pub(crate) fn engine(&self) -> Option<&Node> {
        self.nodes.get(&Role::Engine)
    }

    /// The nodes with roles other than the engine's node, each once, with its roles.
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

    /// Connects to the other nodes. If the link to a node breaks later, that is noted, and `stop` is set: what was
    /// measured is kept. An error if a node cannot be reached.
    pub fn nodes(&self, experiment: &Experiment, driver: &Driver) -> Result<Nodes, Failure> {
        if let Some(relayed) = &self.relayed {
            return Ok(relayed.nodes(driver));
        }
        let mut nodes = Nodes::default();
        for (linked, roles) in self.linked(experiment, driver)? {
            let (address, here) = linked.addresses;
            nodes.here = here;
            let remote = Remote::new(&linked.name.clone(), address, linked);
            nodes.elsewhere.extend(roles.into_iter().map(|role| (role, remote.clone())));
        }
        Ok(nodes)
    }

    /// Connects to the other nodes for a run on the engine's node, to which this machine is known as `here`. Returns
    /// the links, and the flag that names these nodes to the run.
    pub(crate) fn relays(
        &self,
        here: Ipv4Addr,
        experiment: &Experiment,
        driver: &Driver,
    ) -> Result<(Relays, String), Failure> {
        let (mut links, mut elsewhere) = (Vec::new(), BTreeMap::new());
        for (linked, roles) in self.linked(experiment, driver)? {
            let node = RelayedNode { name: linked.name.clone(), address: linked.addresses.0 };
            elsewhere.extend(roles.into_iter().map(|role| (role, node.clone())));
            links.push(linked);
        }
        let relayed = serde_json::to_string(&Relayed { here, elsewhere })
            .expect("names and addresses are plain values");
        Ok((Relays(links), format!("{RELAYED}{relayed}")))
    }

    fn linked(&self, experiment: &Experiment, driver: &Driver) -> Result<Vec<(Linked, Roles)>, Failure> {
        let others = self.others();
        if others.is_empty() {
            return Ok(Vec::new());
        }
        let program = Program::own()?;
        let link = |(node, roles)| Ok((Linked::to(node, &program, experiment, driver)?, roles));
        others.into_iter().map(link).collect()
    }
}
