//! `--role engine`: a run that another node measures. What it asks of the nodes of the server and the services comes here,
//! for only from here is there a way to them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_agent::{Ask, Link, Node, Program, Said, Way};
use kumite_lab::{Experiment, export, seed_of};
use kumite_record::{Store, StoreError};

use super::Args;
use crate::exit::Failure;
use crate::on::sent_folders;
use crate::output;
use crate::roles::Placed;

const LOOK: Duration = Duration::from_millis(200);

/// Has the engine's node execute and judge the run, and takes what it has kept.
pub fn run(
    args: &Args,
    experiment: &Experiment,
    (engine, placed): (&Node, &Placed),
    seed: u64,
    stop: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let mut store = Store::open(&args.db.path())?;
    let folder = tempfile::tempdir().map_err(|error| Failure::Incomplete(error.to_string()))?;
    let program = Program::own().map_err(Failure::Incomplete)?;
    let way = Way::To(engine, &program);
    let failed = Failure::Incomplete;
    let log = folder.path().join("way.log");
    let mut link = Link::open(engine.name(), &way, crate::VERSION, &log, stop).map_err(failed)?;
    output::note(&format!("{}: connected in {:.1} s", engine.name(), link.connected_in.as_secs_f64()));
    let (here, _) = link.addresses().map_err(failed)?;
    let (mut relays, nodes) = placed.relays(here, experiment, stop)?;
    let (named, folders) = sent_folders(experiment).map_err(failed)?;
    let key = format!("{:08x}{seed:08x}{:08x}", seed_of(experiment), 0);
    link.prepare(&key, &folders, stop).map_err(failed)?;
    let mut arguments = args.words(seed, args.budget);
    arguments.push(nodes);
    link.ask(&Ask::Run { experiment: named, arguments }, stop).map_err(failed)?;
    loop {
        match link.next(LOOK, stop).map_err(failed)? {
            None => {}
            Some(Said::Note(text)) => output::note(&format!("{}: {text}", engine.name())),
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
        return Err(Failure::Incomplete(why));
    };
    let is_complete = whole.run.cut_short.is_none();
    store.put(&whole)?;
    if is_complete {
        link.ask(&Ask::Forget, stop).map_err(failed)?;
    }
    link.close();
    let export = export(&store, &whole.run.id)?;
    args.gate.conclude(export, &args.documents, args.length.report(), |export| match &export.run.cut_short {
        Some(why) => Err(Failure::Incomplete(format!(
            "{why}; the same command with --seed {seed} goes on where it stopped"
        ))),
        None => Ok(()),
    })
}
