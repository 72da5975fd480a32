//! The measuring of a run, from its beginning in the store to its document: what `kumite run` and `kumite resume`
//! have in common.
//!
//! The caller is told of what happens and shows it; nothing is printed here.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kumite_host::{Clock, RealClock};
use kumite_record::{Claim, Cores, Export, Reason, Run, Store, StoreError, Trial};

use super::control::{with_control, with_twin};
use super::decided::Decided;
use super::execute::{Event, execute};
use super::export::{claimed_points, conclude, export, judged, too_few_values, undecided};
use super::plan::{plan, trial_seed};
use super::session::Session;
use super::time_limit::TimeLimit;
use crate::contender::Ready;
use crate::driver::{Driver, Opening, open};
use crate::halt::Halt;
use crate::node::Nodes;
use crate::spec::Experiment;

/// The time between two looks of a wait at whether it is to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The clock that runs go by, and the drivers that execute their trials.
pub trait World {
    /// The clock of runs, which need not be that of the machine.
    fn clock(&self) -> &dyn Clock;
    /// Waits until this time or until `stop` is set, whichever comes first.
    fn wait(&self, until: Timestamp, stop: &AtomicBool);
    /// Opens the driver of a run's trials. An error if the kind refuses the experiment, or what the driver needs cannot
    /// be had.
    fn open<'a>(&'a self, of: &Opening<'a>) -> Result<Box<dyn Driver + 'a>, Halt>;
}

/// The machine's own clock, and drivers that start contenders.
#[derive(Default)]
pub struct ThisMachine(RealClock);

impl World for ThisMachine {
    fn clock(&self) -> &dyn Clock {
        &self.0
    }

    /// Waits by the time of day, because a machine may sleep meanwhile; but no longer than the wait was at its
    /// beginning, by the clock that never goes back.
    fn wait(&self, until: Timestamp, stop: &AtomicBool) {
        let left = || until.duration_since(self.0.timestamp());
        let (began, most) = (self.0.now(), left());
        while left().is_positive() && !stop.load(Ordering::Relaxed) {
            let waited = SignedDuration::try_from(self.0.now().saturating_sub(began));
            if waited.is_ok_and(|waited| waited >= most) {
                break;
            }
            std::thread::sleep(LOOK);
        }
    }

    fn open<'a>(&'a self, of: &Opening<'a>) -> Result<Box<dyn Driver + 'a>, Halt> {
        open(of)
    }
}

/// The inputs of a run that is about to be measured or resumed.
pub struct Measuring<'a> {
    /// The clock and the drivers of the run.
    pub world: &'a dyn World,
    /// The experiment that is measured.
    pub experiment: &'a Experiment,
    /// The CPUs that may be used.
    pub cores: Cores,
    /// The nodes that have roles.
    pub nodes: Nodes,
    /// The time that the run may take. None if there is no limit.
    pub limit: Option<TimeLimit>,
    /// Set to end the run early. What was measured is kept and judged.
    pub stop: &'a AtomicBool,
}

/// An event while a run is measured.
pub enum RunEvent<'a> {
    /// A sentence for the user.
    Note(String),
    /// The first trial is about to begin. Has the number of trials in the plan, or in this shard's part of it. Trials
    /// that the store has already are among them; repetitions of void blocks are not.
    Begins(usize),
    /// No number of blocks can judge a claim. Has the claim's id, and the reason.
    Unjudgeable(&'a Run, String, Reason),
    /// A claim was decided, or is open again.
    Decided(&'a Run, &'a Claim),
    /// A trial was committed.
    Trial {
        /// The run that is measured.
        run: &'a Run,
        /// The number of trials that have ended so far.
        done: usize,
        /// The number of trials that have ended and of those still expected, together. It may rise and fall during a
        /// run.
        total: usize,
        /// The estimated time of the rest, at the pace so far; at most the rest of the limit.
        left: Duration,
        /// The trial that ended.
        trial: &'a Trial,
        /// The number of decided claims, and of all claims. `None` before the claims are first judged, in a shard, in a
        /// sitting, and if there are no claims.
        decided: Option<(usize, usize)>,
    },
    /// Everything is in the store, so that nothing is lost if kumite is ended now.
    Kept,
}

