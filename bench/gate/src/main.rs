//! `cargo run --release -p bench-gate -- simulated`: how often the gate of `kumite compare` is right, where the right
//! answer is known.

mod case;
mod edits;
mod gates;
mod live;
mod noise;
mod peers;
mod record;
mod replay;
mod simulated;
mod spin;
mod tally;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Count the wrong answers of the gate of kumite compare, where the right ones are known
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Gates on times that are made up: nothing is waited for
    Simulated(simulated::Simulated),
    /// Record blocks of a program that spins: twice the reference and one that is equal, 1 % and 3 % more
    Record(record::Record),
    /// Gates on stretches of what was recorded
    Replay(replay::Replay),
    /// Gates of the kumite binary
    Live(live::Live),
    /// The gate beside perfgate and hyperfine
    Peers(peers::Peers),
    /// Gates on edits of a C program that change nothing of what it does
    Edits(edits::Edits),
    /// The program that is recorded
    #[command(hide = true)]
    Spin { steps: u64 },
}

fn main() -> ExitCode {
    let problems: Result<Vec<String>> = match Args::parse().command {
        Command::Simulated(args) => Ok(simulated::simulated(&args)),
        Command::Record(args) => record::record(&args).map(|()| Vec::new()),
        Command::Replay(args) => replay::replay(&args),
        Command::Live(args) => live::live(&args).map(|()| Vec::new()),
        Command::Peers(args) => peers::peers(&args).map(|()| Vec::new()),
        Command::Edits(args) => edits::edits(&args).map(|()| Vec::new()),
        Command::Spin { steps } => {
            spin::spin(steps);
            Ok(Vec::new())
        }
    };
    match problems {
        Ok(problems) => {
            problems.iter().for_each(|problem| eprintln!("worse than asked: {problem}"));
            if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
