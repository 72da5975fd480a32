//! The services of an experiment: programs beside its contenders. They are started before each trial's contender,
//! each on a port of its own, and ended after it.
//!
//! A service is fresh in every trial, so that no contender finds what another has left. It runs on the engine's CPUs,
//! and its CPU time is known, so that no contender is charged for it. A kind of service is a file and a line in
//! `KINDS`.

mod command;
mod dynamodb;
mod figure;
mod files;
mod folder;
mod postgresql;
mod process;
mod ready;
mod registration;
mod spec;
mod stub;
mod user;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::total;
use kumite_record::{self as record, Metric, Role};

use crate::contender::{Install, Need, Obtaining, Tools, Versions, remedy};
use crate::error::Error;
use crate::halt::Halt;
use crate::node::{Nodes, Remote};
use crate::parameter::Parameters;
use crate::work::{BeginServices, EndServices, NodeNoise, ServicesEnded, StartServices};
use folder::Folder;
use process::Process;
use registration::Registration;

pub(crate) use spec::{ServiceFile, ServiceSpec};

/// All kinds of services: each is a file, and a line here.
static KINDS: [&Registration; 5] =
    [&postgresql::KIND, &stub::KIND, &files::KIND, &dynamodb::KIND, &command::KIND];

/// Environment variables: names and values.
type Variables = Vec<(String, String)>;

/// Removes the folders with files that the services of killed kumites have left. Returns the folders' paths, also of
/// one that could not be removed.
pub fn remove_left_files() -> Vec<PathBuf> {
    Folder::remove_left()
}

/// The figures that a service counted in a trial, by the name of the metric without the service's name.
type Counts = BTreeMap<&'static str, f64>;

/// A service of an experiment, as its keys say.
trait Service: Debug + Send + Sync {
    /// The tools that the service needs, such as `java >= 17`.
    fn needs(&self) -> Vec<String> {
        Vec::new()
    }

    /// The packages that bring the service's tools, or the page that tells of them.
    fn install(&self) -> Install {
        Install::default()
    }

    /// Fetches files that are no tools, and returns the variables that lead to them. `env` leads to the tools.
    fn fetch(&self, _env: &Variables, _fetching: &mut Fetching) -> Result<Variables, Error> {
        Ok(Variables::new())
    }

    /// The version of the service: that of its first tool that was asked for one, else kumite's.
    fn version(&self, tools: &Tools) -> String {
        tools.version().unwrap_or_else(|| format!("kumite {}", env!("CARGO_PKG_VERSION")))
    }

    /// The metrics that the service counts in a trial, beside its CPU time.
    fn metrics(&self) -> Vec<Metric> {
        Vec::new()
    }

    /// The reason why this machine cannot have the service with these parameters. None if it can.
    fn unavailable(&self, _parameters: &Parameters) -> Option<String> {
        None
    }

    /// Starts the service and waits until it is ready, for no longer than its limit; an error after that.
    fn start(&self, parameters: &Parameters, order: &StartOrder) -> Result<Box<dyn Serving>, Halt>;
}

/// A running service. Dropping it ends it.
trait Serving {
    /// The variables that lead contenders to the service. The service's name is put before each.
    fn variables(&self) -> Variables;

    /// The process whose CPU time is the service's. None if it has no process.
    fn process(&mut self) -> Option<&mut Process>;

    /// Starts the service's counts from zero.
    fn begin(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Ends the service, and returns its counts since `begin`. An error if it had ended before, or does not end or
    /// count.
    fn end(self: Box<Self>) -> Result<Counts, Error>;
}

/// The means for fetching a service's files.
struct Fetching<'a> {
    log: &'a Path,
    stop: &'a AtomicBool,
    /// Called with a sentence about each step that takes long.
    note: &'a mut dyn FnMut(&str),
}

/// The services of an experiment, with everything that starting them takes.
pub(crate) struct Services<'a> {
    /// The node that the services are on. None if they are on this machine, or there are none.
    there: Option<Remote>,
    /// The address on which the services listen.
    host: Ipv4Addr,
    /// The addresses from which contenders come.
    clients: Vec<Ipv4Addr>,
    specs: &'a BTreeMap<String, ServiceSpec>,
    /// The variables that lead each service to its tools and to the files that were fetched for it, by the service's
    /// name.
    env: BTreeMap<&'a str, Variables>,
    cores: Vec<usize>,
}

