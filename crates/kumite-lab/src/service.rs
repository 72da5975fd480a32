//! What an experiment needs beside its contenders: started before each trial's contender, on loopback and a port of its
//! own, and ended after it.

mod dynamodb;
mod files;
mod folder;
mod postgresql;
mod spec;
mod stub;
mod user;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{Spawn, Tree};
use kumite_record::{Cores, Point, Service};

use crate::contender::Install;
use crate::halt::Halt;
use crate::needs::last_lines;
use crate::needs::{self, Need, Tools, Versions, ended};
use crate::param::Parameters;
use crate::spec::Experiment;
use dynamodb::Dynamodb;
use files::Files;
use folder::Folder;
use postgresql::Postgresql;
use stub::Stub;

pub(crate) use spec::{File, Kind, ServiceSpec, parse};

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

/// The services of an experiment, with what starts them.
pub(crate) struct Services<'a> {
    specs: &'a BTreeMap<String, ServiceSpec>,
    /// What leads to the tools of each, and to what is fetched for it.
    env: BTreeMap<&'a str, Vec<(String, String)>>,
    cores: Vec<usize>,
}

/// What one is started with.
struct Order<'a> {
    name: &'a str,
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
    services: Vec<Box<dyn Serving>>,
    /// Goes after them.
    _folder: Option<Folder>,
}

/// A service that runs.
trait Serving {
    /// What the experiment calls it.
    fn name(&self) -> &str;
    /// What tells contenders where it is.
    fn env(&self) -> Vec<(String, String)>;
    /// Counts from here on.
    fn begin(&mut self) -> Result<(), String>;
    /// CPU time since then.
    fn cpu(&mut self) -> Duration;
    /// What it counted since then, by metric.
    fn end(self: Box<Self>) -> Result<BTreeMap<String, f64>, String>;
}

impl<'a> Services<'a> {
    /// Looks for their tools, or says in words what is missing.
    fn find(
        specs: &'a BTreeMap<String, ServiceSpec>,
        cores: &[usize],
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Services<'a>, Halt> {
        let mut env = BTreeMap::new();
        for (name, spec) in specs {
            let missing = |what| format!("the service '{name}' needs {what}; {}", remedy(spec.kind()));
            let tools = look(spec.kind(), log).map_err(missing)?;
            let env_of_one = fetched(name, spec.kind(), &tools, log, stop, &mut |_| ());
            env.insert(name.as_str(), env_of_one.map_err(|why| Halt::of(why, stop))?);
        }
        Ok(Services { specs, env, cores: cores.to_vec() })
    }

    /// Those of an experiment, started once and ended: what is wrong with them is then said once, and before the first
    /// trial. Their logs go to `logs`.
    pub fn rehearsed(
        experiment: &'a Experiment,
        available: &Cores,
        logs: &Path,
        stop: &AtomicBool,
    ) -> Result<Services<'a>, Halt> {
        let services =
            Services::find(&experiment.services, &available.engine, &logs.join("services.log"), stop)?;
        let unavailable = experiment.unavailable(available);
        let can_be = |point: &Point| unavailable.iter().all(|other| other.point != *point);
        if let Some(point) = experiment.points().into_iter().find(can_be) {
            let rehearsal =
                services.start(&experiment.parameters(&point), &logs.join("rehearsal.log"), stop)?;
            rehearsal.end()?;
        }
        Ok(services)
    }

    /// Starts them and waits until they are ready. Their logs are `log` with their names at its end.
    pub fn start(&self, parameters: &Parameters, log: &Path, stop: &AtomicBool) -> Result<Running, Halt> {
        let folder = if self.specs.is_empty() { None } else { Some(Folder::new()?) };
        let mut running = Running { services: Vec::new(), _folder: folder };
        for (name, spec) in self.specs {
            let failed = |why| format!("the service '{name}' ({}) {why}", spec.kind().as_str());
            let own = running._folder.as_ref().map_or(Ok(PathBuf::new()), |folder| folder.for_service(name));
            let order = Order {
                name,
                env: &self.env[name.as_str()],
                folder: own.map_err(failed)?,
                cores: &self.cores,
                log: log.with_file_name(format!("{}-{name}.log", file_name(log))),
                stop,
            };
            let started: Result<Box<dyn Serving>, Halt> = match spec {
                ServiceSpec::Postgresql(spec) => {
                    Postgresql::start(spec, &order).map(|started| Box::new(started) as _)
                }
                ServiceSpec::Stub(spec) => {
                    Stub::start(spec, parameters, &order).map(|started| Box::new(started) as _)
                }
                ServiceSpec::Files(spec) => {
                    Files::start(spec, parameters, &order).map(|started| Box::new(started) as _)
                }
                ServiceSpec::Dynamodb(spec) => {
                    Dynamodb::start(spec, &order).map(|started| Box::new(started) as _)
                }
            };
            running.services.push(started.map_err(|halt| Halt::of(halt.reworded(failed), stop))?);
        }
        Ok(running)
    }
}

impl Running {
    /// What tells contenders where they are.
    pub fn env(&self) -> Vec<(String, String)> {
        self.services.iter().flat_map(|service| service.env()).collect()
    }

    /// What they count, they count from here on.
    pub fn begin(&mut self) -> Result<(), String> {
        self.services.iter_mut().try_for_each(|service| service.begin())
    }

