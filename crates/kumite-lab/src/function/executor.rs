//! Trials of functions on a host of the lab's own.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_function::{Cpu, Function, Host, Invocation, Wanting};
use kumite_record::{Call, Cores, Outcome, Point, Sample};

use super::happened::{phases, rejected};
use super::offer::{Made, Offered, offer};
use super::sample::{Beside, Called, kept, own, sample};
use super::workload::FunctionWorkload;
use crate::cores::GivenCores;
use crate::execute::{Executor, Measured, Order};
use crate::log::last_lines_of;
use crate::noise::{Noise, Ours, Watch, own_cpu};
use crate::prepare::Ready;
use crate::service::{Parameters, Running, Services};
use crate::settle::settle;
use crate::spec::Experiment;
use crate::talking::Refusal;
use crate::task::{AnswerCheck, Finding, as_it_should};
use crate::workload::Workload;

/// Starts a host for each trial, calls the function on it, and ends both.
pub struct FunctionExecutor<'a> {
    experiment: &'a Experiment,
    cores: Cores,
    state: &'a Path,
    logs: PathBuf,
    /// Repeats what is random in the run.
    seed: u64,
    check: AnswerCheck<'a>,
    services: Services<'a>,
}

/// What is called, and what is around it.
struct Started {
    workload: FunctionWorkload,
    given: GivenCores,
    event: Vec<u8>,
    host: Host,
    services: Running,
}

/// What was seen of the calls of a trial.
struct Seen {
    offered: Offered,
    /// What the instances used meanwhile is in it.
    noise: Noise,
    /// CPU time of kumite and the services.
    beside: Duration,
}