/// The inputs for starting a service.
struct StartOrder<'a> {
    /// The address on which the service has to listen, and on no other.
    host: Ipv4Addr,
    /// The addresses from which contenders come.
    clients: &'a [Ipv4Addr],
    env: &'a [(String, String)],
    /// The service's own folder, which is empty.
    folder: PathBuf,
    cores: &'a [usize],
    log: PathBuf,
    stop: &'a AtomicBool,
}

/// The running services of one trial. Dropping them ends them.
#[derive(Default)]
pub(crate) struct Running {
    /// The services on another node. None if they are on this machine, or there are none.
    there: Option<There>,
    services: Vec<(String, Box<dyn Serving>)>,
    /// The folder of the services' files, which is dropped after the services.
    _folder: Option<Folder>,
}

/// The services of a trial that run on another node.
struct There {
    node: Remote,
    env: Variables,
    is_ended: bool,
}

impl There {
    fn ended(&mut self) -> Result<ServicesEnded, Error> {
        self.is_ended = true;
        self.node.ask(EndServices {})
    }
}

impl Drop for There {
    fn drop(&mut self) {
        if !self.is_ended {
            // Should the node not answer: it ends what it runs when the way to it ends.
            let _ = self.ended();
        }
    }
}

/// The services' counts in a trial, and the noise of their node if they have one of their own.
#[derive(Default)]
pub(crate) struct Counted {
    pub metrics: BTreeMap<String, f64>,
    /// The noise of the services' node. None if they are on this machine, or there are none.
    pub seen: Option<NodeNoise>,
}

impl<'a> Services<'a> {
    /// Finds the tools of the services that run on this machine, and fetches these services' files. An error if a tool
    /// is missing, a file cannot be fetched, or `stop` is set meanwhile. Nothing is looked for if the services run on
    /// another node.
    pub fn find(
        specs: &'a BTreeMap<String, ServiceSpec>,
        nodes: &Nodes,
        cores: &[usize],
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Services<'a>, Halt> {
        let mut env = BTreeMap::new();
        let here = nodes.with_role(Role::Services).is_none().then_some(specs).into_iter().flatten();
        for (name, spec) in here {
            let tools = look(spec, log).map_err(|what| missing(name, spec, what))?;
            let env_of_one = fetched(name, spec, &tools, log, stop, &mut |_| ());
            env.insert(name.as_str(), env_of_one.map_err(|why| Halt::unless_stopped(why, stop))?);
        }
        Ok(Services {
            there: nodes.with_role(Role::Services).filter(|_| !specs.is_empty()).cloned(),
            host: nodes.host_of(Role::Services),
            clients: vec![nodes.host_of(Role::Server)],
            specs,
            env,
            cores: cores.to_vec(),
        })
    }

    /// Sets the address on which the services listen from now on, and the addresses that contenders come from.
    pub fn listen_at(&mut self, host: Ipv4Addr, clients: Vec<Ipv4Addr>) {
        (self.host, self.clients) = (host, clients);
    }

    /// Starts the services and waits until they are ready. An error if one cannot be started, or is not ready within
    /// its limit; the others are ended then. The path of each log is `log` with the service's name at its end.
    pub fn start(&self, parameters: &Parameters, log: &Path, stop: &AtomicBool) -> Result<Running, Halt> {
        if let Some(node) = &self.there {
            let (host, clients) = (self.host, self.clients.clone());
            let services =
                StartServices { parameters: parameters.clone(), host, clients, log: file_name(log) };
            let env = node.ask(services).map_err(|why| Halt::unless_stopped(why, stop))?;
            let there = There { node: node.clone(), env, is_ended: false };
            return Ok(Running { there: Some(there), ..Running::default() });
        }
        let folder = if self.specs.is_empty() { None } else { Some(Folder::new()?) };
        let mut running = Running { there: None, services: Vec::new(), _folder: folder };
        for (name, spec) in self.specs {
            let failed = |why: Error| why.of_service(name, Some(spec.kind));
            let own = running._folder.as_ref().map_or(Ok(PathBuf::new()), |folder| folder.for_service(name));
            let order = StartOrder {
                host: self.host,
                clients: &self.clients,
                env: &self.env[name.as_str()],
                folder: own.map_err(failed)?,
                cores: &self.cores,
                log: log.with_file_name(format!("{}-{name}.log", file_name(log))),
                stop,
            };
            let started = spec.service.start(parameters, &order);
            let started = started.map_err(|halt| Halt::unless_stopped(halt.map(failed), stop))?;
            running.services.push((name.clone(), started));
        }
        Ok(running)
    }
}

