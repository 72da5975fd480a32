//! `cargo run --release -p bench-load`: prints the table; `--write` keeps it in RESULTS.md.

mod ask;
mod facts;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use bench_load::{Cell, Generator, Trial, faults, server, table};
use clap::{Parser, Subcommand};

use crate::ask::Ask;
use crate::facts::facts;

/// Measure the CPU that `kumite load` takes for each request, beside wrk
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    role: Option<Role>,
    /// Rounds: one trial of each generator at each number of connections
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Length of a trial
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Keep-alive connections, e.g. 1,50,1000
    #[arg(long, value_name = "N,…", default_value = "50", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: Vec<u32>,
    /// Repeats the order of a run
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Replace bench/load/RESULTS.md
    #[arg(long)]
    write: bool,
}

#[derive(Subcommand)]
enum Role {
    /// Be the server (used by the program itself)
    #[command(hide = true)]
    Serve,
}

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match args.role {
        Some(Role::Serve) => server::serve().map(|()| true).context("the server failed"),
        None => measure(&args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all trials were a fair comparison.
fn measure(args: &Args) -> Result<bool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let cores = kumite_lab::cores();
    if cores.contender == cores.engine {
        bail!("server and generator need a CPU each; this process may use only {:?}", cores.engine);
    }
    make_room(&args.connections)?;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load_before = load.split(' ').take(3).collect::<Vec<_>>().join(" ");
    let dir = tempfile::tempdir()?;
    let ask = Ask { dir: dir.path(), stop: &stop };
    let program = std::env::current_exe()?;
    let kumite = ask.build(&program)?;
    let mut generators = vec![Generator::Kumite(kumite.clone())];
    let mut versions = vec![ask.first_line(&format!("'{}' --version", kumite.display()))?];
    match ask.first_line("command -v wrk >/dev/null && { wrk -v || true; }") {
        Ok(version) => {
            generators.push(Generator::Wrk);
            versions.push(version);
        }
        Err(_) => {
            eprintln!("SKIPPED: wrk is not on PATH, so there is nothing to compare with: apt-get install wrk")
        }
    }

    let mut cells: Vec<Cell> =
        args.connections.iter().map(|&connections| Cell { connections, rounds: Vec::new() }).collect();
    let everywhere = vec![(0..generators.len()).collect(); cells.len()];
    for block in kumite_lab::plan(&everywhere, args.rounds, args.seed).blocks {
        let cell = &mut cells[block.point];
        let mut trials = vec![None; generators.len()];
        for index in block.order {
            let generator = &generators[index];
            let trial =
                Trial::run(generator, cell.connections, args.seconds, &program, &cores, dir.path(), &stop)?;
            eprintln!(
                "round {}, {} connections, {}: {:.2} µs/request, {:.0} requests/s",
                block.index + 1,
                cell.connections,
                generator.name(),
                trial.cpu_us_per_request(),
                trial.requests_per_s()
            );
            trials[index] = Some(trial);
        }
        cell.rounds.push(trials.into_iter().flatten().collect());
    }

    let mut text = table(&generators, &cells);
    text += &facts(args, &generators, &versions, cores, &load_before, &ask);
    if args.write {
        let file = Path::new(HERE).join("RESULTS.md");
        std::fs::write(&file, format!("# kumite load beside wrk\n\n{text}"))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    writeln!(std::io::stdout(), "{text}").context("cannot print the table")?;
    let faults = faults(&generators, &cells);
    faults.iter().for_each(|fault| eprintln!("error: {fault}"));
    Ok(faults.is_empty())
}

/// Room for the connections, which server and generators inherit.
fn make_room(connections: &[u32]) -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let needed = u64::from(connections.iter().copied().max().unwrap_or_default()) + 64;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
            .with_context(|| format!("{needed} open files are not allowed; raise `ulimit -Hn`"))?;
    }
    Ok(())
}
