//! `kumite check`: every contender builds, starts and answers right.

use std::sync::atomic::AtomicBool;

use clap::Parser;
use kumite_host::cores;
use kumite_lab::{
    Choice, Driver, Experiment, Halt, Planned, Prepared, Ready, check_disk, open, prepare, used_cores,
};
use kumite_record::{Point, Store};

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::measure::begin_measuring;
use crate::store::Db;
use crate::{output, prospects, stop};

#[derive(Parser)]
pub struct Args {
    /// An experiment below experiments/, or a folder with an experiment.toml
    experiment: String,
    #[command(flatten)]
    contenders: Contenders,
    #[command(flatten)]
    db: Db,
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
    let store = Store::open(&args.db.path())?;
    let state = store.folder().to_owned();
    check_disk(&experiment, &state).map_err(Failure::Incomplete)?;
    let _lock = begin_measuring()?;
    let prepared = prepare(&experiment, &choice, &state, &stop, &mut output::note)?;
    let unavailable = experiment.unavailable(&available);
    let can_be = |planned: &&Planned| unavailable.iter().all(|other| other.point != planned.point);
    let planned: Vec<&Planned> = experiment.planned.iter().filter(can_be).collect();
    let faults = faulty_plans(&args.experiment, &experiment)?;
    let of = experiment.opening(&available, &state, "check", 0, &stop);
    let mut driver = open(&of)?;
    driver.notices().iter().for_each(|what| output::note(what));
    let (right, failing) = check_each(&experiment, &choice, &prepared, driver.as_mut(), &planned, &stop)?;
    output::print(&format!("{}: {right} right, {failing} failing\n", experiment.name))?;
    for fault in &faults {
        output::note(fault);
    }
    match (failing, faults.len()) {
        (0, 0) => Ok(()),
        (0, n) => {
            Err(Failure::Gate(format!("what the profiles of {} can decide has faults: {n}", experiment.name)))
        }
        _ => Err(Failure::Gate(format!(
            "{failing} of {} contenders of {} are failing",
            right + failing,
            experiment.name
        ))),
    }
}

/// What the profiles of an experiment cannot decide, whichever contenders are checked.
fn faulty_plans(given: &str, experiment: &Experiment) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for profile in &experiment.profiles {
        let experiment = Experiment::load(given, profile)?;
        let variants = experiment.variants();
        let all: Vec<&str> = variants.iter().map(|(_, variant)| variant.name.as_str()).collect();
        let faults =
            prospects::faults(&kumite_lab::prospects(&experiment, &cores(), &all), experiment.blocks);
        found.extend(faults.into_iter().map(|fault| format!("profile {profile}: {fault}")));
    }
    Ok(found)
}

/// How many contenders are right, and how many are failing. Prints a line on each.
fn check_each(
    experiment: &Experiment,
    choice: &Choice,
    prepared: &Prepared,
    driver: &mut dyn Driver,
    planned: &[&Planned],
    stop: &AtomicBool,
) -> Result<(usize, usize), Failure> {
    let (mut right, mut failing) = (0, 0);
    for contender in prepared.contenders.iter().filter(|contender| choice.left_out(&contender.name).is_none())
    {
        let name = &contender.name;
        let Some(ready) = prepared.ready.iter().find(|ready| ready.name == *name) else {
            failing += 1;
            let reason = contender.reason.as_deref().unwrap_or_default();
            output::print(&format!("✗ {name} {}: {reason}\n", contender.status.as_str()))?;
            continue;
        };
        let points = experiment.checked_at(planned, name);
        if points.is_empty() {
            break;
        }
        let mut answered = answered(experiment, driver, ready, &points, stop)?;
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
                failing += 1;
                format!("✗ {name}: {why}\n")
            }
        };
        output::print(&line)?;
    }
    Ok((right, failing))
}

/// How a contender answers at these points, or why not right.
fn answered(
    experiment: &Experiment,
    driver: &mut dyn Driver,
    ready: &Ready,
    points: &[&Point],
    stop: &AtomicBool,
) -> Result<Result<&'static str, String>, Failure> {
    let mut answered = "";
    for point in points {
        answered = match driver.check(ready, point, stop) {
            Err(Halt::Failed(why)) => {
                let code = experiment.code(point).map(|(parameter, value)| format!("{parameter} {value}: "));
                return Ok(Err(format!("{}{why}", code.unwrap_or_default())));
            }
            checked => checked?,
        };
    }
    Ok(Ok(answered))
}
