//! Near-ties, before a run: the claims of an earlier run of the same specification that another sitting may turn
//! round.

use std::path::Path;

use kumite_lab::{Experiment, asks_as, export, near_ties};
use kumite_record::{Export, Store};

use crate::exit::Failure;

/// The lines on the near-ties of an earlier run; empty if there is no such run.
pub fn text(experiment: &Experiment, db: &Path) -> Result<String, Failure> {
    let Some((place, earlier)) = earlier(experiment, db)? else { return Ok(String::new()) };
    let (run, near) = (&earlier.run, near_ties(&earlier)?);
    let (id, of) = (&run.id, earlier.claims.len());
    if near.is_empty() {
        return Ok(format!("of run {id} ({place}) no claim is a near-tie\n"));
    }
    let are = if near.len() == 1 { "is a near-tie" } else { "are near-ties" };
    let mut text = format!(
        "of run {id} ({place}) {} of {of} claims {are}: the border is where the next sitting may be\n",
        near.len()
    );
    for one in &near {
        text += &format!("  {}\n", kumite_report::near_tie(run, one));
    }
    Ok(text)
}

/// The earlier run, and where it is: one in the store, or else the one found in the experiment's folder. None if
/// there is none.
fn earlier(experiment: &Experiment, db: &Path) -> Result<Option<(String, Export)>, Failure> {
    if let Some(kept) = kept(experiment, db)? {
        return Ok(Some(("kept".to_owned(), kept)));
    }
    let name = format!("found/{}.json.gz", experiment.profile);
    let file = experiment.folder.join(&name);
    if !file.is_file() {
        return Ok(None);
    }
    let found = Export::read(&file).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(asks_as(&found.run, experiment)?.then_some((name, found)))
}

/// The run in the store that asks the same: the one with the most sittings, and of those the last. None if there is
/// none.
fn kept(experiment: &Experiment, db: &Path) -> Result<Option<Export>, Failure> {
    if !db.is_file() {
        return Ok(None);
    }
    let store = Store::open_existing(db)?;
    let mut runs = store.runs()?;
    // What an older kumite's file says is no specification any more.
    runs.retain(|run| {
        run.finished.is_some() && run.shard.is_none() && asks_as(run, experiment).unwrap_or(false)
    });
    let best = runs.iter().max_by_key(|run| (run.sittings.len(), run.started));
    Ok(best.map(|run| export(&store, &run.id)).transpose()?)
}
