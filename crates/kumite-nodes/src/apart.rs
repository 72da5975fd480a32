//! `--role engine`: a run that another node measures. What it asks of the nodes of the server and the services comes here,
//! for only from here is there a way to them.

use std::time::Duration;

use kumite_agent::{Ask, Program, Said};
use kumite_lab::{export, seed_of};
use kumite_record::{Export, Store, StoreError};

use crate::away::Away;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::on::sent_folders;
use crate::roles::Placed;

const LOOK: Duration = Duration::from_millis(200);

/// Has the engine's node execute and judge the run, and takes what it has kept.
pub fn apart(driver: &Driver, away: &Away, placed: &Placed) -> Result<Export, Failure> {
    let failed = Failure::Incomplete;
    let engine = placed.engine().ok_or_else(|| failed("no node has the role engine".to_owned()))?;
    let (experiment, stop) = (away.experiment, &driver.stop);
    let mut store = Store::open(&away.db)?;
    let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let program = Program::own().map_err(failed)?;
    let mut link = driver.link(engine, &program, &folder.path().join("way.log"), stop).map_err(failed)?;
    let (here, _) = link.addresses().map_err(failed)?;
    let (mut relays, nodes) = placed.relays(here, experiment, driver)?;
    let (named, folders) = sent_folders(experiment).map_err(failed)?;
    let key = format!("{:08x}{:08x}{:08x}", seed_of(experiment), away.seed, 0);
    link.prepare(&key, &folders, stop).map_err(failed)?;
    let mut arguments = away.words(away.budget);
    arguments.push(nodes);
    link.ask(&Ask::Run { experiment: named, arguments }, stop).map_err(failed)?;
    loop {
        match link.next(LOOK, stop).map_err(failed)? {
            None => {}
            Some(Said::Note(text)) => driver.note(&format!("{}: {text}", engine.name())),
            Some(Said::Relay { node, work }) => {
                let relayed = relays.does(&node, &work);
                link.ask(&relayed, stop).map_err(failed)?;
            }
            Some(Said::Done(_)) => break,
        }
    }
    drop(relays);
    let file = folder.path().join("engine.db");
    link.store(&file, stop).map_err(failed)?;
    let there = Store::open_existing(&file)?;
    let whole = match there.find("last") {
        // It ended before its first trial could be.
        Err(StoreError::NoSuchRun { .. }) => None,
        id => Some(there.read(&id?)?).filter(|whole| whole.run.finished.is_some()),
    };
    let Some(whole) = whole else {
        let why = format!("{}: the run came to no trial; what it said above is why", engine.name());
        return Err(failed(why));
    };
    let is_complete = whole.run.cut_short.is_none();
    store.put(&whole)?;
    if is_complete {
        link.ask(&Ask::Forget, stop).map_err(failed)?;
    }
    link.close();
    Ok(export(&store, &whole.run.id)?)
}