/// The reason why a run was not measured, or not kept.
#[derive(Debug)]
pub enum MeasureError {
    /// The driver could not be opened, so no trial was made.
    Open(Halt),
    /// The store could not be read or written.
    Store(StoreError),
}

impl From<StoreError> for MeasureError {
    fn from(error: StoreError) -> MeasureError {
        MeasureError::Store(error)
    }
}

impl Measuring<'_> {
    /// Measures the trials that the store does not have yet, judges the claims, and returns the run's document. The
    /// store must have the run's beginning. `tell` is called with each event. An error if the driver cannot be opened,
    /// or the store cannot be read or written; trials that are committed stay in the store.
    pub fn measure(
        self,
        mut run: Run,
        ready: &[Ready],
        store: &mut Store,
        tell: &mut dyn FnMut(RunEvent),
    ) -> Result<Export, MeasureError> {
        let clock = self.world.clock();
        let state = store.folder().to_owned();
        let id = run.id.clone();
        let of = self.experiment.opening(&self.cores, &state, &id, trial_seed(&run), self.stop);
        let of = of.on(self.nodes);
        let mut driver = self.world.open(&of).map_err(MeasureError::Open)?;
        run.unmet = driver.notices();
        run.unmet.iter().for_each(|what| tell(RunEvent::Note(what.clone())));
        if let Some(place) = driver.files() {
            tell(RunEvent::Note(format!("the files of trials are {place}")));
        }
        let ready = with_twin(ready, run.control.as_ref());
        let takes_part = self.experiment.takes_part(&ready, &run.unavailable);
        let contenders = store.contenders(&run.id)?;
        let first = claimed_points(self.experiment, &run, &contenders);
        let whole = plan(&takes_part, &first, run.blocks, run.seed);
        let plan = run.shard.as_ref().map_or(whole.clone(), |shard| whole.share(shard));
        let kept = store.trials(&run.id)?;
        let times = self.experiment.times();
        let decided = RefCell::new(Decided::default());
        let session = Session {
            run: &run,
            contenders: &ready,
            plan: &plan,
            times: &times,
            kept: &kept,
            limit: self.limit,
            undecided: &|trials| {
                if run.shard.is_some() {
                    return all_cells(&run, &ready);
                }
                decided.borrow_mut().add(judged(self.experiment, &run, &contenders, trials));
                let open = undecided(self.experiment, &run, &contenders, trials);
                with_control(open, run.control.as_ref())
            },
        };
        tell(RunEvent::Begins(plan.trials()));
        let ended = execute(&session, driver.as_mut(), clock, store, self.stop, &mut |event| match event {
            Event::Note(note) => tell(RunEvent::Note(note)),
            Event::FirstRound(trials) => {
                for (claim, why) in too_few_values(self.experiment, &run, &contenders, trials) {
                    tell(RunEvent::Unjudgeable(&run, claim, why));
                }
            }
            Event::Trial { done, total, left, trial } => {
                let news = decided.borrow_mut().news();
                news.iter().for_each(|claim| tell(RunEvent::Decided(&run, claim)));
                let decided = decided.borrow().tally();
                tell(RunEvent::Trial { run: &run, done, total, left, trial, decided });
            }
        });
        conclude(store, self.experiment, run, clock.timestamp(), ended?)?;
        tell(RunEvent::Kept);
        Ok(export(store, &id)?)
    }
}

/// All cells of the plan, which a shard measures to its end because it has no verdicts.
fn all_cells(run: &Run, ready: &[Ready]) -> BTreeSet<(String, usize)> {
    let at_points = |ready: &Ready| {
        let name = ready.recorded().to_owned();
        (0..run.points.len()).map(move |point| (name.clone(), point))
    };
    ready.iter().flat_map(at_points).collect()
}
