//! Near-ties, before a run: the claims of an earlier run of the same specification that another sitting may turn
//! round.

use std::path::Path;

use kumite_lab::{Experiment, asks_as, export, near_ties};
use kumite_record::{Export, NearTies, RunPlace, Store};

use crate::exit::Failure;

/// The near-ties of an earlier run of the experiment; `None` if there is no such run. An error if the store, or the
/// file of the run that was found, cannot be read.
pub fn of_earlier(experiment: &Experiment, db: &Path) -> Result<Option<NearTies>, Failure> {
    let Some((place, earlier)) = earlier(experiment, db)? else { return Ok(None) };
    let near = near_ties(&earlier)?;
    Ok(Some(NearTies { place, claims: earlier.claims.len(), near, run: earlier.run }))
}

/// The earlier run, and where it is: one in the store, or else the one found in the experiment's folder. None if
/// there is none.
fn earlier(experiment: &Experiment, db: &Path) -> Result<Option<(RunPlace, Export)>, Failure> {
    if let Some(kept) = kept(experiment, db)? {
        return Ok(Some((RunPlace::Store, kept)));
    }
    let name = format!("found/{}.json.gz", experiment.profile);
    let file = experiment.folder.join(&name);
    if !file.is_file() {
        return Ok(None);
    }
    let found = Export::read(&file).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(asks_as(&found.run, experiment)?.then_some((RunPlace::File(name), found)))
}

/// The finished run in the store that asks the same: the one with the most sittings, and of those the last. None if
/// there is none.
fn kept(experiment: &Experiment, db: &Path) -> Result<Option<Export>, Failure> {
    if !db.is_file() {
        return Ok(None);
    }
    let store = Store::open_existing(db)?;
    let mut runs = store.runs()?;
    // The specification of an older kumite's run may be none any more: such a run is left out.
    runs.retain(|run| {
        run.finished.is_some() && run.shard.is_none() && asks_as(run, experiment).unwrap_or(false)
    });
    let best = runs.iter().max_by_key(|run| (run.sittings.len(), run.started));
    Ok(best.map(|run| export(&store, &run.id)).transpose()?)
}