    /// CPU time of all of them since then.
    pub fn cpu(&mut self) -> Duration {
        self.services.iter_mut().map(|service| service.cpu()).sum()
    }

    /// Ends them, and says what they counted, by metric.
    pub fn end(self) -> Result<BTreeMap<String, f64>, String> {
        let mut metrics = BTreeMap::new();
        for mut service in self.services {
            let name = service.name().to_owned();
            metrics.insert(format!("{name}_cpu_s"), service.cpu().as_secs_f64());
            let counted = service.end().map_err(|why| format!("the service '{name}' {why}"))?;
            metrics.extend(counted.into_iter().map(|(metric, value)| (format!("{name}_{metric}"), value)));
        }
        Ok(metrics)
    }
}

/// What a process of a service is, and how it is when it has ended too early.
struct Process {
    tree: Tree,
    log: PathBuf,
    cpu_before: Duration,
}

impl Process {
    fn start(command: &str, env: &[(String, String)], order: &Order) -> Result<Process, String> {
        let spawn =
            Spawn { command, dir: &order.folder, env, cores: order.cores, log: &order.log, group: None };
        let tree = Tree::start(&spawn).map_err(|error| format!("cannot be started: {error}"))?;
        Ok(Process { tree, log: order.log.clone(), cpu_before: Duration::ZERO })
    }

    /// Waits until `ready` says so.
    fn wait_ready(
        &mut self,
        limit: Duration,
        stop: &AtomicBool,
        mut ready: impl FnMut() -> bool,
    ) -> Result<(), Halt> {
        const LOOK: Duration = Duration::from_millis(5);
        let began = std::time::Instant::now();
        while !ready() {
            self.runs("before it was ready")?;
            Halt::if_set(stop)?;
            if began.elapsed() > limit {
                let log = last_lines(&self.log);
                return Err(format!("was not ready within {} s; its log: {log}", limit.as_secs()).into());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Says how it ended, if it has.
    fn runs(&mut self, when: &str) -> Result<(), String> {
        match self.tree.exited().map_err(|error| error.to_string())? {
            None => Ok(()),
            Some(status) => Err(format!("{} {when}; its log: {}", ended(status), last_lines(&self.log))),
        }
    }

    fn begin(&mut self) {
        self.cpu_before = self.tree.usage().cpu;
    }

    fn cpu(&mut self) -> Duration {
        self.tree.usage().cpu.saturating_sub(self.cpu_before)
    }
}

/// Looks for what the services need, installs what may be installed, fetches, and says which version of each there is.
pub(crate) fn prepare(
    specs: &BTreeMap<String, ServiceSpec>,
    install: bool,
    log: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<Service>, String> {
    let mut services = Vec::new();
    for (name, spec) in specs {
        let kind = spec.kind();
        let missing = |what| format!("the service '{name}' needs {what}; {}", remedy(kind));
        let tools = match look(kind, log) {
            Err(what) if install && !kind.packages().is_empty() => {
                let packages =
                    Install { apt: kind.packages().iter().copied().map(str::to_owned).collect(), get: None };
                note(&format!("installing {} (the service '{name}' needs {what})", packages.apt.join(" ")));
                needs::install(&packages, log).map_err(|why| format!("{}: {why}", missing(what)))?;
                look(kind, log)
            }
            found => found,
        };
        let tools = tools.map_err(missing)?;
        fetched(name, kind, &tools, log, stop, note)?;
        let tool = tools.found.iter().find_map(|(_, version)| version.clone());
        let own = || format!("kumite {}", env!("CARGO_PKG_VERSION"));
        let version = match kind {
            Kind::Dynamodb => format!("{}, java {}", dynamodb::VERSION, tool.unwrap_or_default()),
            Kind::Postgresql | Kind::Stub | Kind::Files => tool.unwrap_or_else(own),
        };
        services.push(Service { name: name.clone(), kind: kind.as_str().to_owned(), version });
    }
    Ok(services)
}

fn look(kind: Kind, log: &Path) -> Result<Tools, String> {
    let mut tools = Tools::new(&Versions::default());
    for need in kind.needs() {
        let need: Need = need.parse()?;
        tools.find(&need, log, &AtomicBool::new(false))?;
    }
    Ok(tools)
}

/// What leads to the tools, and to what they fetch, of which `note` is told.
fn fetched(
    name: &str,
    kind: Kind,
    tools: &Tools,
    log: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<(String, String)>, String> {
    let mut env = tools.env()?;
    if kind == Kind::Dynamodb {
        let fetching = format!("fetching DynamoDB Local {} (for the service '{name}')", dynamodb::VERSION);
        let class_path = dynamodb::class_path(&env, log, stop, &mut || note(&fetching))
            .map_err(|why| format!("the service '{name}' ({}) {why}", kind.as_str()))?;
        env.push(("CLASSPATH".to_owned(), class_path));
    }
    Ok(env)
}

fn remedy(kind: Kind) -> String {
    format!("--install gets it (apt: {})", kind.packages().join(" "))
}

fn file_name(log: &Path) -> String {
    log.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The environment variable of a service that ends like this: `DB_PORT`.
fn variable(name: &str, end: &str) -> String {
    format!("{}_{end}", name.to_uppercase())
}
