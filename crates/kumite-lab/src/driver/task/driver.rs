//! Trials of workers: each starts its services, then a worker, gives it its jobs over a pipe, checks the answers, and
//! ends it.
//!
//! Jobs of the warm-up and of the window are given alike and in one process. A job's time counts from its request to
//! its answer by kumite's clock; the worker's own time is compared with it. An answer that is wrong disqualifies the
//! trial, and a worker that says what nobody asked has failed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_host::{GivenCores, own_cpu};
use kumite_judge::Derived;
use kumite_process::Spawn;
use kumite_record::{Job, JobEvent, Kind};

use super::NAME;
use super::metrics::{Work, sample};
use super::params::MOST_JOBS;
use super::warm_up::WarmUp;
use super::workload::TaskWorkload;
use crate::contender::Ready;
use crate::driver::answer_check::{AnswerCheck, Finding};
use crate::driver::scratch::{Scratch, ScratchPlace};
use crate::driver::watch::watched;
use crate::driver::workbench::Workbench;
use crate::driver::worker::{Done, Hello, Taken, Tap, Worker};
use crate::driver::{Answered, Driver, Executor, Measured, Opening, Planned, TrialOrder, Workload};
use crate::error::{Error, Fault};
use crate::halt::Halt;
use crate::service::Running;

/// The number of exchanges without a job that measure the cost of the pipe.
const ROUND_TRIPS: usize = 21;
/// The coarsest step that a worker's clock may have, in ms.
const CLOCK_GRAIN_MS: f64 = 1.0;
/// The share by which a worker's time may exceed ours. Both clocks are the same machine's.
const CLOCK_TOLERANCE: f64 = 0.05;

/// The driver of kind task. It starts each worker afresh, gives it its jobs, and ends it.
pub struct TaskDriver<'a> {
    pub(super) bench: Workbench<'a>,
    pub(super) scratch: ScratchPlace,
    check: AnswerCheck<'a>,
}

/// One job that was done outside of a run, with everything that was seen of it.
#[derive(Clone, Debug)]
pub struct OneJob {
    /// The worker's first answer, about itself.
    pub hello: Hello,
    /// The time from the worker's start to its first answer.
    pub ready: Duration,
    /// The median time of an exchange without a job, in µs.
    pub round_trip_us: f64,
    /// The job with its times.
    pub job: Job,
    /// The number of events in the job's answer.
    pub events: usize,
    /// The reason why the answer is wrong. None if it is right.
    pub wrong: Option<String>,
}

/// A started worker, with its services and its folder.
struct StartedWorker<'a> {
    planned: &'a Planned,
    workload: &'a TaskWorkload,
    given: GivenCores,
    worker: Worker,
    /// The folder of the worker's files. It is dropped with the worker, as the services are.
    _scratch: Scratch,
    services: Running,
}

impl<'a> TaskDriver<'a> {
    /// The kind of workload that this driver is for.
    pub const KIND: Kind = NAME;

