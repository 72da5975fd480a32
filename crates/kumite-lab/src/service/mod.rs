//! What an experiment needs beside its contenders: started before each trial's contender, on loopback and a port of its
//! own, and ended after it.

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

use kumite_record::{self as record, Metric};

use crate::contender::{Install, Need, Obtaining, Tools, Versions, remedy};
use crate::halt::Halt;
use crate::parameter::Parameters;
use folder::Folder;
use process::Process;
use registration::Registration;

pub(crate) use spec::{ServiceFile, ServiceSpec};

/// The kinds there are: each is a file, and a line here.
static KINDS: [&Registration; 5] =
    [&postgresql::KIND, &stub::KIND, &files::KIND, &dynamodb::KIND, &command::KIND];

/// Names and values.
type Variables = Vec<(String, String)>;

/// What a service counted in a trial, by metric.
type Counts = BTreeMap<&'static str, f64>;

/// A service of an experiment: what its keys say.
trait Service: Debug + Send + Sync {
    /// The tools without which there is none.
    fn needs(&self) -> Vec<String> {
        Vec::new()
    }

    /// Where they come from.
    fn install(&self) -> Install {
        Install::default()
    }

    /// Gets what is no tool, and says what leads to it. `env` leads to the tools.
    fn fetch(&self, _env: &Variables, _fetching: &mut Fetching) -> Result<Variables, String> {
        Ok(Variables::new())
    }

    /// Its version; kumite's own, unless a tool was asked for one.
    fn version(&self, tools: &Tools) -> String {
        tools.version().unwrap_or_else(|| format!("kumite {}", env!("CARGO_PKG_VERSION")))
    }

    /// What it counts in a trial, beside its CPU time.
    fn metrics(&self) -> Vec<Metric> {
        Vec::new()
    }

    /// Why this machine cannot have it with these parameters, if it cannot.
    fn unavailable(&self, _parameters: &Parameters) -> Option<String> {
        None
    }

    /// Starts it and waits until it is ready.
    fn start(&self, parameters: &Parameters, order: &StartOrder) -> Result<Box<dyn Serving>, Halt>;
}

/// A service that runs. What is dropped is ended.
trait Serving {
    /// What tells contenders where it is; its name comes before each.
    fn variables(&self) -> Variables;

    /// Whose CPU time is its.
    fn process(&mut self) -> Option<&mut Process>;

    /// Counts from here on.
    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Ends it, and says what it counted since then.
    fn end(self: Box<Self>) -> Result<Counts, String>;
}

/// What fetching takes.
struct Fetching<'a> {
    log: &'a Path,
    stop: &'a AtomicBool,
    /// Is told of what takes long.
    note: &'a mut dyn FnMut(&str),
}

/// The services of an experiment, with what starts them.
pub(crate) struct Services<'a> {
    specs: &'a BTreeMap<String, ServiceSpec>,
    /// What leads to the tools of each, and to what is fetched for it.
    env: BTreeMap<&'a str, Variables>,
    cores: Vec<usize>,
}

/// What one is started with.
struct StartOrder<'a> {
    /// Where it is to listen, and nowhere else.
    host: Ipv4Addr,
    /// From where contenders come.
    clients: &'a [Ipv4Addr],
    env: &'a [(String, String)],
    /// Is empty, and its own.
    folder: PathBuf,
    cores: &'a [usize],
    log: PathBuf,
    stop: &'a AtomicBool,
}

/// Those of one trial, while they run. What is dropped is ended.
#[derive(Default)]
pub(crate) struct Running {
    services: Vec<(String, Box<dyn Serving>)>,
    /// Goes after them.
    _folder: Option<Folder>,
}

impl<'a> Services<'a> {
    /// Looks for their tools, or says in words what is missing.
    pub fn find(
        specs: &'a BTreeMap<String, ServiceSpec>,
        cores: &[usize],
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Services<'a>, Halt> {
        let mut env = BTreeMap::new();
        for (name, spec) in specs {
            let tools = look(spec, log).map_err(|what| missing(name, spec, &what))?;
            let env_of_one = fetched(name, spec, &tools, log, stop, &mut |_| ());
            env.insert(name.as_str(), env_of_one.map_err(|why| Halt::of(why, stop))?);
        }
        Ok(Services { specs, env, cores: cores.to_vec() })
    }

