//! `cargo run --release -p bench-load`: measures, prints, and with `--write` keeps RESULTS.md.

mod ask;
mod facts;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use bench_load::{Bench, Effort, Measure, floors, kumites, list, peers, server};
use clap::{Parser, Subcommand, ValueEnum};

use crate::ask::{Ask, quoted};
use crate::facts::{Found, facts};

/// Measure `kumite load` beside its peers and beside the least that a client can cost
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    role: Option<Role>,
    /// Measurement to make [default: all]
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',')]
    only: Vec<Measure>,
    /// Rounds of kumite, wrk and the floors, and at most so many of the other peers [default: by measurement]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// Length of a load [default: by measurement]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=50))]
    seconds: Option<u64>,
    /// One short round of everything, to see that it works
    #[arg(long)]
    quick: bool,
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
    Serve {
        /// Where to write when each request was read
        #[arg(long)]
        stamps: Option<PathBuf>,
    },
}

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// For 10,000 connections, and what a runtime opens besides.
const OPEN_FILES: u64 = 10_256;

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match &args.role {
        Some(Role::Serve { stamps }) => {
            server::serve(stamps.as_deref()).map(|()| true).context("the server failed")
        }
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

/// True if all trials were a fair comparison.
fn measure(args: &Args) -> Result<bool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let cores = kumite_host::cores();
    if cores.contender == cores.engine {
        bail!("server and generator need a CPU each; this process may use only {:?}", cores.engine);
    }
    make_room()?;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load_before = load.split(' ').take(3).collect::<Vec<_>>().join(" ");
    let dir = tempfile::tempdir()?;
    let ask = Ask { dir: dir.path(), stop: &stop };
    let program = std::env::current_exe()?;
    let engine = cores.engine.first().copied().context("the system does not tell which CPUs there are")?;
    let found = find(&ask, &program, engine)?;
    let Found { generators, versions } = found;
    let bench = Bench { program, dir: dir.path(), cores, stop: &stop, generators, seed: args.seed };

    let only = if args.only.is_empty() { Measure::value_variants() } else { &args.only[..] };
    let (mut sections, mut lines, mut faults) = (String::new(), Vec::new(), Vec::new());
    for measure in only {
        let section = measure.run(&bench, effort(args, *measure))?;
        sections += &format!("\n{}", section.text);
        lines.extend(section.lines);
        faults.extend(section.faults);
    }

    let mut text = format!("# kumite load beside its peers\n\n## What is asked\n\n{}", list(&lines));
    for fault in &faults {
        text += &format!("\n**Error:** {fault}\n");
    }
    text += &sections;
    text += &facts(&bench, &versions, &load_before, &ask);
    if args.write {
        let file = Path::new(HERE).join("RESULTS.md");
        std::fs::write(&file, &text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    write!(std::io::stdout(), "{text}").context("cannot print the tables")?;
    faults.iter().for_each(|fault| eprintln!("error: {fault}"));
    Ok(faults.is_empty())
}

fn effort(args: &Args, measure: Measure) -> Effort {
    let Effort { rounds, peer_rounds, seconds } = measure.effort(args.quick);
    let rounds = args.rounds.unwrap_or(rounds);
    Effort { rounds, peer_rounds: peer_rounds.min(rounds), seconds: args.seconds.unwrap_or(seconds) }
}

/// Builds our own, and looks for the others.
fn find(ask: &Ask, program: &Path, core: usize) -> Result<Found> {
    let kumite = ask.build(program, "kumite")?;
    let floor = ask.build(program, "bench-floor")?;
    let version = ask.first_line(&format!("{} --version", quoted(&kumite)?))?;
    let mut versions = vec![("kumite", version)];
    let mut generators = kumites(&kumite, core);
    generators.extend(floors(&floor));
    for peer in peers() {
        let version = format!("command -v {} >/dev/null && {{ {}; }}", peer.program, peer.version);
        match ask.first_line(&version) {
            Ok(version) => {
                versions.push((peer.program, version));
                generators.extend(peer.ways);
            }
            Err(_) => eprintln!("SKIPPED: {} is not on PATH: {}", peer.program, peer.install),
        }
    }
    Ok(Found { generators, versions })
}

/// Room for the connections, which server and generators inherit.
fn make_room() -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < OPEN_FILES) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(OPEN_FILES), maximum: limit.maximum })
            .with_context(|| format!("{OPEN_FILES} open files are not allowed; raise `ulimit -Hn`"))?;
    }
    Ok(())
}
