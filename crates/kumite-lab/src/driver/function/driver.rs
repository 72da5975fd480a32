//! Trials of functions: each starts its services, then a function host, calls the function on it, checks the answers,
//! and ends all.
//!
//! The host is new in every trial, so that the first call is cold. All contenders of a block get the same seed for
//! the routing of calls. A call that fails fails the trial, whose calls and phases so far are kept to be looked at.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_function::{Cpu, Function, Host, Invocation, MissingRights};
use kumite_host::{GivenCores, Noise, Ours, Watch, own_cpu};
use kumite_record::{Call, Outcome, Point, Role, Sample};

use super::caller::{Calls, Made, call_all};
use super::metrics::{Beside, Called, kept, sample};
use super::timeline::{phases, rejected};
use super::workload::FunctionWorkload;
use crate::contender::Ready;
use crate::driver::answer_check::{AnswerCheck, Finding};
use crate::driver::own_metrics::own_metrics;
use crate::driver::workbench::Workbench;
use crate::driver::{Answered, Driver, Executor, Measured, Opening, Planned, TrialOrder, Workload};
use crate::error::{Error, chain};
use crate::halt::Halt;
use crate::parameter::Parameters;
use crate::service::Running;
use kumite_process::{last_lines_of, total};

/// The driver of kind function. It starts a host for each trial, calls the function on it, and ends both.
pub(crate) struct FunctionDriver<'a> {
    bench: Workbench<'a>,
    /// The seed of the run, which the routing of calls is drawn from.
    seed: u64,
    check: AnswerCheck<'a>,
}

/// A function on its host, ready to be called.
struct StartedHost {
    workload: FunctionWorkload,
    given: GivenCores,
    event: Vec<u8>,
    host: Host,
    services: Running,
}

/// The calls of a trial, and the noise beside them.
struct WatchedCalls {
    offered: Calls,
    /// The noise from outside; what the instances themselves used is not part of it.
    noise: Noise,
    /// The CPU time of kumite and the services during the calls.
    beside: Duration,
}

