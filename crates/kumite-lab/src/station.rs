//! A node with a role in the run of another node: it starts servers or services and looks at them, as it is asked.
//!
//! The other end is `node.rs`; each question is a variant of [`Work`] with the type of its answer. Questions are
//! answered one after the other. Nothing here decides when or what to measure. Everything that runs is ended once no
//! more questions come, so that a driver that is gone leaves nothing behind.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_host::{Heartbeat, Noise, Ours, Watch, cores, machine};
use kumite_process::{Waits, become_subreaper};
use kumite_record::{Cores, Role};
use kumite_stub::{Config, Stub};

use crate::contender::Ready;
use crate::driver::http::WrittenCredentials;
use crate::driver::http::server_process::{Here, ServerProcess};
use crate::driver::own_home::OwnHome;
use crate::driver::probed::MachineProbe;
use crate::error::{Error, Fault, chain};
use crate::halt::Halt;
use crate::node::Nodes;
use crate::run::{Choice, Prepared, prepare};
use crate::service::{Running, Services};
use crate::spec::Experiment;
use crate::work::{
    Ask, BeginServices, BeginTrial, BeginWatch, EndServices, EndTrial, EndWatch, LastLines, Listening,
    ListensElsewhere, LookAtServer, NodeNoise, OwnPort, Pause, Prepare, ProbeMachine, Readied, Resume,
    ServerEnded, ServicesEnded, StartServer, StartServices, StopServer, Work,
};

/// The most bytes of a log's end that the driver gets.
const LOG_KEPT: u64 = 64 << 10;

/// Answers the questions of a driver about an experiment, which is given by its path or name, until `next` returns
/// none. `next` is given the answer to the question before (none at first), and returns the next question, as the JSON
/// of a `Work`. The first question must be `Work::Prepare`: until one has succeeded, every other question is answered
/// by an error. `host` is the address at which the node is reached. Logs are below `state`. `note` is called with
/// sentences about steps that take long.
pub fn serve(
    experiment: &str,
    host: Ipv4Addr,
    state: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
    next: &mut dyn FnMut(Option<Result<String, Error>>) -> Option<String>,
) {
    let mut answer = None;
    while let Some(asked) = next(answer.take()) {
        let wanted = match serde_json::from_str(&asked) {
            Ok(Work::Prepare(wanted)) => wanted,
            Ok(_) => {
                answer =
                    Some(Err(Fault::new("it was asked for something before it was to get ready").into()));
                continue;
            }
            Err(error) => {
                answer = Some(Err(Error::step("it does not understand what it is asked")(error)));
                continue;
            }
        };
        let failed = match Experiment::load(experiment, &wanted.profile) {
            Ok(experiment) => ready(&experiment, &wanted, host, state, stop, note, next),
            Err(error) => Err(Halt::Failed(error.into())),
        };
        match failed {
            Ok(()) => return,
            Err(why) => answer = Some(Err(why.into())),
        }
    }
}

/// Gets ready, and answers the questions that come then. An error says why the node cannot get ready.
fn ready(
    experiment: &Experiment,
    wanted: &Prepare,
    host: Ipv4Addr,
    state: &Path,
    stop: &AtomicBool,
    note: &mut dyn FnMut(&str),
    next: &mut dyn FnMut(Option<Result<String, Error>>) -> Option<String>,
) -> Result<(), Halt> {
    become_subreaper().map_err(Error::step("cannot adopt processes that lose their parent"))?;
    crate::end_orphans();
    crate::remove_left_files();
    let logs = state.join("logs");
    std::fs::create_dir_all(&logs).map_err(Error::cannot("make", &logs))?;
    let choice = Choice {
        only: wanted.only.clone(),
        skip: wanted.skip.clone(),
        unplanned: wanted.unplanned.clone(),
        install: wanted.install,
        elsewhere: Role::ALL.into_iter().filter(|role| !wanted.roles.contains(role)).collect(),
        ..Choice::default()
    };
    let prepared = prepare(experiment, &choice, state, stop, note)?;
    let has = |role| wanted.roles.contains(&role);
    let split = cores();
    let services_cores = if has(Role::Server) { split.engine.clone() } else { Vec::new() };
    let contender = match has(Role::Services) {
        true => split.contender.clone(),
        false => all(&split),
    };
    let services = has(Role::Services).then_some(&experiment.services);
    let none = BTreeMap::new();
    let services = services.unwrap_or(&none);
    let found =
        Services::find(services, &Nodes::default(), &services_cores, &logs.join("services.log"), stop);
    let services = found?;
    let echo = has(Role::Server).then(|| Stub::listen(Config { host, ..Config::default() }));
    let echo = echo.transpose().map_err(Error::Echo)?;
    let echo_port = echo.as_ref().map_or(0, |stub| stub.addr().port());
    let mut station = Station {
        prepared,
        services,
        logs,
        stop,
        cores: all(&split),
        has_server: has(Role::Server),
        running: None,
        server: None,
        watch: None,
        heartbeat: None,
        probe: MachineProbe::default(),
    };
    let cores = Cores { contender, engine: Vec::new(), apart: true };
    let readied = Readied {
        contenders: station.prepared.contenders.clone(),
        services: station.prepared.services.clone(),
        machine: machine(cores.clone()),
        cores,
        echo_port,
    };
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let echoing = echo.map(|stub| scope.spawn(|| stub.serve(&ended)));
        let mut said = Some(answer::<Prepare>(readied));
        while let Some(asked) = next(said.take()) {
            let work =
                serde_json::from_str(&asked).map_err(Error::step("it does not understand what it is asked"));
            said = Some(work.and_then(|work| station.answer(work)));
        }
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
        drop(echoing);
    });
    Ok(())
}

