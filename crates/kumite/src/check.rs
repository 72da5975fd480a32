//! `kumite check`: every contender builds, starts and answers right.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::Parser;
use kumite_lab::{
    Experiment, FunctionExecutor, Halt, HttpExecutor, Kind, PacingExecutor, Planned, Ready, TaskExecutor,
    check_disk, cores, prepare, used_cores,
};
use kumite_record::{Cores, Point, Store};

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
    /// The results store; logs are kept beside it
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
    check_disk(&experiment, &state).map_err(Failure::Incomplete)?;
    let _lock = begin_measuring(&state)?;
    let prepared = prepare(&experiment, &choice, &state, &stop, &mut output::note)?;
    let unavailable = experiment.unavailable(&available);
    let can_be = |planned: &&Planned| unavailable.iter().all(|other| other.point != planned.point);
    let planned: Vec<&Planned> = experiment.planned.iter().filter(can_be).collect();
    let mut checker = Checker::new(&experiment, available, &state, &stop)?;
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
        let points = points(&planned, name, experiment.kind);
        if points.is_empty() {
            break;
        }
        let mut answered = Ok("");
        for point in points {
            let several = point.get("handler").filter(|_| experiment.kind == Kind::Function);
            let at = several.map(|handler| format!("handler {handler}: ")).unwrap_or_default();
            answered = match checker.check(ready, point, &stop) {
                Err(Halt::Failed(why)) => Err(format!("{at}{why}")),
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

/// Where a contender is checked: at the first point that the profile tries it at, and any if it tries it nowhere. A function
/// has a point for each handler, for each of them is other code.
fn points<'a>(planned: &[&'a Planned], name: &str, kind: Kind) -> Vec<&'a Point> {
    let takes_part = |planned: &&&Planned| planned.contenders.iter().any(|other| other == name);
    let mut points: Vec<&Point> = planned.iter().filter(takes_part).map(|planned| &planned.point).collect();
    points.extend(planned.first().filter(|_| points.is_empty()).map(|planned| &planned.point));
    let mut handlers = Vec::new();
    points.retain(|point| {
        let handler = point.get("handler").filter(|_| kind == Kind::Function);
        let is_new = !handlers.contains(&handler);
        handlers.push(handler);
        is_new
    });
    points
}

/// Whoever checks contenders of a kind.
enum Checker<'a> {
    Http(HttpExecutor<'a>),
    Task(Box<TaskExecutor<'a>>),
    Function(Box<FunctionExecutor<'a>>),
    Pacing(PacingExecutor<'a>),
}

impl<'a> Checker<'a> {
    fn new(
        experiment: &'a Experiment,
        cores: Cores,
        state: &'a Path,
        stop: &AtomicBool,
    ) -> Result<Checker<'a>, Failure> {
        match experiment.kind {
            Kind::Http => Ok(Checker::Http(HttpExecutor::new(experiment, cores, state, "check", stop)?)),
            Kind::Task => {
                Ok(Checker::Task(Box::new(TaskExecutor::new(experiment, cores, state, "check", stop)?)))
            }
            Kind::Function => {
                let executor = FunctionExecutor::new(experiment, cores, state, "check", 0, stop)?;
                executor.wanting().iter().for_each(|what| output::note(what));
                Ok(Checker::Function(Box::new(executor)))
            }
            Kind::Pacing => {
                let executor = PacingExecutor::new(experiment, cores, state, "check");
                executor.map(Checker::Pacing).map_err(Failure::Incomplete)
            }
        }
    }

    /// How it answers, if that is as it should be.
    fn check(&mut self, contender: &Ready, point: &Point, stop: &AtomicBool) -> Result<&'static str, Halt> {
        match self {
            Checker::Http(executor) => executor.check(contender, point, stop),
            Checker::Task(executor) => executor.check(contender, point, stop),
            Checker::Function(executor) => executor.check(contender, point, stop),
            Checker::Pacing(executor) => executor.check(contender, point, stop),
        }
    }
}
