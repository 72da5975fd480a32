//! What `run` and `resume` have in common: nodes that get ready, measuring, judging.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_host::Lock;
use kumite_lab::{
    Choice, Event, Experiment, Halt, Joined, Nodes, Ready, Session, claimed_points, conclude, execute,
    export, humane, join, judged, plan, too_few_values, trial_seed, undecided,
};
use kumite_nodes::{Driver, Placed};
use kumite_record::{Claim, Cores, Export, Metric, Run, Store, Unit, Verdict};

use crate::exit::Failure;
use crate::progress::Progress;
use crate::world::World;
use crate::{output, stop};

/// Makes sure that nobody else measures on this machine, for building disturbs too, and ends what a killed kumite left.
pub fn begin_measuring() -> Result<Lock, Failure> {
    let lock = Lock::of_machine().map_err(|error| Failure::Incomplete(error.to_string()))?;
    end_leftovers();
    Ok(lock)
}

/// Ends what a killed kumite left, and says so. What a living one has is nothing of that.
pub fn end_leftovers() {
    for orphan in kumite_lab::end_orphans() {
        output::note(&format!(
            "ended process {}, which a killed kumite had left: {}",
            orphan.pid, orphan.command
        ));
    }
    for folder in kumite_lab::remove_left_files() {
        output::note(&format!("removed {}, which a killed kumite had left", folder.display()));
    }
}

/// A run that is about to be measured, or to be measured on.
pub struct Measuring<'a> {
    pub world: &'a dyn World,
    pub experiment: &'a Experiment,
    pub cores: Cores,
    pub nodes: Nodes,
    pub budget: Option<Duration>,
    pub stop: &'a AtomicBool,
}

impl Measuring<'_> {
    /// Measures what the store does not have yet, and judges. The store has the run's beginning.
    pub fn measure(self, mut run: Run, ready: &[Ready], store: &mut Store) -> Result<Export, Failure> {
        let clock = self.world.clock();
        let state = store.folder().to_owned();
        let id = run.id.clone();
        let of = self.experiment.opening(&self.cores, &state, &id, trial_seed(&run), self.stop);
        let of = of.on(self.nodes);
        let mut driver = self.world.open(&of).map_err(before_trials)?;
        run.unmet = driver.notices();
        run.unmet.iter().for_each(|what| output::note(what));
        driver.files().iter().for_each(|place| output::note(&format!("the files of trials are {place}")));
        let takes_part = self.experiment.takes_part(ready, &run.unavailable);
        let contenders = store.contenders(&run.id)?;
        let first = claimed_points(self.experiment, &run, &contenders);
        let whole = plan(&takes_part, &first, run.blocks, run.seed);
        let plan = run.shard.as_ref().map_or(whole.clone(), |shard| whole.share(shard));
        let kept = store.trials(&run.id)?;
        let times = self.experiment.times();
        let live = Live::default();
        let session = Session {
            run: &run,
            contenders: ready,
            plan: &plan,
            times: &times,
            kept: &kept,
            budget: self.budget,
            undecided: &|trials| {
                if run.shard.is_some() {
                    return all_cells(&run, ready);
                }
                live.look(|| judged(self.experiment, &run, &contenders, trials));
                undecided(self.experiment, &run, &contenders, trials)
            },
        };
        let mut progress = Progress::new(plan.trials());
        let ended = execute(&session, driver.as_mut(), clock, store, self.stop, &mut |event| match event {
            Event::Note(note) => progress.note(&note),
            Event::FirstRound(trials) => {
                for (claim, why) in too_few_values(self.experiment, &run, &contenders, trials) {
                    let why = kumite_report::reason(&run, &why);
                    progress.note(&format!("{claim} cannot be judged, by however many blocks: {why}"));
                }
            }
            Event::Trial { done, total, left, trial } => {
                for claim in live.news() {
                    progress.coloured_note(
                        kumite_report::decided(&run, &claim, &output::style_of_stderr()).trim_end(),
                    );
                }
                let what = result(&run.metrics, &trial.sample.metrics)
                    .unwrap_or_else(|| trial.outcome.as_str().to_owned());
                let left = format!("{}at most {} left", live.tally(), humane(left));
                let cell = run.cell(&trial.contender, &trial.point);
                progress.step(done, total, &format!("{left}; {cell}: {what}"));
            }
        });
        progress.clear();
        conclude(store, self.experiment, run, clock.timestamp(), ended?)?;
        stop::end_at_once();
        Ok(export(store, &id)?)
    }
}