    /// Makes the driver. From now on this thread, and threads that it starts, stay on the engine's CPUs. An error if
    /// these CPUs cannot be had, a service or the checker does not start, or there is no folder for the trials' files.
    pub fn open(of: &Opening<'a>) -> Result<TaskDriver<'a>, Halt> {
        let bench = Workbench::new(of)?;
        let check = bench.answer_check(of.stop)?;
        Ok(TaskDriver { bench, scratch: ScratchPlace::for_store(of.state)?, check })
    }

    /// Starts the contender, gives it one job and ends it. An error if the contender fails or ends badly, and for a
    /// benchmark, which is given no jobs; a wrong answer is no error. `tap` sees every line in both directions.
    pub fn one_job(
        &mut self,
        contender: &Ready,
        at: usize,
        tap: Option<Tap>,
        stop: &AtomicBool,
    ) -> Result<OneJob, Halt> {
        let log = self.bench.check_log(contender);
        if contender.reads.is_some() {
            let why = "it measures by itself and is given no jobs: `kumite run` runs it";
            return Err(Halt::fault(why));
        }
        let derived = self.bench.conditions.derived;
        let one_job = |check: &mut AnswerCheck, worker: &mut Worker, workload: &TaskWorkload| {
            let (hello, _) = worker.hello(workload.ready, stop)?;
            let ready = worker.process.since_start();
            let mut round_trips_us = round_trips(worker, workload, stop)?;
            let mut jobs = Jobs::new(workload, derived, &contender.folder);
            jobs.one(worker, stop)?;
            let wrong = jobs.check(check, stop)?;
            round_trips_us.sort_by(f64::total_cmp);
            Ok::<_, Halt>(OneJob {
                hello,
                ready,
                round_trip_us: round_trips_us[ROUND_TRIPS / 2],
                job: jobs.jobs.remove(0),
                events: jobs.events.len(),
                wrong,
            })
        };
        let StartedWorker { workload, worker, _scratch, services: _services, .. } =
            self.start(contender, at, &log, stop)?;
        let mut worker = worker.tapped(tap);
        let done = one_job(&mut self.check, &mut worker, workload);
        let left = worker.process.end();
        Halt::if_set(stop)?;
        let done = done?;
        left.map_or(Ok(done), |why| Err(Halt::fault(why)))
    }

    fn start(
        &self,
        contender: &Ready,
        at: usize,
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<StartedWorker<'a>, Halt> {
        let planned = &self.bench.conditions.planned[at];
        let workload = planned.typed::<TaskWorkload>();
        let given = workload.cores().given(&contender.among(self.bench.cores))?;
        let services = self.bench.services.start(&planned.parameters, log, stop)?;
        let scratch = workload.scratch(&self.scratch)?;
        let mut env = contender.env.clone();
        env.extend(services.env());
        env.push(("SCRATCH".to_owned(), scratch.path().display().to_string()));
        let (command, dir) = (contender.run.as_str(), contender.folder.as_path());
        let worker = Worker::start(&Spawn {
            command,
            dir,
            env: &env,
            keeps: None,
            cores: &given.cores,
            log,
            group: None,
        })?;
        Ok(StartedWorker { planned, workload, given, worker, _scratch: scratch, services })
    }

    fn tried(&mut self, order: &TrialOrder, log: &Path, stop: &AtomicBool) -> Result<Measured, Halt> {
        if order.contender.reads.is_some() {
            return self.benchmark(order.contender, order.at, log, stop);
        }
        let mut started = self.start(order.contender, order.at, log, stop)?;
        let measured = self.measure(order.contender, &mut started, stop);
        let StartedWorker { planned, worker, services, _scratch, .. } = started;
        let left = worker.process.end();
        Halt::if_set(stop)?;
        let counted = services.end();
        let mut measured = measured?.with(counted?);
        self.bench.conditions.derived.add(&mut measured.sample.metrics, &planned.parameters);
        Ok(Measured { reason: measured.reason.or(left), ..measured })
    }

    fn measure(
        &mut self,
        contender: &Ready,
        started: &mut StartedWorker,
        stop: &AtomicBool,
    ) -> Result<Measured, Halt> {
        let StartedWorker { workload, given, worker, services, .. } = started;
        worker.hello(workload.ready, stop)?;
        let ready = worker.process.since_start();
        let round_trips_us = round_trips(worker, workload, stop)?;
        services.begin()?;
        let began = Instant::now();
        let mut jobs = Jobs::new(workload, self.bench.conditions.derived, &contender.folder);
        let unsettled = jobs.warm_up(worker, stop)?;
        let mut all_cores = given.cores.clone();
        all_cores.extend(&self.bench.cores.engine);
        let tree = worker.process.tree();
        let (window, seen) = watched(&tree, services, &all_cores, || jobs.measured(worker, stop));
        drop(tree);
        let window = window?;
        if let Some(unasked) = worker.process.unasked() {
            return Err(Halt::fault(unasked));
        }
        let under_load = began.elapsed();
        let wrong = jobs.check(&mut self.check, stop)?;
        let work = Work {
            events: jobs.events,
            round_trips_us,
            window: window.time,
            engine_cpu: window.engine_cpu,
            concurrency: workload.concurrency,
            unsettled,
            shared: given.shared,
            seen,
            jobs: jobs.jobs,
        };
        let (sample, marks) = sample(work);
        Ok(Measured {
            sample,
            marks,
            ready_ms: Some(ready.as_secs_f64() * 1e3),
            load_ms: Some(under_load.as_secs_f64() * 1e3),
            ..Measured::answered(wrong.map(|why| format!("its answer is wrong: {why}")))
        })
    }
}

impl Executor for TaskDriver<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let log = self.bench.trial_log(&(order.log_name() + ".log"));
        let tried = self.tried(order, &log.path, stop);
        log.of_trial(tried)
    }
}

impl Driver for TaskDriver<'_> {
    fn check(&mut self, contender: &Ready, at: usize, stop: &AtomicBool) -> Result<Answered, Halt> {
        if contender.reads.is_some() {
            self.benchmark(contender, at, &self.bench.check_log(contender), stop)?;
            return Ok(Answered { how: "measures by itself", ..Answered::RIGHT });
        }
        let job = self.one_job(contender, at, None, stop)?;
        let wrong = job.wrong.map(|why| format!("its answer is wrong: {why}"));
        Ok(Answered { wrong, ..Answered::RIGHT })
    }

    fn notices(&self) -> Vec<String> {
        self.scratch.doubt().into_iter().collect()
    }

    fn files(&self) -> Option<String> {
        Some(self.scratch.to_string())
    }
}

/// The times of [`ROUND_TRIPS`] exchanges without a job, in µs.
fn round_trips(worker: &mut Worker, workload: &TaskWorkload, stop: &AtomicBool) -> Result<Vec<f64>, Halt> {
    (0..ROUND_TRIPS)
        .map(|_| worker.hello(workload.timeout, stop).map(|(_, took)| took.as_secs_f64() * 1e6))
        .collect()
}

/// The jobs of one worker process, with their results so far.
struct Jobs<'a> {
    workload: &'a TaskWorkload,
    derived: &'a Derived,
    /// The folder in which the worker runs.
    folder: &'a Path,
    /// The jobs in the order in which they were given.
    jobs: Vec<Job>,
    /// The events of the last answer that had any.
    events: Vec<JobEvent>,
    /// The different results, each once.
    results: BTreeSet<String>,
}

