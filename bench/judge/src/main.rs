//! `cargo run --release -p bench-judge -- scripted`: whether `kumite run` gives wrong verdicts, where the right ones are known.

mod control;
mod experiment;
mod known;
mod noise;
mod scripted;
mod tally;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use kumite_judge::RULES;
use kumite_record::{Rule, Verdict};
use serde_json::json;

use crate::control::{Found, Planted};
use crate::experiment::{Experiment, Spinning, no_axes};
use crate::known::{CONTENDERS, Known};
use crate::tally::Tally;
use crate::worker::By;
use bench_judge::neighbour::Neighbour;

/// A job of the first contender of the real runs.
const BASE_NS: f64 = 10e6;
/// About 5 ms of work on the machine this was written on.
const STEPS: u64 = 2_000_000;
/// Comparisons of a run beside a neighbour.
const PAIRS: usize = 10;

/// Count the wrong verdicts of kumite run, where the right ones are known
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs by a scripted clock: nothing is waited for
    Scripted {
        /// Runs by each rule
        #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000))]
        runs: u64,
        /// Of the first run; the next one has the next
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
    },
    /// Real runs of contenders that spin for a known time by the clock
    Real(Measured),
    /// Real runs of a contender against itself, beside a busy loop on each CPU that comes and goes
    Neighbour(Measured),
    /// Runs with a control by a scripted clock, with 3 % planted nowhere, on what is drawn anew, and on what stays the same
    Control {
        /// Runs of each
        #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=100_000))]
        runs: u64,
        /// Of the first run; the next one has the next
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
    },
    /// Real runs with a control, with the same planted in the contender
    RealControl(Measured),
    /// The contender of the real runs
    #[command(hide = true)]
    Worker { by: By, amount: u64, planted: Planted },
}

#[derive(clap::Args)]
struct Measured {
    /// The kumite that is tried, e.g. target/release/kumite
    kumite: PathBuf,
    /// Runs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: u64,
    /// Of the first run; the next one has the next
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let problems = match Args::parse().command {
        Command::Scripted { runs, seed } => scripted(runs, seed),
        Command::Real(args) => real(&args),
        Command::Neighbour(args) => beside_neighbour(&args),
        Command::Control { runs, seed } => {
            controls(runs, |planted, nth| control::scripted(planted, nth, seed.wrapping_add(nth)))
        }
        Command::RealControl(args) => real_controls(&args),
        Command::Worker { by, amount, planted } => worker::planted(planted, amount)
            .and_then(|amount| worker::work(by, amount, std::io::stdin().lock(), std::io::stdout()))
            .map(|()| Vec::new()),
    };
    match problems {
        Ok(problems) => {
            problems.iter().for_each(|problem| eprintln!("worse than promised: {problem}"));
            if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn scripted(runs: u64, seed: u64) -> Result<Vec<String>> {
    let known = known::six();
    let of_rule = |rule| {
        counted(&known, rule, runs, |nth| {
            scripted::verdicts(&known, rule, nth as usize, seed.wrapping_add(nth))
        })
    };
    let problems: Vec<Vec<String>> = RULES.into_iter().map(of_rule).collect::<Result<_>>()?;
    Ok(problems.concat())
}

fn real(args: &Measured) -> Result<Vec<String>> {
    let known = known::six();
    let spinning = CONTENDERS.iter().map(|contender| {
        let amount = (BASE_NS * (1.0 + contender.more_percent / 100.0)) as u64;
        Spinning { name: contender.name, by: By::Ns, amount, planted: Planted::Nowhere }
    });
    let experiment = Experiment::new(&args.kumite, &known, &spinning.collect::<Vec<_>>(), &no_axes())?;
    measured(args, &known, &experiment)
}

/// Runs of each kind; what is worse than promised.
fn controls(runs: u64, found: impl Fn(Planted, u64) -> Result<Found>) -> Result<Vec<String>> {
    control::heads();
    let of_one = |planted: &Planted| control::counted(*planted, runs, |nth| found(*planted, nth));
    let problems: Vec<Option<String>> =
        Planted::value_variants().iter().map(of_one).collect::<Result<_>>()?;
    Ok(problems.into_iter().flatten().collect())
}

fn real_controls(args: &Measured) -> Result<Vec<String>> {
    controls(args.runs, |planted, nth| {
        let spinning =
            ["base", "other"].map(|name| Spinning { name, by: By::Ns, amount: BASE_NS as u64, planted });
        let experiment = Experiment::new(&args.kumite, &[], &spinning, &no_axes())?;
        let flags = ["--control=base", "--blocks", "20"];
        control::recorded(&experiment.export(args.seed.wrapping_add(nth), &flags)?)
    })
}

fn beside_neighbour(args: &Measured) -> Result<Vec<String>> {
    let known = known::same_pairs(PAIRS);
    let spinning =
        ["a", "b"].map(|name| Spinning { name, by: By::Steps, amount: STEPS, planted: Planted::Nowhere });
    let axes = json!({ "pair": (1..=PAIRS).collect::<Vec<_>>() });
    let experiment = Experiment::new(&args.kumite, &known, &spinning, &axes)?;
    let neighbour = Neighbour::on_every_cpu(args.seed);
    let problems = measured(args, &known, &experiment);
    neighbour.end()?;
    problems
}

fn measured(args: &Measured, known: &[Known], experiment: &Experiment) -> Result<Vec<String>> {
    counted(known, Rule::FalseDiscoveryRate, args.runs, |nth| {
        experiment.verdicts(args.seed.wrapping_add(nth))
    })
}

/// Prints what came of so many runs; what is worse than promised.
fn counted(
    known: &[Known],
    rule: Rule,
    runs: u64,
    verdicts: impl Fn(u64) -> Result<Vec<Verdict>>,
) -> Result<Vec<String>> {
    let mut tally = Tally::new(known, rule);
    for nth in 0..runs {
        tally.count(&verdicts(nth)?);
        eprint!("\r{} of {runs} runs", nth + 1);
    }
    eprintln!();
    println!("{tally}");
    Ok(tally.problems()?)
}
