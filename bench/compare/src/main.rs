//! `cargo run --release -p bench-compare`: prints the tables; `--write` keeps them in RESULTS.md.

mod memory;
mod way;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use kumite_process::{Job, Output, Runner, Stdin, available_cores, runner_main};

use crate::way::{Batch, Way, median};

/// Measure what timing a command costs: kumite's runner beside posix_spawn and hyperfine
#[derive(Parser)]
struct Args {
    /// Runs of the no-op command in a round
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Rounds: each way once
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// The core the commands run on; the last one, if not given
    #[arg(long, value_name = "N")]
    core: Option<usize>,
    /// The program to run commands from; this one, if not given
    #[arg(long, value_name = "PATH", requires = "helper_arg")]
    helper: Option<PathBuf>,
    /// Hidden argument that makes a runner of it
    #[arg(long, value_name = "ARG", default_value = RUNNER)]
    helper_arg: String,
    /// Replace bench/compare/RESULTS.md
    #[arg(long)]
    write: bool,
}

/// The argument that makes this program a runner's helper.
const RUNNER: &str = "runner";

/// The program that runs the commands.
pub struct Helper {
    program: PathBuf,
    argument: String,
}

impl Helper {
    fn runner(&self, commands: &[(&OsStr, &[&str])]) -> Result<Runner> {
        let job = |&(program, args): &(&OsStr, &[&str])| Job {
            program: program.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            dir: PathBuf::from("."),
            env: Vec::new(),
            stdin: Stdin::Null,
            output: Output::Null,
        };
        let jobs: Vec<Job> = commands.iter().map(job).collect();
        Ok(Runner::start(&self.program, &[&self.argument], &jobs)?)
    }
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == RUNNER) {
        return runner_main();
    }
    match measure(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(args: &Args) -> Result<()> {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let core = args.core.or(available_cores().last().copied()).context("this process may use no core")?;
    let program = args.helper.clone().map_or_else(std::env::current_exe, Ok)?;
    let helper = Helper { program, argument: args.helper_arg.clone() };
    let dir = tempfile::tempdir()?;
    let no_op = no_op(dir.path())?;
    let mut ways = Way::ALL.to_vec();
    let hyperfine = first_line(Command::new("hyperfine").arg("--version"));
    if hyperfine.is_none() {
        eprintln!(
            "SKIPPED: hyperfine is not on PATH, so there is nothing to compare with: apt-get install hyperfine"
        );
        ways.retain(|&way| way != Way::Hyperfine);
    }
    let mut rounds: Vec<Vec<Batch>> = ways.iter().map(|_| Vec::new()).collect();
    for round in 0..args.rounds {
        for (way, batches) in ways.iter().zip(&mut rounds) {
            let batch = way.measure(&no_op, args.runs as usize, core, &helper)?;
            eprintln!("round {}, {}: {:.1} µs outside", round + 1, way.name(), batch.outside_us());
            batches.push(batch);
        }
    }
    let mut text = String::from(
        "| way | wall a run, µs | timed, median, µs | not timed, a run, µs: median (min–max) |\n\
         | --- | ---: | ---: | ---: |\n",
    );
    for (way, batches) in ways.iter().zip(&rounds) {
        let of = |figure: fn(&Batch) -> f64| batches.iter().map(figure).collect::<Vec<_>>();
        let outside = of(Batch::outside_us);
        let least = outside.iter().copied().fold(f64::INFINITY, f64::min);
        let most = outside.iter().copied().fold(0.0, f64::max);
        text += &format!(
            "| {} | {:.0} | {:.0} | {:.1} ({least:.1}–{most:.1}) |\n",
            way.name(),
            median(of(Batch::wall_us)),
            median(of(Batch::timed_median_us)),
            median(outside),
        );
    }
    text += "\n";
    text += &memory::table(&no_op, core, &helper)?;
    text += &facts(&load, core, hyperfine.as_deref());
    if args.write {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md");
        fs::write(&file, format!("# What timing a command costs\n\n{text}"))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    writeln!(std::io::stdout(), "{text}").context("cannot print the tables")
}

/// The least a process can be.
fn no_op(dir: &Path) -> Result<PathBuf> {
    let (source, program) = (dir.join("no-op.c"), dir.join("no-op"));
    fs::write(&source, "int main(void) { return 0; }\n")?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-static", "-o"]).arg(&program).arg(&source);
    let built = compiler.status().context("cannot start cc; install a C compiler")?;
    ensure!(built.success(), "cc cannot build a static program; install libc6-dev");
    Ok(program)
}

fn facts(load: &str, core: usize, hyperfine: Option<&str>) -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let separator = if arguments.is_empty() { "" } else { " -- " };
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu =
        cpuinfo.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(": ").nth(1));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let commit = first_line(Command::new("git").args(["describe", "--always", "--dirty"]));
    let unknown = "unknown";
    format!(
        "\n- Command: `cargo run --release -p bench-compare{separator}{}`\n- Date: {}\n- hyperfine: {}\n- Commit: {}\n\
         - Machine: {}, {} CPUs; Linux {}\n- Commands on core {core}; load averages before: {}\n",
        arguments.join(" "),
        jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC"),
        hyperfine.unwrap_or("not there"),
        commit.as_deref().unwrap_or(unknown),
        cpu.unwrap_or(unknown),
        available_cores().len(),
        kernel.trim(),
        load.split(' ').take(3).collect::<Vec<_>>().join(" "),
    )
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
}
