//! `cargo run --release -p bench-rate -- slo target/release/kumite`: whether kumite is right about objectives, capacities and
//! the CPU of a request, where that is known.

mod burner;
mod capacity;
mod cost;
mod slo;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Count what kumite gets wrong about servers of known limit, knee and cost
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Statuses of `kumite load --slo --gate` at 0.9 and 1.1 times a stub's limit, and at 0.5 and 2 times
    Slo(Measured),
    /// `capacity_rps` of a stub of known knee, in experiments of 6 blocks
    Capacity(Measured),
    /// `cpu_us_per_request` of two servers that burn 5 % apart, at 10,000 requests a second
    Cost(Measured),
    /// The server that burns: so many ns of CPU for each request
    #[command(hide = true)]
    Burner { ns: u64 },
}

/// The kumite that is tried, and how often.
#[derive(clap::Args)]
pub struct Measured {
    /// The kumite that is tried, e.g. target/release/kumite
    pub kumite: PathBuf,
    /// Runs [default: slo 50 near the limit and 10 far from it, capacity 10, cost 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub runs: Option<u64>,
    /// Of the first run; the next one has the next
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

fn main() -> ExitCode {
    let problems = match Args::parse().command {
        Command::Slo(args) => slo::measure(&args),
        Command::Capacity(args) => capacity::measure(&args),
        Command::Cost(args) => cost::measure(&args),
        Command::Burner { ns } => burner::serve(ns).map(|()| Vec::new()),
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