fn all(cores: &Cores) -> Vec<usize> {
    let mut all = [cores.contender.clone(), cores.engine.clone()].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// Writes an answer of the type that belongs to the question.
fn answer<Q: Ask>(answer: Q::Answer) -> Result<String, Error> {
    serde_json::to_string(&answer).map_err(Error::step("its answer cannot be written"))
}

/// A node that is ready for its roles.
struct Station<'a> {
    prepared: Prepared,
    services: Services<'a>,
    logs: PathBuf,
    stop: &'a AtomicBool,
    /// All CPUs that the node may use.
    cores: Vec<usize>,
    has_server: bool,
    /// The services that run, and the watch on the node beside them. No watch before their counts begin, and none on
    /// a node that has the server, too.
    running: Option<(Running, Option<Watch>)>,
    /// The server that runs. None if none does.
    server: Option<StartedServer>,
    /// The watch on the node beside its server. None while nobody asked for one.
    watch: Option<Watching>,
    /// The heartbeat of the trial that is going on. None between trials.
    heartbeat: Option<Heartbeat>,
    /// The probes that are taken between trials.
    probe: MachineProbe,
}

/// A watch on the node, with what the programs that it runs had used when the watch began.
struct Watching {
    watch: Watch,
    cpu: Duration,
    waits: Option<Waits>,
}