/// The time that some jobs took together, and the engine's CPU time meanwhile.
struct Window {
    time: Duration,
    engine_cpu: Duration,
}

impl<'a> Jobs<'a> {
    fn new(workload: &'a TaskWorkload, derived: &'a Derived, folder: &'a Path) -> Jobs<'a> {
        Jobs { workload, derived, folder, jobs: Vec::new(), events: Vec::new(), results: BTreeSet::new() }
    }

    /// Gives the jobs of the warm-up. True if they were to become steady, and did not.
    fn warm_up(&mut self, worker: &mut Worker, stop: &AtomicBool) -> Result<bool, Halt> {
        let mut warm_up = WarmUp::new(self.workload);
        let began = Instant::now();
        let enough = |given, answered: &[Job]| warm_up.is_over(given, answered, began.elapsed());
        self.work(worker, true, enough, stop)?;
        Ok(warm_up.is_unsettled())
    }

    /// Gives the jobs that are measured: as many as the workload asks for, and more until its time has passed or
    /// [`MOST_JOBS`] have been given.
    fn measured(&mut self, worker: &mut Worker, stop: &AtomicBool) -> Result<Window, Halt> {
        let TaskWorkload { iterations, duration, .. } = *self.workload;
        let began = Instant::now();
        let enough = |given, _: &[Job]| {
            given >= iterations && (given >= MOST_JOBS as usize || began.elapsed() >= duration)
        };
        self.work(worker, false, enough, stop)
    }

    /// Gives one job that is measured.
    fn one(&mut self, worker: &mut Worker, stop: &AtomicBool) -> Result<Window, Halt> {
        self.work(worker, false, |given, _| given >= 1, stop)
    }

    /// Gives jobs until `enough` says that no more are needed, and waits for their answers. `enough` gets the number
    /// of jobs given, and the answered jobs up to the first without an answer.
    fn work(
        &mut self,
        worker: &mut Worker,
        warm_up: bool,
        mut enough: impl FnMut(usize, &[Job]) -> bool,
        stop: &AtomicBool,
    ) -> Result<Window, Halt> {
        let mut in_flight = BTreeMap::<u64, Instant>::new();
        let before = self.jobs.len();
        let (began, engine_cpu) = (Instant::now(), own_cpu());
        let mut last = began;
        loop {
            while in_flight.len() < self.workload.concurrency {
                let answered =
                    in_flight.first_key_value().map_or(self.jobs.len(), |(job, _)| *job as usize - 1);
                if enough(self.jobs.len() - before, &self.jobs[before..answered]) {
                    break;
                }
                self.jobs.push(Job { warm_up, ..Job::default() });
                let (job, timeout) = (self.jobs.len() as u64, self.workload.timeout);
                let asked = worker.give(job, &self.workload.params, timeout, stop)?;
                in_flight.insert(job, asked);
            }
            if in_flight.is_empty() {
                break;
            }
            let Taken { answer, done, came } = worker.take(&in_flight, self.workload.timeout, stop)?;
            let job = answer.job;
            let asked = in_flight.remove(&job).unwrap_or(began);
            let told = answer.done.map_err(Error::step(format!("job {job}")))?;
            self.keep(job, done - asked, told)?;
            last = came;
        }
        Ok(Window { time: last - began, engine_cpu: own_cpu().saturating_sub(engine_cpu) })
    }

    fn keep(&mut self, job: u64, elapsed: Duration, done: Done) -> Result<(), Fault> {
        let elapsed_ms = elapsed.as_secs_f64() * 1e3;
        let theirs = done.elapsed_ms;
        if theirs > elapsed_ms * (1.0 + CLOCK_TOLERANCE) + CLOCK_GRAIN_MS {
            return Err(Fault::new(format!(
                "it says that job {job} took {theirs:.1} ms, but its answer came {elapsed_ms:.1} ms after the request"
            )));
        }
        let declared = self.derived;
        if let Some(unknown) = done.metrics.keys().find(|name| !declared.is_worker_s(name)) {
            return Err(Fault::new(format!(
                "job {job} has the metric '{unknown}', which [metrics] of experiment.toml does not have"
            )));
        }
        let kept = &mut self.jobs[job as usize - 1];
        kept.elapsed_ms = elapsed_ms;
        kept.worker_elapsed_ms = theirs;
        // The metrics of a warm-up job count in no figure, and would be most of what a run of short jobs keeps.
        if !kept.warm_up {
            kept.metrics = done.metrics;
        }
        if !done.events.is_empty() {
            self.events = done.events;
        }
        let result = done.result.get();
        if !self.results.contains(result) {
            self.results.insert(result.to_owned());
        }
        Ok(())
    }

    /// The reason why any of the results is wrong. None if all are right.
    fn check(&self, check: &mut AnswerCheck, stop: &AtomicBool) -> Result<Option<String>, Halt> {
        for result in &self.results {
            if let Finding::Wrong(why) = check.check(&self.workload.params, result, self.folder, stop)? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }
}
