//! Another node that has a role in a run.
//!
//! Questions are of type [`Work`] and travel as JSON, as does each question's answer. `station.rs` is the other end.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kumite_record::{Role, Roles, Void, VoidCause};

use crate::error::{Error, Fault};
use crate::work::{Ask, BeginTrial, EndTrial, Work};

/// The way to talk to another node.
pub trait Talk: Send {
    /// Sends the node a question and returns its answer, both as JSON. An error if the node could not do what it was
    /// asked, or is lost; an implementation that loses a node also ends the run.
    fn answer(&mut self, work: &str) -> Result<String, Fault>;

    /// The time for which the node could not be reached since the last call of this method. Zero for a way that does
    /// not notice it.
    fn cut_off(&mut self) -> Duration {
        Duration::ZERO
    }
}

/// Another node that has a role. A clone stands for the same node.
#[derive(Clone)]
pub struct Remote {
    name: Arc<str>,
    address: Ipv4Addr,
    talk: Arc<Mutex<dyn Talk>>,
}

impl Remote {
    /// A node with this name, which other nodes reach at this address.
    pub fn new(name: &str, address: Ipv4Addr, talk: impl Talk + 'static) -> Remote {
        Remote { name: name.into(), address, talk: Arc::new(Mutex::new(talk)) }
    }

    /// The name of the node's host, as it was typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address at which the node is reached.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// True if both are the same node.
    fn is_same(&self, other: &Remote) -> bool {
        Arc::ptr_eq(&self.talk, &other.talk)
    }

    /// Asks the node. An error if it could not do what it was asked, is lost, or gives an answer that cannot be read.
    pub(crate) fn ask<Q: Ask>(&self, question: Q) -> Result<Q::Answer, Error> {
        let work: Work = question.into();
        let asked = serde_json::to_string(&work).map_err(Error::step(self.name.to_string()))?;
        // A thread that panicked while it asked has left nothing half-said: an answer that is not taken ends the talk.
        let mut talk = self.talk.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let answer = talk.answer(&asked).map_err(Error::step(self.name.to_string()))?;
        serde_json::from_str(&answer)
            .map_err(Error::step(format!("{}: sent a reply that kumite cannot read", self.name)))
    }

    /// Starts to observe whether the node stands still or cannot be reached. An error if it is lost.
    pub(crate) fn begin_trial(&self) -> Result<(), Error> {
        self.ask(BeginTrial {})?;
        // A question that is still open belongs to no trial.
        self.cut_off();
        Ok(())
    }

    /// The reason why the trial since `begin_trial` is void: the node stood still, or could not be reached. None if
    /// neither happened. An error if the node is lost.
    pub(crate) fn end_trial(&self) -> Result<Option<Void>, Error> {
        let stood_still = self.ask(EndTrial {})?;
        let cut_off = self.cut_off();
        let unreachable = || Void {
            what: VoidCause::Unreachable,
            process: None,
            node: None,
            lasted_ms: cut_off.as_secs_f64() * 1e3,
        };
        let void = stood_still.or_else(|| (!cut_off.is_zero()).then(unreachable));
        Ok(void.map(|void| Void { node: Some(self.name.to_string()), ..void }))
    }

    fn cut_off(&self) -> Duration {
        self.talk.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).cut_off()
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.address)
    }
}

/// The nodes of a run, by their roles. This machine has every role that no other node has; it always has that of the
/// engine.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// The address at which the other nodes reach this machine; loopback if there are none.
    pub here: Ipv4Addr,
    /// The nodes with a role of their own, by role; empty where all is on this machine.
    pub elsewhere: BTreeMap<Role, Remote>,
    /// The address of a stub on the server's node that answers at once. None if the server is on this machine, and
    /// before its node has got ready.
    pub echo: Option<SocketAddrV4>,
}

impl Default for Nodes {
    fn default() -> Nodes {
        Nodes { here: Ipv4Addr::LOCALHOST, elsewhere: BTreeMap::new(), echo: None }
    }
}

impl Nodes {
    /// The node that has a role. None if it is this machine.
    pub(crate) fn with_role(&self, role: Role) -> Option<&Remote> {
        self.elsewhere.get(&role)
    }

    /// The address at which the services or servers of a role listen, and from which they connect.
    pub(crate) fn host_of(&self, role: Role) -> Ipv4Addr {
        self.with_role(role).map_or(self.here, Remote::address)
    }

    /// The other nodes, each once, with its roles.
    pub(crate) fn others(&self) -> Vec<(&Remote, Roles)> {
        let mut others: Vec<(&Remote, Roles)> = Vec::new();
        for (role, node) in &self.elsewhere {
            match others.iter_mut().find(|(other, _)| other.is_same(node)) {
                Some((_, roles)) => drop(roles.insert(*role)),
                None => others.push((node, Roles::from([*role]))),
            }
        }
        others
    }
}