    /// Starts them and waits until they are ready. Their logs are `log` with their names at its end.
    pub fn start(&self, parameters: &Parameters, log: &Path, stop: &AtomicBool) -> Result<Running, Halt> {
        let folder = if self.specs.is_empty() { None } else { Some(Folder::new()?) };
        let mut running = Running { services: Vec::new(), _folder: folder };
        for (name, spec) in self.specs {
            let failed = |why| format!("the service '{name}' ({}) {why}", spec.kind);
            let own = running._folder.as_ref().map_or(Ok(PathBuf::new()), |folder| folder.for_service(name));
            let order = StartOrder {
                host: Ipv4Addr::LOCALHOST,
                clients: &[Ipv4Addr::LOCALHOST],
                env: &self.env[name.as_str()],
                folder: own.map_err(failed)?,
                cores: &self.cores,
                log: log.with_file_name(format!("{}-{name}.log", file_name(log))),
                stop,
            };
            let started = spec.service.start(parameters, &order);
            let started = started.map_err(|halt| Halt::of(halt.reworded(failed), stop))?;
            running.services.push((name.clone(), started));
        }
        Ok(running)
    }
}

impl Running {
    /// What tells contenders where they are.
    pub fn env(&self) -> Variables {
        let mut env = Variables::new();
        for (name, service) in &self.services {
            env.extend(service.variables().into_iter().map(|(end, value)| (variable(name, &end), value)));
        }
        env
    }

    /// What they count, they count from here on.
    pub fn begin(&mut self) -> Result<(), String> {
        for (_, service) in &mut self.services {
            service.begin()?;
            service.process().into_iter().for_each(Process::begin);
        }
        Ok(())
    }

    /// CPU time of all of them since then.
    pub fn cpu(&mut self) -> Duration {
        self.services.iter_mut().filter_map(|(_, service)| service.process()).map(Process::cpu).sum()
    }

    /// Ends them, and says what they counted, by metric.
    pub fn end(self) -> Result<BTreeMap<String, f64>, String> {
        let mut metrics = BTreeMap::new();
        for (name, mut service) in self.services {
            let cpu = service.process().map_or(Duration::ZERO, Process::cpu);
            metrics.insert(format!("{name}_cpu_s"), cpu.as_secs_f64());
            let counted = service.end().map_err(|why| format!("the service '{name}' {why}"))?;
            metrics.extend(counted.into_iter().map(|(metric, value)| (format!("{name}_{metric}"), value)));
        }
        Ok(metrics)
    }
}

/// Looks for what the services need, installs what may be installed, fetches, and says which version of each there is.
pub(crate) fn prepare(
    specs: &BTreeMap<String, ServiceSpec>,
    may_install: bool,
    log: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<record::Service>, String> {
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

fn look(spec: &ServiceSpec, log: &Path) -> Result<Tools, String> {
    let mut tools = Tools::new(&Versions::default());
    for need in spec.service.needs() {
        let need: Need = need.parse()?;
        tools.find(&need, log, &AtomicBool::new(false))?;
    }
    Ok(tools)
}

/// What leads to the tools, and to what they fetch, of which `note` is told.
fn fetched(
    name: &str,
    spec: &ServiceSpec,
    tools: &Tools,
    log: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Variables, String> {
    let mut env = tools.env()?;
    let mut note_for_it = |what: &str| note(&format!("{what} (for the service '{name}')"));
    let mut fetching = Fetching { log, stop, note: &mut note_for_it };
    let fetched = spec.service.fetch(&env, &mut fetching);
    env.extend(fetched.map_err(|why| format!("the service '{name}' ({}) {why}", spec.kind))?);
    Ok(env)
}

fn missing(name: &str, spec: &ServiceSpec, what: &str) -> String {
    format!("the service '{name}' needs {what}; {}", remedy(&spec.service.install()))
}

fn file_name(log: &Path) -> String {
    log.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The environment variable of a service that ends like this: `DB_PORT`.
fn variable(name: &str, end: &str) -> String {
    format!("{}_{end}", name.to_uppercase())
}