impl<'a> FunctionDriver<'a> {
    pub fn open(of: &Opening<'a>) -> Result<FunctionDriver<'a>, Halt> {
        let bench = Workbench::new(of)?;
        let check = bench.answer_check(of.stop)?;
        Ok(FunctionDriver { bench, seed: of.seed, check })
    }

    /// Makes a trial with this number of calls; None stands for as many as the workload says.
    fn tried(
        &mut self,
        contender: &Ready,
        at: usize,
        calls: Option<usize>,
        seed: u64,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<Measured, Halt> {
        let mut started = self.start(contender, at, seed, log, stop)?;
        started.workload.calls = calls.unwrap_or(started.workload.calls);
        self.measured(contender, started, stop).map_err(|halt| Halt::unless_stopped(halt, stop))
    }

    fn start(
        &self,
        contender: &Ready,
        at: usize,
        seed: u64,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<StartedHost, Halt> {
        let workload =
            self.bench.conditions.planned[at].typed::<FunctionWorkload>().clone().for_contender(contender);
        let given = workload.cores().given(&contender.among(self.bench.cores))?;
        let event = workload.event(self.bench.conditions.folder)?;
        let services = self.bench.services.start(&workload.parameters, log, stop)?;
        let function = workload.function(contender, services.env(), given.cores.clone(), seed);
        let host = start(function, log)?;
        Ok(StartedHost { workload, given, event, host, services })
    }

    fn measured(
        &mut self,
        contender: &Ready,
        started: StartedHost,
        stop: &AtomicBool,
    ) -> Result<Measured, Halt> {
        let StartedHost { workload, given, event, host, mut services } = started;
        services.begin()?;
        let mut all_cores = given.cores.clone();
        all_cores.extend(&self.bench.cores.engine);
        let seen = watched(&mut services, &all_cores, || {
            let call = || host.invoke(&contender.name, event.clone());
            call_all(workload.calls, workload.rate_per_s, call, || host.give_up(), stop)
        });
        let missing_rights = host.missing_rights().clone();
        let timeline = host.stop().remove(&contender.name).unwrap_or_default();
        Halt::if_set(stop)?;
        let counted = services.end()?;
        let Some(began) = seen.offered.made.first().map(|first| first.due) else {
            return Err(Halt::Interrupted);
        };
        let of_life = Sample {
            calls: seen.offered.made.iter().map(|made| kept(made, began)).collect(),
            phases: phases(&timeline, began),
            ..Sample::default()
        };
        let (called, wrong) = match self.answers(contender, &workload, &seen.offered, &of_life.calls, stop) {
            Ok(answers) => answers,
            Err(Halt::Failed(why)) => {
                return Ok(Measured { sample: of_life, ..Measured::failed(chain(&why)) });
            }
            Err(halt) => return Err(halt),
        };
        let ends = seen.offered.made.iter().map(|made| made.due + made.wall()).max().unwrap_or(began);
        let window = ends - began;
        let beside = Beside {
            cpu: seen.beside,
            window,
            shared: given.shared,
            unlimited: workload.cpu == Cpu::ByMemory
                && (missing_rights.cpu.is_some() || missing_rights.memory.is_some()),
            uncounted: missing_rights.memory.is_some(),
        };
        let (figures, mut marks) = sample(&called, &beside);
        let mut sample = Sample { noise: seen.noise.figures, ..figures };
        (sample.calls, sample.phases) = (of_life.calls, of_life.phases);
        sample.metrics.extend(counted.metrics);
        self.derive(&mut sample, &workload.parameters);
        marks.extend(seen.noise.marks);
        let measured = Measured::answered(wrong.map(|why| format!("its answer is wrong: {why}")));
        let mut measured = Measured {
            reason: measured.reason.or_else(|| rejected(&timeline)),
            ready_ms: sample.calls.first().map(|call| call.init_ms),
            load_ms: Some(window.as_secs_f64() * 1e3),
            sample,
            marks,
            ..measured
        };
        counted.seen.into_iter().for_each(|seen| measured.add_noise(Role::Services, seen));
        Ok(measured)
    }

    fn derive(&self, sample: &mut Sample, parameters: &Parameters) {
        let of_parts = sample.parts.iter_mut().map(|part| &mut part.metrics);
        of_parts
            .chain([&mut sample.metrics])
            .for_each(|metrics| self.bench.conditions.derived.add(metrics, parameters));
    }

    /// The calls with the function's own metrics, and the reason why an answer is wrong, if one is. An error says
    /// which call failed, which answer cannot be used and why, or why the checker cannot.
    fn answers(
        &mut self,
        contender: &Ready,
        workload: &FunctionWorkload,
        Calls { made, failed }: &Calls,
        calls: &[Call],
        stop: &AtomicBool,
    ) -> Result<(Vec<Called>, Option<String>), Halt> {
        if let Some(nth) = *failed {
            return Err(Halt::fault(failure(nth, &made[nth])));
        }
        let mut called = Vec::new();
        let mut answers = BTreeSet::new();
        for (nth, (made, call)) in made.iter().zip(calls).enumerate() {
            let Ok(Invocation { payload, .. }) = &made.answered else { continue };
            let step = || format!("the answer to call {} is no use", nth + 1);
            let own = own_metrics(payload, self.bench.conditions.derived.of_answers())
                .map_err(Error::step(step()))?;
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

impl Executor for FunctionDriver<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let logs = self.bench.trial_log(&order.log_name());
        let seed = of_routing(self.seed, order.point, order.block);
        let tried = self.tried(order.contender, order.at, None, seed, &logs.path, stop);
        logs.of_trial(tried)
    }
}

impl Driver for FunctionDriver<'_> {
    fn check(&mut self, contender: &Ready, at: usize, stop: &AtomicBool) -> Result<Answered, Halt> {
        let logs = self.bench.log(&contender.name);
        let measured = self.tried(contender, at, Some(1), 0, &logs, stop)?;
        let wrong = measured.reason.filter(|_| measured.outcome != Outcome::Ok);
        match (measured.outcome, wrong) {
            (Outcome::Failed, Some(why)) => Err(Halt::fault(why)),
            (_, wrong) => Ok(Answered { wrong, ..Answered::RIGHT }),
        }
    }

    fn notices(&self) -> Vec<String> {
        let is_limited = |planned: &Planned| planned.typed::<FunctionWorkload>().cpu == Cpu::ByMemory;
        MissingRights::here(self.bench.conditions.measurable().any(is_limited)).lines().collect()
    }
}

/// The seed of the routing of calls: the same for all contenders of a block, and another one for each block at each
/// point.
fn of_routing(run: u64, point: &Point, block: u32) -> u64 {
    let hash = blake3::hash(format!("{run} {block} {point}").as_bytes());
    hash.as_bytes().first_chunk().map_or(run, |bytes| u64::from_le_bytes(*bytes))
}

/// Starts a host for a function. The folder of its logs is made.
fn start(function: Function, logs: &Path) -> Result<Host, Error> {
    std::fs::create_dir_all(logs).map_err(Error::cannot("make", logs))?;
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Host::start(vec![function], anywhere, logs, |_| ()).map_err(Error::step("the function host"))
}

/// Watches the machine while calls are made. `cores` are all CPUs that are measured on.
fn watched(services: &mut Running, cores: &[usize], calls: impl FnOnce() -> Calls) -> WatchedCalls {
    let (services_before, ours_before) = (services.cpu(), own_cpu());
    let watch = Watch::begin(cores);
    let offered = calls();
    let services_cpu = services.cpu().saturating_sub(services_before);
    let of_call = |made: &Made| {
        let invocation = made.answered.as_ref().ok()?;
        Some(invocation.init_cpu.saturating_add(invocation.cpu))
    };
    let of_instances = offered.made.iter().map(of_call).collect::<Option<Vec<_>>>().map(total);
    let ours = Ours { cpu: of_instances.map(|cpu| cpu.saturating_add(services_cpu)), waited: None };
    WatchedCalls {
        offered,
        noise: watch.end(&ours),
        beside: own_cpu().saturating_sub(ours_before) + services_cpu,
    }
}

/// A sentence with the call that failed, the failure, and the last lines of the function's log.
fn failure(nth: usize, made: &Made) -> String {
    let why = made.failure().unwrap_or_default();
    let log = made.answered.as_ref().ok().map(|invocation| last_lines_of(&invocation.log));
    let log = log.map(|log| format!("; its log: {log}")).unwrap_or_default();
    format!("call {} failed: {why}{log}", nth + 1)
}
