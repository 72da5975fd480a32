//! The measuring of a run, and the preparation of its nodes, for `run`, `resume` and `again`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use kumite_host::Lock;
use kumite_lab::{Choice, Experiment, Halt, Joined, MeasureError, Measuring, Ready, RunEvent, join};
use kumite_nodes::{Driver, Placed};
use kumite_record::{Cores, Export, Run, Store};
use kumite_report::length;

use crate::exit::Failure;
use crate::progress::Progress;
use crate::wait::Wait;
use crate::{output, stop};

/// Takes the lock of this machine, so that no other kumite measures at the same time, and waits for it as long as
/// `wait` says. Then ends processes that a killed kumite left. A command that only builds takes the lock, too, because
/// building disturbs. An error if another kumite still has the lock after the wait, if the lock cannot be used, or if
/// `stop` is set meanwhile.
pub fn begin_measuring(wait: Wait, stop: &AtomicBool) -> Result<Lock, Failure> {
    let lock = wait.lock(stop)?;
    end_leftovers();
    Ok(lock)
}

/// Ends the processes and removes the files that a killed kumite left, and notes each. Those of a living kumite stay.
pub fn end_leftovers() {
    for orphan in kumite_lab::end_orphans() {
        output::note(&format!(
            "ended process {}, left by a kumite that was killed: {}",
            orphan.pid, orphan.command
        ));
    }
    for folder in kumite_lab::remove_left_files() {
        output::note(&format!("removed {}, left by a kumite that was killed", folder.display()));
    }
}

/// Measures and judges a run, and shows its progress. An error if the run could not be measured.
pub fn measure(
    measuring: Measuring,
    run: Run,
    ready: &[Ready],
    store: &mut Store,
) -> Result<Export, Failure> {
    let mut progress: Option<Progress> = None;
    let measured = measuring.measure(run, ready, store, &mut |event| match (event, &mut progress) {
        (RunEvent::Begins(trials), progress) => *progress = Some(Progress::new(trials)),
        (RunEvent::Note(note), Some(progress)) => progress.note(&note),
        (RunEvent::Note(note), None) => output::note(&note),
        (RunEvent::Unjudgeable(run, claim, why), Some(progress)) => {
            let why = kumite_report::reason(run, &why);
            progress.note(&format!("{claim} cannot be judged, however many blocks there are: {why}"));
        }
        (RunEvent::Decided(run, claim), Some(progress)) => {
            let line = kumite_report::decided(run, claim, &output::style_of_stderr());
            progress.coloured_note(line.trim_end());
        }
        (RunEvent::Trial { run, done, total, left, trial, decided }, Some(progress)) => {
            let figure = kumite_report::first_figure(&run.metrics, &trial.sample.metrics);
            let what = figure.unwrap_or_else(|| trial.outcome.as_str().to_owned());
            let tally = decided.map(|(decided, of)| format!("{decided} of {of} claims decided, "));
            let left = format!("{}at most {} left", tally.unwrap_or_default(), length(left.as_secs_f64()));
            let cell = run.cell(&trial.contender, &trial.point);
            progress.step(done, total, &format!("{left}; {cell}: {what}"));
        }
        (RunEvent::Kept, _) => stop::end_at_once(),
        (RunEvent::Unjudgeable(..) | RunEvent::Decided(..) | RunEvent::Trial { .. }, None) => {}
    });
    progress.iter().for_each(Progress::clear);
    measured.map_err(|error| match error {
        MeasureError::Open(halt) => before_trials(halt),
        MeasureError::Store(error) => error.into(),
    })
}

/// Prepares this machine and the nodes that have roles. An error if a node cannot be reached, or something that the run
/// needs cannot be had.
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

/// The failure of a run that came to no trial.
fn before_trials(halt: Halt) -> Failure {
    match halt {
        Halt::Interrupted => Failure::Incomplete("it was interrupted before the first trial".to_owned()),
        failed => failed.into(),
    }
}

/// The reason why a signal cut the run short, with the command that continues it. `None` if `stop` is not set, for
/// example after a budget, or if the run came to its end.
pub fn interrupted(export: &Export, stop: &AtomicBool) -> Option<String> {
    let why = export.run.cut_short.as_ref().filter(|_| stop.load(Ordering::Relaxed))?;
    Some(format!("{why}; `kumite resume {}` continues it", export.run.id))
}
