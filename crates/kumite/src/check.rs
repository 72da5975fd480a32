//! `kumite check`: every contender builds, starts and answers right, and every profile can decide its claims.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use kumite_host::cores;
use kumite_lab::{
    Checked, Choice, Driver, Experiment, Prepared, WindowFault, Windows, check_disk, open, prepare,
    used_cores,
};
use kumite_record::{Contender, Store};
use kumite_report::{ShortWindow, in_profiles, prospect_faults};

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::measure::end_leftovers;
use crate::store::Db;
use crate::wait::Wait;
use crate::{near_ties, output, stop};

#[derive(Parser)]
pub struct Args {
    #[command(flatten)]
    contenders: Contenders,
    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    db: Db,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let experiment = Experiment::load(&args.contenders.experiment, "quick")?;
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
    check_disk(&experiment, &state)?;
    // Nothing is timed here, so another kumite may go on measuring: its processes are no leftovers.
    end_leftovers();
    let prepared = prepare(&experiment, &choice, &state, &stop, &mut output::note)?;
    let unavailable = experiment.unavailable(&available);
    let can_be = |at: &usize| unavailable.iter().all(|other| other.point != experiment.planned[*at].point);
    let measurable: Vec<usize> = (0..experiment.planned.len()).filter(can_be).collect();
    let mut faults = faulty_plans(&args.contenders.experiment, &experiment)?;
    let of = experiment.opening(&available, &state, "check", 0, &stop);
    let mut driver = open(&of)?;
    driver.notices().iter().for_each(|what| output::note(what));
    let (right, failing) = check_each(&experiment, &choice, &prepared, driver.as_mut(), &measurable, &stop)?;
    drop(driver);
    let names: Vec<&str> = right.iter().map(String::as_str).collect();
    faults.extend(short_windows(args, &experiment, &prepared, &names, &state, &stop)?);
    let right = right.len();
    output::print(&format!("{}: {right} right, {failing} failing\n", experiment.name))?;
    output::print(&near_ties_of_all(&args.contenders.experiment, &experiment, &args.db.path())?)?;
    for fault in &faults {
        output::note(fault);
    }
    conclude(&experiment.name, right, failing, faults.len())
}

/// An error if a contender failed or a profile has a fault.
fn conclude(name: &str, right: usize, failing: usize, faults: usize) -> Result<(), Failure> {
    match (failing, faults) {
        (0, 0) => Ok(()),
        (0, n) => {
            let faults = if n == 1 { "1 fault".to_owned() } else { format!("{n} faults") };
            Err(Failure::Gate(format!("{faults} in what the profiles of {name} can decide")))
        }
        _ => Err(Failure::Gate(format!("{failing} of {} contenders of {name} fail", right + failing))),
    }
}

/// The near-ties of an earlier run of each profile, in words. Profiles without an earlier run are left out.
fn near_ties_of_all(given: &str, experiment: &Experiment, db: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    for profile in &experiment.profiles {
        let earlier = near_ties::of_earlier(&Experiment::load(given, profile)?, db)?;
        text += &earlier.map_or(String::new(), |earlier| {
            format!("profile {profile}: {}", kumite_report::near_ties(&earlier))
        });
    }
    Ok(text)
}

/// The claims that the profiles of an experiment cannot decide, in words. All contenders count, whichever are
/// checked.
fn faulty_plans(given: &str, experiment: &Experiment) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for profile in &experiment.profiles {
        let experiment = Experiment::load(given, profile)?;
        let variants = experiment.variants();
        let all: Vec<&str> = variants.iter().map(|(_, variant)| variant.name.as_str()).collect();
        let prospects = kumite_lab::prospects(&experiment, &cores(), &all);
        let faults = prospect_faults(&prospects, experiment.blocks);
        found.extend(faults.into_iter().map(|fault| format!("profile {profile}: {fault}")));
    }
    Ok(found)
}

/// Checks each contender, and prints a line on it. Returns those that are right, and the number of those that fail.
fn check_each(
    experiment: &Experiment,
    choice: &Choice,
    prepared: &Prepared,
    driver: &mut dyn Driver,
    measurable: &[usize],
    stop: &AtomicBool,
) -> Result<(Vec<String>, usize), Failure> {
    let (mut right, mut failing, mut printed) = (Vec::new(), 0, Ok(()));
    let mut tell = |contender: &Contender, checked: Checked| {
        let name = &contender.name;
        let line = match checked {
            Checked::Right(how) => {
                right.push(name.clone());
                format!("✓ {name} {how}: {}\n", contender.version.as_deref().unwrap_or_default())
            }
            failed => {
                failing += 1;
                format!("✗ {name}{}\n", failing_words(contender, failed))
            }
        };
        printed = std::mem::replace(&mut printed, Ok(())).and_then(|()| output::print(&line));
    };
    kumite_lab::check_each(experiment, choice, prepared, driver, measurable, stop, &mut tell)?;
    printed.map(|()| (right, failing))
}

/// The words behind the name of a contender in its line.
fn failing_words(contender: &Contender, checked: Checked) -> String {
    match checked {
        Checked::Right(how) => format!(" {how}"),
        Checked::NotReady => {
            let reason = contender.reason.as_deref().unwrap_or_default();
            format!(" {}: {reason}", contender.status.as_str())
        }
        Checked::Wrong { code: None, why } => format!(": {why}"),
        Checked::Wrong { code: Some((parameter, value)), why } => format!(": {parameter} {value}: {why}"),
        Checked::Written(path) => format!(
            ": it wrote {} into its own build, where its next trial would find it: write elsewhere, then run `kumite build --no-cache`",
            path.display()
        ),
    }
}

/// The windows that are too short for the percentiles of claims, or in which a trial failed, in words. If another
/// kumite measures for longer than `--wait`, that is noted, and none is tried.
fn short_windows(
    args: &Args,
    experiment: &Experiment,
    prepared: &Prepared,
    right: &[&str],
    state: &Path,
    stop: &AtomicBool,
) -> Result<Vec<String>, Failure> {
    let windows = Windows::of(&args.contenders.experiment, &experiment.profiles, right)?;
    if windows.is_empty() {
        return Ok(Vec::new());
    }
    let _lock = match args.wait.lock(stop) {
        Ok(lock) => lock,
        Err(why) if stop.load(Ordering::Relaxed) => return Err(why),
        Err(why) => {
            output::note(&format!("windows were not checked for percentiles: {why}"));
            return Ok(Vec::new());
        }
    };
    output::note("checking that windows are long enough for the percentiles of claims");
    let faults = windows.faults(prepared, state, stop)?;
    Ok(faults.iter().map(|(fault, profiles)| window_words(fault, profiles)).collect())
}

fn window_words(fault: &WindowFault, profiles: &[&str]) -> String {
    match fault {
        WindowFault::Failed { cell, why } => format!("{}: {cell}: {why}", in_profiles(profiles)),
        WindowFault::Short { claim, cell, short } => kumite_report::short_window(&ShortWindow {
            profiles,
            claim,
            cell,
            metric: &short.of.metric,
            needs: short.needs,
            per_s: short.per_s,
            window_s: short.window_s,
            enough: short.enough.as_ref(),
        }),
    }
}
