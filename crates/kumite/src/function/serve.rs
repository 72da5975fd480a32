//! `kumite function serve`: the function host, until a signal ends it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Parser;
use kumite_function::{Function, Host, HostError};
use kumite_lab::read_functions;

use super::PORT;
use crate::closing::say_now;
use crate::exit::Failure;
use crate::measure::end_leftovers;
use crate::{output, stop};

#[derive(Parser)]
#[command(after_help = "\
Instances are processes that speak AWS's Runtime API (2018-06-01), as AWS's own runtime clients for Java, Node.js, Go,
Python and Rust do. Callers use the Invoke API: point an SDK's or the AWS CLI's endpoint URL at the address, with any
credentials and region. RequestResponse, Event and DryRun are there, so is the tail of the log; docs/function-host.md says
what is as on AWS and what is not. `kumite schema functions` describes the file. Logs go to standard output. SIGINT or SIGTERM ends it and all instances.")]
pub struct Args {
    /// File with the functions and their rules
    file: PathBuf,
    /// Port on 127.0.0.1; 0 for any that is free
    #[arg(short, long, value_name = "N", default_value_t = PORT)]
    port: u16,
    /// Seed of the routing `spread`
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let functions = read_functions(&args.file, args.seed)?;
    let stop = stop::flag()?;
    end_leftovers();
    let logs =
        tempfile::tempdir().map_err(|error| Failure::Incomplete(format!("no folder for logs: {error}")))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let names: Vec<String> = functions.iter().map(of).collect();
    let host = Host::start(functions, address, logs.path(), |log| {
        let _ = output::print(log);
    });
    let host = host.map_err(failure)?;
    for line in host.missing_rights().lines() {
        output::note(&line);
    }
    say_now(&format!("listening on http://{}/\n{}", host.address(), names.concat()))?;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
    }
    host.stop();
    Ok(())
}

fn of(function: &Function) -> String {
    let share = match function.share() {
        Some(share) => format!("{:.1} % of a core", share * 100.0),
        None => "all of its cores".to_owned(),
    };
    format!(
        "  {}: {} MB, {share}, at most {} instances\n",
        function.name, function.memory_mb, function.max_instances
    )
}

fn failure(error: HostError) -> Failure {
    match error {
        HostError::Listen { .. }
        | HostError::Folder { .. }
        | HostError::Name(_)
        | HostError::Variable { .. } => Failure::Usage(error.to_string()),
        HostError::Thread(_) => Failure::Incomplete(error.to_string()),
    }
}
