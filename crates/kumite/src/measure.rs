//! What `run` and `resume` have in common: measuring, judging, and how it ended.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_lab::{
    Event, Experiment, Halt, Lock, Ready, Session, conclude, execute, export, humane, plan, undecided,
};
use kumite_record::{Cores, Export, Outcome, Run, Store};

use crate::exit::Failure;
use crate::output;
use crate::progress::Progress;
use crate::world::{Of, Tries, World};

/// Makes sure that nobody else is at work with this store, for building disturbs too, and ends what a killed kumite left.
pub fn begin_measuring(state: &Path) -> Result<Lock, Failure> {
    let lock = Lock::take(state).map_err(Failure::Incomplete)?;
    for orphan in kumite_lab::end_orphans() {
        output::note(&format!(
            "ended process {}, which a killed kumite had left: {}",
            orphan.pid, orphan.command
        ));
    }
    Ok(lock)
}

/// A run that is about to be measured, or to be measured on.
pub struct Measuring<'a> {
    pub world: &'a dyn World,
    pub experiment: &'a Experiment,
    pub cores: Cores,
    pub budget: Option<Duration>,
    pub rerun_marked: bool,
    pub stop: &'a AtomicBool,
}

impl Measuring<'_> {
    /// Measures what the store does not have yet, and judges. The store has the run's beginning.
    pub fn measure(self, mut run: Run, ready: &[Ready], store: &mut Store) -> Result<Export, Failure> {
        let clock = self.world.clock();
        let state = store.folder().to_owned();
        let of = Of {
            experiment: self.experiment,
            cores: self.cores,
            state: &state,
            run: &run.id.clone(),
            seed: run.seed,
            stop: self.stop,
        };
        let Tries { mut executor, wanting } = self.world.tries(&of).map_err(before_trials)?;
        wanting.iter().for_each(|what| output::note(what));
        run.wanting = wanting;
        let takes_part = self.experiment.takes_part(ready, &run.unavailable);
        let plan = plan(&takes_part, run.blocks, run.seed);
        let kept = store.trials(&run.id)?;
        let times = self.experiment.times();
        let contenders = store.contenders(&run.id)?;
        let session = Session {
            run: &run,
            contenders: ready,
            plan: &plan,
            times: &times,
            kept: &kept,
            budget: self.budget,
            undecided: &|trials| undecided(self.experiment, &run, &contenders, trials),
            rerun_marked: self.rerun_marked,
        };
        let mut progress = Progress::new(plan.trials());
        let ended = execute(&session, executor.as_mut(), clock, store, self.stop, &mut |event| match event {
            Event::Note(note) => progress.note(&note),
            Event::Trial { done, total, left, trial } => {
                let metric = |name| trial.sample.metrics.get(name).copied();
                let rate = metric("throughput_rps").map(|rate| format!("{rate:.0}/s"));
                let time = metric("elapsed_ms").or_else(|| metric("wall_ms"));
                let time = time.map(|ms| humane(Duration::from_secs_f64(ms / 1e3)));
                let error = metric("error_p50_us").map(|us| format!("{us:.0} µs off"));
                let what = rate.or(time).or(error).unwrap_or_else(|| trial.outcome.as_str().to_owned());
                let left = format!("at most {} left", humane(left));
                let cell = run.cell(&trial.contender, &trial.point);
                progress.step(done, total, &format!("{left}; {cell}: {what}"));
            }
        });
        progress.clear();
        let id = run.id.clone();
        conclude(store, self.experiment, run, clock.timestamp(), ended?)?;
        Ok(export(store, &id)?)
    }
}

/// A run that came to no trial.
pub fn before_trials(halt: Halt) -> Failure {
    match halt {
        Halt::Interrupted => Failure::Incomplete("it was interrupted before the first trial".to_owned()),
        failed => failed.into(),
    }
}

/// Whether a run came to its end, or to what its budget allows: that was a wish of the user's, and was kept.
pub fn ended(export: &Export, stop: &AtomicBool) -> Result<(), Failure> {
    match &export.run.cut_short {
        Some(why) if stop.load(Ordering::Relaxed) => {
            let id = &export.run.id;
            Err(Failure::Incomplete(format!("{why}; `kumite resume {id}` goes on with it")))
        }
        _ if export.trials.iter().all(|trial| trial.outcome != Outcome::Ok) => {
            Err(Failure::Incomplete("no trial gave a result".to_owned()))
        }
        _ => Ok(()),
    }
}
