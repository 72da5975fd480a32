//! Trials of commands. Each starts its services, makes the files that the runs need, runs the command as often as the
//! workload says, and checks its output.
//!
//! Runs follow one another and share a scratch folder that no other trial has. Only the command's own processes are
//! timed; set-up, services and kumite are not. A run that ends with a status other than 0 fails the trial.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use kumite_host::{Ours, Watch};
use kumite_process::{Spawn, how_it_ended, run, total};
use kumite_record::Outcome;

use super::kept_outputs::KeptOutputs;
use super::metrics::{Work, sample};
use super::timed::{Timed, Trial, environment};
use super::workload::CommandWorkload;
use crate::contender::Ready;
use crate::driver::answer_check::AnswerCheck;
use crate::driver::log::{last_lines, trim};
use crate::driver::scratch::{Scratch, ScratchPlace};
use crate::driver::workbench::Workbench;
use crate::driver::{Answered, Driver, Executor, Measured, Opening, TrialOrder, Workload};
use crate::error::Error;
use crate::halt::Halt;
use crate::parameter::all_as_json;
use crate::service::Running;

/// The driver of kind command. It runs each command as often as its workload says, one run after the other.
pub(super) struct CommandDriver<'a> {
    bench: Workbench<'a>,
    scratch: ScratchPlace,
    seed: u64,
    check: AnswerCheck<'a>,
    kept_outputs: KeptOutputs,
}

impl<'a> CommandDriver<'a> {
    pub fn open(of: &Opening<'a>) -> Result<CommandDriver<'a>, Halt> {
        let bench = Workbench::new(of)?;
        let check = bench.answer_check(of.stop)?;
        let scratch = ScratchPlace::for_store(of.state)?;
        Ok(CommandDriver { bench, scratch, seed: of.seed, check, kept_outputs: KeptOutputs::default() })
    }

    fn trial_of<'t>(&self, contender: &'t Ready, at: usize, log: PathBuf, stop: &'t AtomicBool) -> Trial<'t>
    where
        'a: 't,
    {
        let planned = &self.bench.conditions.planned[at];
        let workload = planned.typed::<CommandWorkload>().clone();
        Trial { contender, planned, workload, log, seed: self.seed, stop }
    }

    fn tried(&mut self, trial: &Trial) -> Result<Measured, Halt> {
        let mut services = self.bench.services.start(&trial.planned.parameters, &trial.log, trial.stop)?;
        let measured = self.measure(trial, &mut services);
        trim(&trial.log);
        let mut measured = measured?.with(services.end()?);
        self.bench.conditions.derived.add(&mut measured.sample.metrics, &trial.planned.parameters);
        Ok(measured)
    }

    fn measure(&mut self, trial: &Trial, services: &mut Running) -> Result<Measured, Halt> {
        let Trial { contender, workload, stop, .. } = trial;
        let given = workload.cores().given(&contender.among(self.bench.cores))?;
        let scratch = Scratch::new(&self.scratch)?;
        let files = scratch.path().join("files");
        std::fs::create_dir(&files).map_err(Error::cannot("make", &files))?;
        let env = environment(trial, &services.env(), &files);
        if let Some(setup) = &workload.setup {
            self.set_up(setup, &env, trial)?;
        }
        let mut command =
            Timed::new(trial, self.bench.conditions.derived, &given.cores, env, scratch.path())?;
        services.begin()?;
        let began = Instant::now();
        let warm_up = command.runs(workload.warm_up_runs)?;
        let mut all_cores = given.cores.clone();
        all_cores.extend(&self.bench.cores.engine);
        let services_before = services.cpu();
        let watch = Watch::begin(&all_cores);
        let measured = command.runs(workload.runs)?;
        let services_cpu = services.cpu().saturating_sub(services_before);
        let of_runs = total(measured.iter().map(|run| run.timed.all_cpu()));
        let noise = watch.end(&Ours { cpu: Some(of_runs.saturating_add(services_cpu)), waited: None });
        let beside = total(measured.iter().map(|run| run.ours)).saturating_add(services_cpu);
        let under_load = began.elapsed();
        let left_behind: usize = warm_up.iter().chain(&measured).map(|run| run.timed.left_behind).sum();
        // Services would also count what this one more run asks of them.
        let peak_rss_bytes = match self.bench.conditions.services.is_empty() {
            true => command.peak_below_the_floor(&measured)?,
            false => None,
        };
        let outputs = command.outputs;
        let (answer, params) = (self.bench.conditions.answer, all_as_json(&trial.planned.parameters));
        let mut wrong = outputs.check(answer, &mut self.check, &params, &contender.folder, stop)?;
        let mut written = None;
        if answer.same_output && wrong.is_none() {
            match self.kept_outputs.keep(&trial.planned.point, &outputs, &trial.log)? {
                Ok(kept) => written = Some(kept),
                Err(why) => wrong = Some(why.into()),
            }
        }
        let shared = given.shared;
        let (mut sample, marks) = sample(Work { warm_up, measured, peak_rss_bytes, beside, shared, noise });
        sample.output = written;
        let answered = Measured::answered(wrong.map(|why| format!("its output is wrong: {why}")));
        let left = format!("it left {left_behind} of its processes behind, which were killed");
        Ok(Measured {
            sample,
            marks,
            load_ms: Some(under_load.as_secs_f64() * 1e3),
            reason: answered.reason.clone().or((left_behind > 0).then_some(left)),
            ..answered
        })
    }

    /// Runs the set-up command, on kumite's CPUs. An error if it fails, or takes longer than a run may.
    fn set_up(&self, setup: &str, env: &[(String, String)], trial: &Trial) -> Result<(), Halt> {
        let (dir, log) = (self.bench.conditions.folder, trial.log.with_extension("setup.log"));
        let spawn = Spawn {
            command: setup,
            dir,
            env,
            keeps: None,
            cores: &self.bench.cores.engine,
            log: &log,
            group: None,
        };
        let done = run(&spawn, trial.workload.timeout, trial.stop).map_err(Error::step("setup"))?;
        match done.status.success() {
            true => Ok(()),
            false => {
                let (how, log) = (how_it_ended(done.status), last_lines(&log));
                Err(Halt::fault(format!("setup `{setup}` {how}; its log: {log}")))
            }
        }
    }
}

impl Executor for CommandDriver<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let log = self.bench.trial_log(&(order.log_name() + ".log"));
        let trial = self.trial_of(order.contender, order.at, log.path.clone(), stop);
        let seed = trial.seed.wrapping_add(order.seq.into());
        let tried = self.tried(&Trial { seed, ..trial }).map_err(|halt| Halt::unless_stopped(halt, stop));
        log.of_trial(tried)
    }
}

impl Driver for CommandDriver<'_> {
    fn check(&mut self, contender: &Ready, at: usize, stop: &AtomicBool) -> Result<Answered, Halt> {
        let trial = self.trial_of(contender, at, self.bench.check_log(contender), stop);
        let once = Trial { workload: trial.workload.clone().once(), ..trial };
        let measured = self.tried(&once).map_err(|halt| Halt::unless_stopped(halt, stop))?;
        match (measured.outcome, measured.reason) {
            (Outcome::Ok, Some(left_behind)) => Err(Halt::fault(left_behind)),
            (_, wrong) => Ok(Answered { wrong, written: measured.sample.output, ..Answered::RIGHT }),
        }
    }

    fn notices(&self) -> Vec<String> {
        self.scratch.doubt().into_iter().collect()
    }

    fn files(&self) -> Option<String> {
        Some(self.scratch.to_string())
    }
}
