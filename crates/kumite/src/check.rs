//! `kumite check`: every contender builds, starts and answers right.

use std::path::PathBuf;

use clap::Parser;
use kumite_host::cores;
use kumite_lab::{Experiment, Halt, Planned, check_disk, open, prepare, used_cores};
use kumite_record::Store;

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::measure::begin_measuring;
use crate::store::DEFAULT_DB;
use crate::{output, stop};

#[derive(Parser)]
pub struct Args {
    /// An experiment below experiments/, or a folder with an experiment.toml
    experiment: String,
    #[command(flatten)]
    contenders: Contenders,
    /// The results store; logs are kept beside it
    #[arg(long, value_name = "FILE", default_value = DEFAULT_DB)]
    db: PathBuf,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let experiment = Experiment::load(&args.experiment, "quick")?;
    experiment.doubts.iter().for_each(|what| output::note(what));
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
    check_disk(&experiment, &state).map_err(Failure::Incomplete)?;
    let _lock = begin_measuring(&state)?;
    let prepared = prepare(&experiment, &choice, &state, &stop, &mut output::note)?;
    let unavailable = experiment.unavailable(&available);
    let can_be = |planned: &&Planned| unavailable.iter().all(|other| other.point != planned.point);
    let planned: Vec<&Planned> = experiment.planned.iter().filter(can_be).collect();
    let of = experiment.opening(&available, &state, "check", 0, &stop);
    let mut driver = open(&of)?;
    driver.notices().iter().for_each(|what| output::note(what));
    let (mut right, mut wanting) = (0, 0);
    for contender in &prepared.contenders {
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
        let points = experiment.checked_at(&planned, name);
        if points.is_empty() {
            break;
        }
        let mut answered = Ok("");
        for point in points {
            let code = experiment.code(point).map(|(parameter, value)| format!("{parameter} {value}: "));
            answered = match driver.check(ready, point, &stop) {
                Err(Halt::Failed(why)) => Err(format!("{}{why}", code.unwrap_or_default())),
                checked => Ok(checked?),
            };
            if answered.is_err() {
                break;
            }
        }
        if answered.is_ok()
            && let Some(path) = prepared.written(name).map_err(Failure::Incomplete)?
        {
            answered = Err(format!(
                "{} was written after the build, and whoever uses the build next finds that: write elsewhere, and \
                 `kumite build --no-cache` makes it good",
                path.display()
            ));
        }
        let line = match answered {
            Ok(answered) => {
                right += 1;
                format!("✓ {name} {answered}: {}\n", contender.version.as_deref().unwrap_or_default())
            }
            Err(why) => {
                wanting += 1;
                format!("✗ {name}: {why}\n")
            }
        };
        output::print(&line)?;
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
