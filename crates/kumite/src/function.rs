//! `kumite function`: the function host as a tool of its own.

mod invoke;
mod serve;

use clap::{Parser, Subcommand};

use crate::exit::Failure;

/// The port on which the host listens by default.
const PORT: u16 = 9001;

#[derive(Parser)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve functions of AWS's runtime clients to callers with an AWS SDK or command line
    Serve(serve::Args),
    /// Call a function that is served
    Invoke(invoke::Args),
}

pub fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Serve(args) => serve::run(args),
        Command::Invoke(args) => invoke::run(args),
    }
}