impl Running {
    /// The variables that lead contenders to the services.
    pub fn env(&self) -> Variables {
        let mut env = self.there.as_ref().map_or_else(Variables::new, |there| there.env.clone());
        for (name, service) in &self.services {
            env.extend(service.variables().into_iter().map(|(end, value)| (variable(name, &end), value)));
        }
        env
    }

    /// Starts all counts of the services from zero. It is called when the contender is ready and its load begins. An
    /// error if a service, or the node that runs the services, does not answer.
    pub fn begin(&mut self) -> Result<(), Error> {
        if let Some(there) = &self.there {
            there.node.ask(BeginServices {})?;
        }
        for (_, service) in &mut self.services {
            service.begin()?;
            service.process().into_iter().for_each(Process::begin);
        }
        Ok(())
    }

    /// The CPU time of all services on this machine since `begin`.
    pub fn cpu(&mut self) -> Duration {
        total(self.services.iter_mut().filter_map(|(_, service)| service.process()).map(Process::cpu))
    }

    /// Ends the services, and returns their counts by metric. An error if a service had ended before, cannot be ended,
    /// or gives no counts; the others are ended then, too.
    pub fn end(self) -> Result<Counted, Error> {
        let mut counted = Counted::default();
        if let Some(mut there) = self.there {
            let ended = there.ended()?;
            counted = Counted { metrics: ended.metrics, seen: Some(ended.seen) };
        }
        let metrics = &mut counted.metrics;
        for (name, mut service) in self.services {
            let cpu = service.process().map_or(Duration::ZERO, Process::cpu);
            metrics.insert(format!("{name}_cpu_s"), cpu.as_secs_f64());
            let counted = service.end().map_err(|why| why.of_service(&name, None))?;
            metrics.extend(counted.into_iter().map(|(metric, value)| (format!("{name}_{metric}"), value)));
        }
        Ok(counted)
    }
}

/// Gets the services ready: looks for their tools, installs tools if `may_install` is set, and fetches files. Returns
/// the version of each. An error if a tool or a file of a service is not available.
pub(crate) fn prepare(
    specs: &BTreeMap<String, ServiceSpec>,
    may_install: bool,
    log: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<record::Service>, Error> {
    let mut services = Vec::new();
    for (name, spec) in specs {
        let packages = spec.service.install();
        let who_needs = format!("the service '{name}' needs");
        let obtaining = Obtaining { who_needs: &who_needs, packages: &packages, may_install, log };
        let tools = obtaining.obtain(note, |_| look(spec, log))?;
        fetched(name, spec, &tools, log, stop, note)?;
        let version = spec.service.version(&tools);
        services.push(record::Service { name: name.clone(), kind: spec.kind.to_owned(), version });
    }
    Ok(services)
}

fn look(spec: &ServiceSpec, log: &Path) -> Result<Tools, Error> {
    let mut tools = Tools::new(&Versions::default());
    for need in spec.service.needs() {
        let need: Need = need.parse()?;
        tools.find(&need, log, &AtomicBool::new(false))?;
    }
    Ok(tools)
}

/// The variables that lead a service to its tools and to the files that it fetches. `note` hears of each download.
fn fetched(
    name: &str,
    spec: &ServiceSpec,
    tools: &Tools,
    log: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Variables, Error> {
    let mut env = tools.env()?;
    let mut note_for_it = |what: &str| note(&format!("{what} (for the service '{name}')"));
    let mut fetching = Fetching { log, stop, note: &mut note_for_it };
    let fetched = spec.service.fetch(&env, &mut fetching);
    env.extend(fetched.map_err(|why| why.of_service(name, Some(spec.kind)))?);
    Ok(env)
}

fn missing(name: &str, spec: &ServiceSpec, what: Error) -> Error {
    let who_needs = format!("the service '{name}' needs");
    let missing = Error::Missing { who_needs, installed: Vec::new(), error: Box::new(what) };
    missing.remedied(remedy(&spec.service.install()))
}

fn file_name(log: &Path) -> String {
    log.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The environment variable of a service with this end: `DB_PORT`.
fn variable(name: &str, end: &str) -> String {
    format!("{}_{end}", name.to_uppercase())
}