/// A shard has no verdicts to end by.
fn all_cells(run: &Run, ready: &[Ready]) -> BTreeSet<(String, usize)> {
    let at_points = |ready: &Ready| {
        let name = ready.name.clone();
        (0..run.points.len()).map(move |point| (name.clone(), point))
    };
    ready.iter().flat_map(at_points).collect()
}

/// Which claims are decided while a run goes on.
#[derive(Default)]
struct Live(RefCell<Seen>);

#[derive(Default)]
struct Seen {
    claims: usize,
    decided: BTreeSet<String>,
    /// Those that nobody was told of.
    news: Vec<Claim>,
}

impl Live {
    fn look(&self, judged: impl Fn() -> Vec<Claim>) {
        let seen = &mut *self.0.borrow_mut();
        let claims = judged();
        seen.claims = claims.len();
        for claim in claims {
            let open = matches!(claim.verdict, Verdict::Undecided | Verdict::NotTested);
            let is_news = match open {
                // Where nothing freezes, a verdict may be taken back.
                true => seen.decided.remove(&claim.id),
                false => seen.decided.insert(claim.id.clone()),
            };
            if is_news {
                seen.news.push(claim);
            }
        }
    }

    fn news(&self) -> Vec<Claim> {
        std::mem::take(&mut self.0.borrow_mut().news)
    }

    /// `3 of 13 claims decided, `
    fn tally(&self) -> String {
        match &*self.0.borrow() {
            Seen { claims: 0, .. } => String::new(),
            Seen { claims, decided, .. } => format!("{} of {claims} claims decided, ", decided.len()),
        }
    }
}

/// Has this machine and the nodes that have roles get ready.
pub fn joined(
    placed: &Placed,
    experiment: &Experiment,
    choice: &Choice,
    here: &Cores,
    state: &Path,
    driver: &Driver,
) -> Result<Joined, Failure> {
    let nodes = placed.nodes(experiment, driver)?;
    join(experiment, choice, nodes, here, state, &driver.stop, &mut output::note).map_err(before_trials)
}

/// A run that came to no trial.
fn before_trials(halt: Halt) -> Failure {
    match halt {
        Halt::Interrupted => Failure::Incomplete("it was interrupted before the first trial".to_owned()),
        failed => failed.into(),
    }
}

/// How a run that was interrupted goes on.
pub fn resumes(export: &Export, stop: &AtomicBool) -> Option<String> {
    stop.load(Ordering::Relaxed).then(|| format!("`kumite resume {}` goes on with it", export.run.id))
}

/// What a reader asks first: the first of the declared metrics that a trial has.
fn result(declared: &[Metric], measured: &BTreeMap<String, f64>) -> Option<String> {
    let found = declared.iter().find_map(|metric| Some((metric, *measured.get(&metric.name)?)));
    found.map(|(Metric { name, unit, .. }, value)| {
        let digits = if value.abs() < 10.0 && value.fract() != 0.0 { 2 } else { 0 };
        let words = Unit::without(name).replace('_', " ");
        format!("{words} {value:.digits$} {}", unit.symbol()).trim_end().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_told_once_when_it_is_decided() {
        let claim = |id: &str, verdict| Claim { id: id.into(), verdict, ..Claim::default() };
        let live = Live::default();
        assert_eq!(live.tally(), "");
        let ids = |live: &Live| live.news().into_iter().map(|claim| claim.id).collect::<Vec<_>>();
        live.look(|| vec![claim("a", Verdict::Undecided), claim("b", Verdict::Fails)]);
        assert_eq!((ids(&live), live.tally().as_str()), (vec!["b".to_owned()], "1 of 2 claims decided, "));
        live.look(|| vec![claim("a", Verdict::Holds), claim("b", Verdict::Fails)]);
        assert_eq!(ids(&live), ["a"]);
        assert!(ids(&live).is_empty());
    }

    #[test]
    fn the_result_of_a_trial_is_the_first_metric_that_it_has() {
        let declared = ["recovery_ms", "throughput_rps", "error_p99_us", "cold_calls"];
        let declared = declared.map(|name| Metric::new(name, "One."));
        let of = |metrics: &[(&str, f64)]| {
            result(&declared, &metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
        };
        let words = of(&[("error_p99_us", 1.0), ("throughput_rps", 812.4)]);
        assert_eq!(words.as_deref(), Some("throughput 812 /s"));
        assert_eq!(of(&[("error_p99_us", 1.256)]).as_deref(), Some("error p99 1.26 us"));
        assert_eq!(of(&[("cold_calls", 3.0)]).as_deref(), Some("cold calls 3"));
        assert_eq!(of(&[("unknown", 3.0)]), None);
    }
}
