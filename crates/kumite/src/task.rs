//! `kumite task`: one job by hand, with all messages.

use std::error::Error;

use clap::Parser;
use kumite_host::cores;
use kumite_lab::{Choice, Experiment, OneJob, Tap, TaskDriver, check_disk, prepare, used_cores};
use kumite_record::{AxisValue, Store, there_are};
use kumite_report::length;

use crate::exit::Failure;
use crate::measure::begin_measuring;
use crate::store::Db;
use crate::wait::Wait;
use crate::{output, stop};

/// The most characters of a message that are shown, unless --full is given.
const SHOWN: usize = 2_000;

#[derive(Parser)]
pub struct Args {
    /// Experiment: a name below experiments/, or a folder with an experiment.toml
    experiment: String,
    /// Contender that does the job
    #[arg(long, value_name = "NAME")]
    contender: String,
    /// Profile whose first point gives the parameters
    #[arg(long, default_value = "quick")]
    profile: String,
    /// Change a parameter, e.g. students=3 (may be given several times)
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, AxisValue)>,
    /// Show long messages whole
    #[arg(long)]
    full: bool,
    /// Install missing tools through the system's package manager
    #[arg(long)]
    install: bool,
    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    db: Db,
}

fn parameter(text: &str) -> Result<(String, AxisValue), Box<dyn Error + Send + Sync>> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.parse()?))
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut experiment = Experiment::load(&args.experiment, &args.profile)?;
    experiment.doubts.iter().for_each(|what| output::note(what));
    if experiment.kind() != TaskDriver::KIND {
        return Err(Failure::Usage(format!(
            "{} is of kind {}: only tasks have jobs; `kumite check {} --only {}` tries one",
            experiment.name,
            experiment.kind(),
            args.experiment,
            args.contender
        )));
    }
    let choice = Choice { only: vec![args.contender.clone()], install: args.install, ..Choice::default() };
    let known: Vec<&str> = experiment.variants().iter().map(|(_, variant)| variant.name.as_str()).collect();
    if !known.contains(&args.contender.as_str()) {
        let (name, known) = (&args.contender, there_are(&args.contender, &known));
        return Err(Failure::Usage(format!("--contender {name}: no such contender{known}")));
    }
    let planned = experiment.plan_one(&args.contender, &args.parameters);
    planned.map_err(|unfit| Failure::Usage(unfit.into()))?;
    let available = cores();
    used_cores(&experiment, &available)?;
    let stop = stop::flag()?;
    let store = Store::open(&args.db.path())?;
    let state = store.folder().to_owned();
    check_disk(&experiment, &state)?;
    let _lock = begin_measuring(args.wait, &stop)?;
    let prepared = prepare(&experiment, &choice, &state, &stop, &mut output::note)?;
    let Some(ready) = prepared.ready.first() else {
        let reason = prepared.contenders.iter().find(|contender| contender.name == args.contender);
        let reason = reason.and_then(|contender| contender.reason.clone()).unwrap_or_default();
        return Err(Failure::Incomplete(format!("{} cannot be run: {reason}", args.contender)));
    };
    let of = experiment.opening(&available, &state, "job", 0, &stop);
    let mut driver = TaskDriver::open(&of)?;
    let job = driver
        .one_job(ready, 0, Some(shown(args.full)), &stop)
        .map_err(|halt| halt.in_step(args.contender.clone()))?;
    output::print(&summary(&job))?;
    match job.wrong {
        None => Ok(()),
        Some(why) => Err(Failure::Gate(format!("the answer is wrong: {why}"))),
    }
}

/// Prints the messages, except for those hellos that only measure the pipe.
fn shown(full: bool) -> Tap {
    let mut hellos = 0;
    Box::new(move |to_worker, line| {
        let text = String::from_utf8_lossy(line);
        if text.contains("\"hello\"") && !text.contains("\"job\"") {
            hellos += 1;
            // The first, and its answer.
            if hellos > 2 {
                return;
            }
        }
        let cut = text.char_indices().nth(SHOWN).filter(|_| !full);
        let text = match cut {
            Some((at, _)) => format!("{}… ({} bytes; --full shows all)", &text[..at], line.len()),
            None => text.into_owned(),
        };
        // A reader that closes our output does not want the rest.
        let _ = output::print(&format!("{} {text}\n", if to_worker { "→" } else { "←" }));
    })
}

fn summary(done: &OneJob) -> String {
    let events = match done.events {
        0 => String::new(),
        n => format!("; {n} events"),
    };
    let cores = done
        .hello
        .cores
        .map_or(String::new(), |cores| format!(", which takes its number of cores for {cores}"));
    format!(
        "\n{} on {}{cores}\nready after {}; elapsed {:.3} ms on kumite's clock, {:.3} ms on the worker's; an exchange without \
         a job takes {:.0} µs{events}\n",
        done.hello.name,
        done.hello.runtime,
        length(done.ready.as_secs_f64()),
        done.job.elapsed_ms,
        done.job.worker_elapsed_ms,
        done.round_trip_us,
    )
}
