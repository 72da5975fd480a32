//! `--role engine`: a run that another node measures. Its questions to the nodes of the server and the services come
//! here, since only this machine has a way to them.
//!
//! The engine's node executes and judges the run in a store of its own. One thread here relays questions and answers
//! until the run is done, and then fetches that store. If either link breaks, the run ends, and its trials stay on
//! the engine's node, where the same command with the same seed goes on.

use std::time::Duration;

use kumite_agent::{Ask, Event, Program};
use kumite_lab::{export, seed_of};
use kumite_record::{Export, Store, StoreError};

use crate::away::Away;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::on::sent_folders;
use crate::roles::Placed;

const LOOK: Duration = Duration::from_millis(200);

/// Has the engine's node execute and judge the run, and fetches its store. An error if a node cannot be reached, the
/// run fails there, or the store cannot be kept.
pub fn apart(driver: &Driver, away: &Away, placed: &Placed) -> Result<Export, Failure> {
    let engine = placed.engine().ok_or(Failure::NoEngine)?;
    let (experiment, stop) = (away.experiment, &driver.stop);
    let mut store = Store::open(&away.db)?;
    let folder = tempfile::tempdir().map_err(Failure::Scratch)?;
    let program = Program::own()?;
    let mut link = driver.link(engine, &program, &folder.path().join("way.log"), stop)?;
    let (here, _) = link.addresses()?;
    let (mut relays, nodes) = placed.relays(here, experiment, driver)?;
    let (named, folders) = sent_folders(experiment)?;
    let key = format!("{:08x}{:08x}{:08x}", seed_of(experiment), away.seed, 0);
    link.prepare(&key, &folders, stop)?;
    let mut arguments = away.arguments();
    arguments.push(nodes);
    link.ask(&Ask::Run { experiment: named, arguments }, stop)?;
    loop {
        match link.next(LOOK, stop)? {
            None => {}
            Some(Event::Note(text)) => driver.note(&format!("{}: {text}", engine.name())),
            Some(Event::Relay { node, work }) => link.ask(&relays.answer(&node, &work), stop)?,
            Some(Event::Done(_)) => break,
        }
    }
    drop(relays);
    let file = folder.path().join("engine.db");
    link.store(&file, stop)?;
    let there = Store::open_existing(&file)?;
    let whole = match there.find("last") {
        // The run ended before its first trial.
        Err(StoreError::NoSuchRun { .. }) => None,
        id => Some(there.read(&id?)?).filter(|whole| whole.run.finished.is_some()),
    };
    let whole = whole.ok_or_else(|| Failure::NoTrial { node: engine.name().to_owned() })?;
    let is_complete = whole.run.cut_short.is_none();
    store.put(&whole)?;
    if is_complete {
        link.ask(&Ask::Forget, stop)?;
    }
    link.close();
    Ok(export(&store, &whole.run.id)?)
}