impl<'a> FunctionExecutor<'a> {
    /// `state` is the folder of the store; logs go below it. From now on this thread, and those it starts, stay on the
    /// engine's core. None if `stop` was set before it was ready.
    pub fn new(
        experiment: &'a Experiment,
        cores: Cores,
        state: &'a Path,
        run: &str,
        seed: u64,
        stop: &AtomicBool,
    ) -> Option<Result<FunctionExecutor<'a>, String>> {
        let logs = PathBuf::from("logs").join(run);
        let logs_here = state.join(&logs);
        let ready = || {
            settle(&logs_here, &cores)?;
            Services::rehearsed(experiment, &cores, &logs_here, stop)
        };
        let services = match ready() {
            Ok(services) => services,
            Err(_) if stop.load(Ordering::Relaxed) => return None,
            Err(why) => return Some(Err(why)),
        };
        let log = logs_here.join("checker.log");
        match AnswerCheck::new(&experiment.answer, &experiment.folder, &cores.engine, log, stop) {
            Ok(check) => Some(Ok(FunctionExecutor { experiment, cores, state, logs, seed, check, services })),
            Err(why) => why.map(Err),
        }
    }

    /// What this machine does not let the host do, in words.
    pub fn wanting(&self) -> Vec<String> {
        let is_limited = |point| match self.experiment.workload(&point) {
            Ok(Workload::Function(function)) => function.cpu == Cpu::ByMemory,
            _ => false,
        };
        Wanting::here(self.experiment.points().into_iter().any(is_limited)).lines().collect()
    }

    /// Calls the contender once and makes sure that it answers right; none if `stop` was set. An error says why it does not.
    pub fn check(
        &mut self,
        contender: &Ready,
        point: &Point,
        stop: &AtomicBool,
    ) -> Option<Result<&'static str, String>> {
        let log = self.state.join(&self.logs).join(&contender.name);
        let measured = self.tried(contender, point, Some(1), 0, &log, stop)?;
        let wrong = measured.reason.filter(|_| measured.outcome != Outcome::Ok);
        Some(match (measured.outcome, wrong) {
            (Outcome::Failed, Some(why)) => Err(why),
            (_, wrong) => as_it_should(wrong, contender.answers),
        })
    }

    /// A trial with so many calls, or as many as the workload says; none if `stop` was set.
    fn tried(
        &mut self,
        contender: &Ready,
        point: &Point,
        calls: Option<usize>,
        seed: u64,
        log: &Path,
        stop: &AtomicBool,
    ) -> Option<Measured> {
        let started = self.start(contender, point, seed, log, stop);
        let measured = started.map_err(Some).and_then(|mut started| {
            started.workload.calls = calls.unwrap_or(started.workload.calls);
            self.measured(contender, started, stop)
        });
        match measured {
            _ if stop.load(Ordering::Relaxed) => None,
            Ok(measured) => Some(measured),
            Err(why) => Some(Measured::failed(Outcome::Failed, why?)),
        }
    }

    fn start(
        &self,
        contender: &Ready,
        point: &Point,
        seed: u64,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Started, String> {
        let workload = self.experiment.workload(point)?;
        let given = workload.given_cores(&self.cores)?;
        let Workload::Function(workload) = workload else {
            return Err("only functions are called".to_owned());
        };
        let workload = workload.of(contender);
        let event = workload.event(&self.experiment.folder)?;
        let services = self.services.start(&workload.parameters, log, stop)?;
        let function = workload.function(contender, services.env(), given.cores.clone(), seed);
        let host = start(function, log)?;
        Ok(Started { workload, given, event, host, services })
    }

    fn measured(
        &mut self,
        contender: &Ready,
        started: Started,
        stop: &AtomicBool,
    ) -> Result<Measured, Refusal> {
        let Started { workload, given, event, host, mut services } = started;
        services.begin().map_err(Some)?;
        let mut all_cores = given.cores.clone();
        all_cores.extend(&self.cores.engine);
        let seen = watched(&mut services, &all_cores, || {
            let call = || host.invoke(&contender.name, event.clone());
            offer(workload.calls, workload.rate_per_s, call, || host.give_up(), stop)
        });
        let wanting = host.wanting().clone();
        let happenings = host.stop().remove(&contender.name).unwrap_or_default();
        if stop.load(Ordering::Relaxed) {
            return Err(None);
        }
        let counted = services.end().map_err(Some)?;
        let Some(began) = seen.offered.made.first().map(|first| first.due) else { return Err(None) };
        let of_life = Sample {
            calls: seen.offered.made.iter().map(|made| kept(made, began)).collect(),
            phases: phases(&happenings, began),
            ..Sample::default()
        };
        let (called, wrong) = match self.answers(contender, &workload, &seen.offered, &of_life.calls, stop) {
            Ok(answers) => answers,
            Err(why) => {
                let why = why.ok_or(None)?;
                return Ok(Measured { sample: of_life, ..Measured::failed(Outcome::Failed, why) });
            }
        };
        let ends = seen.offered.made.iter().map(|made| made.due + made.wall()).max().unwrap_or(began);
        let window = ends - began;
        let beside = Beside {
            cpu: seen.beside,
            window,
            shared: given.shared,
            unlimited: workload.cpu == Cpu::ByMemory && (wanting.cpu.is_some() || wanting.memory.is_some()),
        };
        let (figures, mut marks) = sample(&called, &beside);
        let mut sample = Sample { noise: seen.noise.figures, ..figures };
        (sample.calls, sample.phases) = (of_life.calls, of_life.phases);
        sample.metrics.extend(counted);
        self.derive(&mut sample, &workload.parameters);
        marks.extend(seen.noise.marks);
        let measured = Measured::answered(wrong.map(|why| format!("its answer is wrong: {why}")));
        Ok(Measured {
            reason: measured.reason.or_else(|| rejected(&happenings)),
            ready_ms: sample.calls.first().map(|call| call.init_ms),
            load_ms: Some(window.as_secs_f64() * 1e3),
            sample,
            marks,
            ..measured
        })
    }

    fn derive(&self, sample: &mut Sample, parameters: &Parameters) {
        let of_parts = sample.parts.iter_mut().map(|part| &mut part.metrics);
        of_parts
            .chain([&mut sample.metrics])
            .for_each(|metrics| self.experiment.derived.add(metrics, parameters));
    }

    /// The calls with the function's own metrics, and what is wrong with any of the answers. An error says which call failed, or
    /// why its answer cannot be used.
    fn answers(
        &mut self,
        contender: &Ready,
        workload: &FunctionWorkload,
        Offered { made, failed }: &Offered,
        calls: &[Call],
        stop: &AtomicBool,
    ) -> Result<(Vec<Called>, Option<String>), Refusal> {
        if let Some(nth) = *failed {
            return Err(Some(failure(nth, &made[nth])));
        }
        let mut called = Vec::new();
        let mut answers = BTreeSet::new();
        for (nth, (made, call)) in made.iter().zip(calls).enumerate() {
            let Ok(Invocation { payload, .. }) = &made.answered else { continue };
            let named = |why: String| Some(format!("the answer to call {} is no use: {why}", nth + 1));
            let own = own(payload, self.experiment.derived.of_answers()).map_err(named)?;
            called.push(Called { call: call.clone(), own });
            answers.insert(String::from_utf8_lossy(payload));
        }
        let params = workload.params();
        for answer in answers {
            if let Finding::Wrong(why) = self.check.check(&params, &answer, &contender.folder, stop)? {
                return Ok((called, Some(why)));
            }
        }
        Ok((called, None))
    }
}

