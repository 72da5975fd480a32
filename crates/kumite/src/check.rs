//! `kumite check`: every contender builds, starts and answers right.

mod windows;

use std::sync::atomic::AtomicBool;

use clap::Parser;
use kumite_host::cores;
use kumite_lab::{
    Answered, Answers, Choice, Driver, Experiment, Fault, Halt, Prepared, chain, check_disk, open, prepare,
    used_cores,
};
use kumite_record::{Contender, Point, Store, Votes, unlike_the_others};

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::measure::end_leftovers;
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
    check_disk(&experiment, &state)?;
    // Nothing is timed here: who measures is not asked to end, and none of its processes is a leftover.
    end_leftovers();
    let prepared = prepare(&experiment, &choice, &state, &stop, &mut output::note)?;
    let unavailable = experiment.unavailable(&available);
    let can_be = |at: &usize| unavailable.iter().all(|other| other.point != experiment.planned[*at].point);
    let measurable: Vec<usize> = (0..experiment.planned.len()).filter(can_be).collect();
    let mut faults = faulty_plans(&args.experiment, &experiment)?;
    let of = experiment.opening(&available, &state, "check", 0, &stop);
    let mut driver = open(&of)?;
    driver.notices().iter().for_each(|what| output::note(what));
    let (right, failing) = check_each(&experiment, &choice, &prepared, driver.as_mut(), &measurable, &stop)?;
    drop(driver);
    let names: Vec<&str> = right.iter().map(String::as_str).collect();
    faults.extend(windows::too_short(
        &args.experiment,
        &experiment.profiles,
        &prepared,
        &names,
        &state,
        &stop,
    )?);
    let right = right.len();
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

/// The contenders that are right, and how many are failing. Prints a line on each.
fn check_each(
    experiment: &Experiment,
    choice: &Choice,
    prepared: &Prepared,
    driver: &mut dyn Driver,
    measurable: &[usize],
    stop: &AtomicBool,
) -> Result<(Vec<String>, usize), Failure> {
    let chosen: Vec<&Contender> =
        prepared.contenders.iter().filter(|contender| choice.left_out(&contender.name).is_none()).collect();
    // Who is like the others is known when all have answered.
    let at_once = if experiment.answer.same_output { chosen.len().max(1) } else { 1 };
    let (mut right, mut failing) = (Vec::new(), 0);
    for together in chosen.chunks(at_once) {
        let mut all = Vec::new();
        for contender in together {
            let looked = looked(experiment, prepared, driver, contender, measurable, stop)?;
            all.push((*contender, looked));
        }
        for (contender, looked) in &all {
            let name = &contender.name;
            let line = match said(experiment, looked, &all) {
                Said::Right(how) => {
                    right.push(name.clone());
                    format!("✓ {name} {how}: {}\n", contender.version.as_deref().unwrap_or_default())
                }
                Said::Wrong(why) => {
                    failing += 1;
                    format!("✗ {name}{why}\n")
                }
                Said::Nothing => continue,
            };
            output::print(&line)?;
        }
    }
    Ok((right, failing))
}

/// What there is to say of a contender.
enum Said {
    Right(&'static str),
    Wrong(String),
    /// It is at no point.
    Nothing,
}

/// A contender that was looked at, and how it answers at each of its points.
struct Looked<'a> {
    known: Option<Answers>,
    at: Vec<(&'a Point, Result<Answered, Fault>)>,
    /// What else is wrong with it.
    failed: Option<String>,
}

fn looked<'a>(
    experiment: &'a Experiment,
    prepared: &Prepared,
    driver: &mut dyn Driver,
    contender: &Contender,
    measurable: &[usize],
    stop: &AtomicBool,
) -> Result<Looked<'a>, Failure> {
    let name = &contender.name;
    let mut looked = Looked { known: None, at: Vec::new(), failed: None };
    let Some(ready) = prepared.ready.iter().find(|ready| ready.name == *name) else {
        let reason = contender.reason.as_deref().unwrap_or_default();
        looked.failed = Some(format!(" {}: {reason}", contender.status.as_str()));
        return Ok(looked);
    };
    looked.known = ready.answers;
    for at in experiment.checked_at(measurable, name) {
        let answered = match driver.check(ready, at, stop) {
            Err(Halt::Failed(why)) => Err(Fault::new(chain(&why))),
            answered => Ok(answered?),
        };
        looked.at.push((&experiment.planned[at].point, answered));
    }
    if let Some(path) = prepared.written(name)? {
        looked.failed = Some(format!(
            ": {} was written after the build, and whoever uses the build next finds that: write elsewhere, and \
             `kumite build --no-cache` makes it good",
            path.display()
        ));
    }
    Ok(looked)
}

/// The value that is code there, if one is, for the beginning of a sentence.
fn code(experiment: &Experiment, point: &Point) -> String {
    experiment.code(point).map_or(String::new(), |(parameter, value)| format!("{parameter} {value}: "))
}

/// What there is to say of one, beside what `all` wrote at its points.
fn said(experiment: &Experiment, looked: &Looked, all: &[(&Contender, Looked)]) -> Said {
    let mut how = Said::Nothing;
    for (point, answered) in &looked.at {
        let as_it_should = answered.clone().and_then(|mut answered| {
            if let Some(written) = &answered.written {
                let unlike = unlike_the_others(written, &votes(point, all));
                answered.wrong = unlike.map(|why| format!("its output is wrong: {why}"));
            }
            answered.as_it_should(looked.known)
        });
        match as_it_should {
            Ok(words) => how = Said::Right(words),
            Err(why) => return Said::Wrong(format!(": {}{why}", code(experiment, point))),
        }
    }
    looked.failed.clone().map_or(how, Said::Wrong)
}

/// What each that was tried at a point wrote there.
fn votes(point: &Point, all: &[(&Contender, Looked)]) -> Votes {
    let vote = |(contender, looked): &(&Contender, Looked)| {
        let (_, answered) = looked.at.iter().find(|(at, _)| *at == point)?;
        let written = answered.as_ref().ok().and_then(|answered| answered.written.clone());
        Some((contender.name.clone(), written))
    };
    all.iter().filter_map(vote).collect()
}