impl Station<'_> {
    fn answer(&mut self, work: Work) -> Result<String, Error> {
        match work {
            Work::Prepare(_) => Err(Fault::new("it is ready already").into()),
            Work::StartServices(StartServices { parameters, host, clients, log }) => {
                // A trial that its driver gave up may have left something running.
                self.running = None;
                let log = self.log(&log)?;
                self.services.listen_at(host, clients);
                let running = self.services.start(&parameters, &log, self.stop)?;
                let env = running.env();
                self.running = Some((running, None));
                answer::<StartServices>(env)
            }
            Work::BeginServices(_) => {
                let (running, watch) = self.running.as_mut().ok_or_else(|| Fault::new("no services run"))?;
                running.begin()?;
                // A node with the server, too, is watched while that is.
                *watch = (!self.has_server).then(|| Watch::begin(&self.cores));
                answer::<BeginServices>(())
            }
            Work::EndServices(_) => {
                let (mut running, watch) =
                    self.running.take().ok_or_else(|| Fault::new("no services run"))?;
                let used = running.cpu();
                let seen = watch.map(|watch| watch.end(&Ours { cpu: Some(used), waited: None }));
                let metrics = running.end()?.metrics;
                let seen = seen.map(seen_of).unwrap_or_default();
                answer::<EndServices>(ServicesEnded { metrics, seen })
            }
            Work::StartServer(StartServer { contender, host, mut env, credentials, cores, log }) => {
                self.server = None;
                let log = self.log(&log)?;
                let home = OwnHome::new(&self.logs)?;
                let ready = home.given_to(self.ready(&contender)?)?;
                let credentials =
                    credentials.map(|made| WrittenCredentials::new(&made, &self.logs)).transpose()?;
                env.extend(credentials.iter().flat_map(WrittenCredentials::env));
                let process = Here::start(&ready, host, env, &cores, &log)?;
                let port = process.address().port();
                self.server = Some(StartedServer { process, log, home, _credentials: credentials });
                answer::<StartServer>(port)
            }
            Work::LookAtServer(_) => answer::<LookAtServer>(self.server()?.look()?),
            Work::LastLines(_) => answer::<LastLines>(self.server()?.last_lines()),
            Work::OwnPort(_) => answer::<OwnPort>(self.server()?.own_port().err().map(|why| chain(&why))),
            Work::ListensElsewhere(_) => answer::<ListensElsewhere>(self.server()?.listens_elsewhere()),
            Work::Listening(_) => answer::<Listening>(self.server()?.listening()),
            Work::Pause(_) => answer::<Pause>(self.server()?.pause()),
            Work::Resume(_) => {
                self.server()?.resume();
                answer::<Resume>(true)
            }
            Work::BeginWatch(_) => {
                let (cpu, waits) = (self.cpu()?, self.server()?.waits());
                self.watch = Some(Watching { watch: Watch::begin(&self.cores), cpu, waits });
                answer::<BeginWatch>(())
            }
            Work::EndWatch(_) => {
                let (cpu, waits) = (self.cpu()?, self.server()?.waits());
                let Watching { watch, cpu: before, waits: then } =
                    self.watch.take().ok_or_else(|| Fault::new("nothing is watched"))?;
                let waited = waits.zip(then).map(|(now, then)| now.since(&then));
                let used = Some(cpu.saturating_sub(before));
                answer::<EndWatch>(seen_of(watch.end(&Ours { cpu: used, waited })))
            }
            Work::StopServer(_) => {
                let server = self.server.take().ok_or_else(|| Fault::new("no server runs"))?;
                let StartedServer { process, log, home, _credentials } = server;
                let wrong = Box::new(process).stop().or_else(|| home.written());
                answer::<StopServer>(ServerEnded { wrong, log: end_of(&log) })
            }
            Work::ProbeMachine(_) => answer::<ProbeMachine>(self.probe.figures(&self.cores, self.stop)),
            Work::BeginTrial(_) => {
                self.heartbeat = Some(Heartbeat::start(&self.cores));
                answer::<BeginTrial>(())
            }
            Work::EndTrial(_) => {
                let heartbeat = self.heartbeat.take().ok_or_else(|| Fault::new("no trial has begun"))?;
                answer::<EndTrial>(heartbeat.stop())
            }
        }
    }

    fn server(&mut self) -> Result<&mut Here, Fault> {
        self.server.as_mut().map(|server| &mut server.process).ok_or_else(|| Fault::new("no server runs"))
    }

    /// The CPU time of everything that runs on this node. An error if no server does.
    fn cpu(&mut self) -> Result<Duration, Error> {
        let services = self.running.as_mut().map_or(Duration::ZERO, |(running, _)| running.cpu());
        Ok(cpu_of(self.server()?) + services)
    }

    fn ready(&self, name: &str) -> Result<&Ready, Fault> {
        let found = self.prepared.ready.iter().find(|ready| ready.name == name);
        found.ok_or_else(|| Fault::new(format!("there is no contender {name} that can be run")))
    }

    /// The path of a log with this name. An error if it is not a plain name: a driver names files, and must not
    /// choose their place.
    fn log(&self, name: &str) -> Result<PathBuf, Fault> {
        let is_name = !name.is_empty()
            && !name.starts_with('.')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if is_name { Ok(self.logs.join(name)) } else { Err(Fault::new("that is no name of a log")) }
    }
}

/// A server that runs, with what lasts as long as it does.
struct StartedServer {
    process: Here,
    log: PathBuf,
    home: OwnHome,
    _credentials: Option<WrittenCredentials>,
}

fn cpu_of(server: &mut Here) -> Duration {
    server.look().map_or(Duration::ZERO, |look| Duration::from_nanos(look.cpu_ns))
}

fn seen_of(Noise { figures, marks }: Noise) -> NodeNoise {
    NodeNoise { figures, marks }
}

/// The end of a log; empty if it cannot be read, because that is not worth a trial.
fn end_of(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let from = bytes.len().saturating_sub(LOG_KEPT as usize);
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}
