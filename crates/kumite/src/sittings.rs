//! The sittings of a run: those that a store has, and the run that is made of them.

use std::collections::BTreeSet;

use kumite_lab::{export, join_sittings};
use kumite_record::{Export, Run, Sitting, Store, StoredRun};

use crate::exit::Failure;
use crate::output;

/// The most rounds of a sitting, if `kumite run --sittings` is given no --blocks.
pub const ROUNDS: u32 = 10;

/// The error that --sittings is given for a run that is executed on other nodes. `with` are the flags that say so.
pub fn sittings_elsewhere(with: &str) -> Failure {
    let why = "each node would have its own: run it on each, and `kumite merge` their stores";
    Failure::Usage(format!("--sittings cannot be combined with {with}: {why}"))
}

/// The facts of a sitting before its first trial, from its run. `first` is the id of the first sitting; `None` if this
/// is the first.
pub fn sitting(run: &Run, first: Option<&str>) -> Sitting {
    Sitting {
        run: run.id.clone(),
        again_of: first.map(str::to_owned),
        seed: run.seed,
        started: run.started,
        machine: kumite_host::boot(),
        rounds: run.blocks,
        ..Sitting::default()
    }
}

/// All sittings that belong together with the run `id`, or from which the run `id` was joined, the earliest first.
/// Sittings that are not finished or not joined yet are among them. A run that was never measured again is the only
/// one. An error if the store cannot be read.
pub fn together(store: &Store, id: &str) -> Result<Vec<Run>, Failure> {
    let runs = store.runs()?;
    let mut ids = BTreeSet::from([id.to_owned()]);
    loop {
        let before = ids.len();
        for run in &runs {
            let tied = tied(run);
            if tied.iter().any(|id| ids.contains(*id)) {
                ids.extend(tied.into_iter().map(str::to_owned));
            }
        }
        if ids.len() == before {
            return Ok(runs.into_iter().filter(|run| !is_joined(run) && ids.contains(&run.id)).collect());
        }
    }
}

/// The ids of the runs that a run says it belongs together with, its own included.
fn tied(run: &Run) -> Vec<&str> {
    let sittings = run.sittings.iter().flat_map(|of| [Some(of.run.as_str()), of.again_of.as_deref()]);
    std::iter::once(run.id.as_str()).chain(sittings.flatten()).collect()
}

/// True of a run that was made of several sittings, each of which is a run of its own.
pub fn is_joined(run: &Run) -> bool {
    run.sittings.len() > 1
}

/// Joins all sittings that belong together with the run `id`, judges them, and keeps the joined run. If there is only
/// one sitting, its run is returned as it is. An error if the store cannot be read or written.
pub fn joined(store: &mut Store, id: &str) -> Result<Export, Failure> {
    let all = together(store, id)?;
    if all.len() < 2 {
        return Ok(export(store, id)?);
    }
    let all: Vec<StoredRun> = all.iter().map(|run| store.read(&run.id)).collect::<Result<_, _>>()?;
    join(store, &all)
}

/// Joins sittings, judges them, and keeps the run that is made of them. Also keeps each sitting that the store does not
/// have, or has with fewer trials. If some of them were joined before, the new run takes the place of the run that was
/// made of them. An error if the sittings are not of one run, or the store cannot be written.
pub fn join(store: &mut Store, sittings: &[StoredRun]) -> Result<Export, Failure> {
    let is_one = |id: &str| sittings.iter().any(|of| of.run.id == id);
    let has_some = |run: &Run| is_joined(run) && tied(run).into_iter().any(is_one);
    let before = store.runs()?.into_iter().find(has_some).map(|run| run.id);
    let first = sittings.iter().map(|of| &of.run).min_by_key(|run| (run.started, &run.id));
    let new = || format!("{}-sittings", first.map_or("no", |first| &first.id));
    let joined = join_sittings(sittings, before.unwrap_or_else(new), output::command_line_without_files())?;
    for of in sittings {
        let kept = if store.run(&of.run.id).is_ok() { store.trials(&of.run.id)?.len() } else { 0 };
        if kept < of.trials.len() {
            store.put(of)?;
        }
    }
    store.put(&joined)?;
    let id = &joined.run.id;
    output::note(&format!(
        "{} sittings are kept as run {id} in {}; `kumite report {id}` shows it again",
        sittings.len(),
        store.path().display(),
    ));
    Ok(export(store, id)?)
}