impl Executor for FunctionExecutor<'_> {
    fn trial(&mut self, order: &Order, stop: &AtomicBool) -> Option<Measured> {
        let kept = self.logs.join(format!("{:04}-{}", order.seq, order.contender.name));
        let log = self.state.join(&kept);
        let seed = of_routing(self.seed, order.point, order.block);
        let measured = self.tried(order.contender, order.point, None, seed, &log, stop)?;
        Some(Measured { log: Some(kept.display().to_string()), ..measured })
    }
}

/// The seed of the routing: one for all contenders of a block, and its own for each block at each point.
fn of_routing(run: u64, point: &Point, block: u32) -> u64 {
    let hash = blake3::hash(format!("{run} {block} {point}").as_bytes());
    hash.as_bytes().first_chunk().map_or(run, |bytes| u64::from_le_bytes(*bytes))
}

/// A host for a function, whose logs are in a folder that is made.
fn start(function: Function, logs: &Path) -> Result<Host, String> {
    std::fs::create_dir_all(logs).map_err(|error| format!("cannot make {}: {error}", logs.display()))?;
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Host::start(vec![function], anywhere, logs, |_| ()).map_err(|error| format!("the function host: {error}"))
}

/// Has an eye on the machine while calls are made. `cores` are all that are measured on.
fn watched(services: &mut Running, cores: &[usize], calls: impl FnOnce() -> Offered) -> Seen {
    let (services_before, ours_before) = (services.cpu(), own_cpu());
    let watch = Watch::begin(cores);
    let offered = calls();
    let services_cpu = services.cpu().saturating_sub(services_before);
    let of_call = |made: &Made| {
        let invocation = made.answered.as_ref().ok()?;
        Some(invocation.init_cpu? + invocation.cpu?)
    };
    let of_instances = offered.made.iter().map(of_call).sum::<Option<Duration>>();
    let ours = Ours { cpu: of_instances.map(|cpu| cpu + services_cpu), waited: None };
    Seen { offered, noise: watch.end(&ours), beside: own_cpu().saturating_sub(ours_before) + services_cpu }
}

/// Which call failed, how, and what the function said last.
fn failure(nth: usize, made: &Made) -> String {
    let why = made.failure().unwrap_or_default();
    let log = made.answered.as_ref().ok().map(|invocation| last_lines_of(&invocation.log));
    let log = log.map(|log| format!("; its log: {log}")).unwrap_or_default();
    format!("call {} failed: {why}{log}", nth + 1)
}
