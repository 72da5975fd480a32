//! Another node that has a role in a run: where the server is, or the services.
//!
//! What is asked of it is a [`Work`], and what it answers is JSON. `station.rs` is the other end.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kumite_record::{self as record, Cores, Machine, Mark, Void, VoidCause};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::parameter::Parameters;

/// What a node with a role is asked.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Work {
    /// To get ready for its roles.
    Prepare(Wanted),
    /// To start the services. Answered by what tells a contender where they are.
    StartServices {
        parameters: Parameters,
        /// Where they are to listen.
        host: Ipv4Addr,
        /// From where contenders come.
        clients: Vec<Ipv4Addr>,
        /// What their logs are called.
        log: String,
    },
    /// To count from here on.
    BeginServices,
    /// To end them. Answered by [`ServicesEnded`].
    EndServices,
    /// To start a contender. Answered by the port that it is to listen on.
    StartServer {
        contender: String,
        host: Ipv4Addr,
        env: Vec<(String, String)>,
        cores: Vec<usize>,
        log: String,
    },
    /// How it is. Answered by [`Look`].
    Look,
    /// What its log ends with.
    LastLines,
    /// Whether it is who listens on its port. Answered by why not.
    OwnPort,
    /// Where it listens that it should not, if anywhere.
    Elsewhere,
    /// Where it listens.
    Listening,
    /// To stop all its processes. Answered by whether that succeeded.
    Pause,
    /// To let them go on.
    Resume,
    /// To watch the node from here on.
    BeginWatch,
    /// Answered by [`Seen`].
    EndWatch,
    /// To end it. Answered by [`ServerEnded`].
    StopServer,
    /// To see from here on whether the node is there.
    BeginTrial,
    /// Answered by why the trial since then counts for nothing, if that is so.
    EndTrial,
}

/// What a node is to be ready for.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    pub profile: String,
    pub server: bool,
    pub services: bool,
    pub only: Vec<String>,
    pub skip: Vec<String>,
    pub unplanned: Vec<String>,
    pub install: bool,
}

/// What a node has for its roles.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Readied {
    pub contenders: Vec<record::Contender>,
    pub services: Vec<record::Service>,
    /// Which of its CPUs a contender may have.
    pub cores: Cores,
    pub machine: Machine,
    /// Where a stub of ours answers at once, to see how long the way there and back takes.
    pub echo_port: u16,
}

/// How a server is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Look {
    /// How it ended, if it has.
    pub exited: Option<String>,
    /// What is wrong with its log.
    pub too_much: Option<String>,
    pub cpu_ns: u64,
    pub peak_rss_bytes: u64,
    /// When that was, by the clock of its node.
    pub at_ns: u64,
}

/// What came from outside.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Seen {
    pub figures: std::collections::BTreeMap<String, f64>,
    pub marks: Vec<Mark>,
}

/// What remains of a server.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ServerEnded {
    /// What was wrong with how it ended.
    pub wrong: Option<String>,
    /// The end of its log.
    pub log: String,
}

/// What remains of services.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ServicesEnded {
    pub metrics: std::collections::BTreeMap<String, f64>,
    pub seen: Seen,
}

/// How a node is talked to.
pub trait Talk: Send {
    /// Has it do something, and gives its answer: both are JSON. What went wrong on the way ends the run.
    fn does(&mut self, work: &str) -> Result<String, String>;

    /// For how long the node could not be reached, since this was asked last.
    fn cut_off(&mut self) -> Duration {
        Duration::ZERO
    }
}

/// A node that has a role. Its copies are the same node.
#[derive(Clone)]
pub struct Remote {
    name: Arc<str>,
    address: Ipv4Addr,
    talk: Arc<Mutex<dyn Talk>>,
}

impl Remote {
    /// The node of this name, which others reach at this address.
    pub fn new(name: &str, address: Ipv4Addr, talk: impl Talk + 'static) -> Remote {
        Remote { name: name.into(), address, talk: Arc::new(Mutex::new(talk)) }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is reached.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// Whether they are one.
    pub fn is(&self, other: &Remote) -> bool {
        Arc::ptr_eq(&self.talk, &other.talk)
    }

    pub(crate) fn ask<T: DeserializeOwned>(&self, work: &Work) -> Result<T, String> {
        let wrong = |what: String| format!("{}: {what}", self.name);
        let asked = serde_json::to_string(work).map_err(|error| wrong(error.to_string()))?;
        // A thread that panicked while it asked has left nothing half-said: an answer that is not taken ends the talk.
        let mut talk = self.talk.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let answer = talk.does(&asked).map_err(wrong)?;
        serde_json::from_str(&answer).map_err(|error| wrong(format!("answered what it should not: {error}")))
    }

    /// From here on it is seen whether the node is there.
    pub(crate) fn begin_trial(&self) -> Result<(), String> {
        self.ask::<()>(&Work::BeginTrial)?;
        // That of before is of no trial.
        self.cut_off();
        Ok(())
    }

    /// Why the trial since then counts for nothing, if the node stood still in it, or could not be reached.
    pub(crate) fn end_trial(&self) -> Result<Option<Void>, String> {
        let stood_still: Option<Void> = self.ask(&Work::EndTrial)?;
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

/// Which node has which role; this one has those that no other has. The engine is always here.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// Where this machine is reached by the others; loopback if there are none.
    pub here: Ipv4Addr,
    /// Where contenders are that are servers.
    pub server: Option<Remote>,
    /// Where services are.
    pub services: Option<Remote>,
    /// Where something answers at once on the server's node, if that is not this one.
    pub echo: Option<SocketAddrV4>,
}

impl Default for Nodes {
    fn default() -> Nodes {
        Nodes { here: Ipv4Addr::LOCALHOST, server: None, services: None, echo: None }
    }
}

impl Nodes {
    /// Where services are to listen.
    pub(crate) fn services_host(&self) -> Ipv4Addr {
        self.services.as_ref().map_or(self.here, Remote::address)
    }

    /// From where contenders come to them.
    pub(crate) fn contenders_host(&self) -> Ipv4Addr {
        self.server.as_ref().map_or(self.here, Remote::address)
    }

    /// The others, each once, with the words for its roles.
    pub fn others(&self) -> Vec<(&'static str, &Remote)> {
        match (&self.server, &self.services) {
            (Some(server), Some(services)) if server.is(services) => vec![("server and services", server)],
            (server, services) => {
                let named = [("server", server), ("services", services)];
                named.into_iter().filter_map(|(role, node)| Some((role, node.as_ref()?))).collect()
            }
        }
    }
}
