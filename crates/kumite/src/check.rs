//! `kumite check`: every contender builds, starts and answers right.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Parser;
use kumite_lab::{Experiment, HttpExecutor, cores, prepare, used_cores};
use kumite_record::Store;

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::measure::begin_measuring;
use crate::run::DEFAULT_DB;
use crate::{output, stop};

#[derive(Parser)]
pub struct Args {
    /// An experiment below experiments/, or a folder with an experiment.toml
    experiment: String,
    #[command(flatten)]
    contenders: Contenders,
    /// The results store; builds and logs are kept beside it
    #[arg(long, value_name = "FILE", default_value = DEFAULT_DB)]
    db: PathBuf,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let experiment = Experiment::load(&args.experiment, "quick")?;
    let choice = args.contenders.choice();
    choice.check(&experiment)?;
    let available = cores();
    used_cores(&experiment, &available)?;
    if experiment.variants().iter().all(|(_, variant)| choice.left_out(&variant.name).is_some()) {
        return Err(Failure::Usage("--only and --skip leave no contender to check".to_owned()));
    }
    let stop = stop::flag()?;
    let store = Store::open(&args.db)?;
    let state = store.folder().to_owned();
    let _lock = begin_measuring(&state)?;
    let prepared = prepare(&experiment, &choice, &state, &stop, &mut output::note)?;
    let executor = HttpExecutor::new(&experiment, available, &state, "check").map_err(Failure::Incomplete)?;
    let points = experiment.points();
    let (mut right, mut wanting) = (0, 0);
    for contender in &prepared.contenders {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let name = &contender.name;
        if choice.left_out(name).is_some() {
            continue;
        }
        let Some(ready) = prepared.ready.iter().find(|ready| ready.name == *name) else {
            wanting += 1;
            let reason = contender.reason.as_deref().unwrap_or_default();
            output::print(&format!("✗ {name} {}: {reason}\n", contender.status.as_str()))?;
            continue;
        };
        let line = match executor.check(ready, &points[0], &stop) {
            None => break,
            Some(Ok(_)) => {
                right += 1;
                format!("✓ {name} answers right: {}\n", contender.version.as_deref().unwrap_or_default())
            }
            Some(Err(why)) => {
                wanting += 1;
                format!("✗ {name}: {why}\n")
            }
        };
        output::print(&line)?;
    }
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::Incomplete("it was interrupted".to_owned()));
    }
    output::print(&format!("{}: {right} right, {wanting} wanting\n", experiment.name))?;
    match wanting {
        0 => Ok(()),
        _ => Err(Failure::Gate(format!(
            "{wanting} of {} contenders of {} are wanting",
            right + wanting,
            experiment.name
        ))),
    }
}
