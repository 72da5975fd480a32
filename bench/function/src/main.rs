//! `cargo run --release -p bench-function`: prints the table; `--write` keeps it in RESULTS.md.
//!
//! `kumite function serve` serves a Go function that does nothing, on AWS's own runtime client, and `kumite load` calls it:
//! one call after another, and 1,000 a second over eight instances. Unthrottled and at 128 MB's share of a core.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use kumite_process::{Spawn, Tree, run};
use serde_json::Value;

/// Measure what a call through the function host costs
#[derive(Parser)]
struct Args {
    /// Rounds: each way once
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// How long each way is measured
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// The kumite to measure; the one beside this program, if not given
    #[arg(long, value_name = "PATH")]
    kumite: Option<PathBuf>,
    /// Replace bench/function/RESULTS.md
    #[arg(long)]
    write: bool,
}

/// A way to call, and what it is called.
struct Way {
    name: &'static str,
    function: &'static str,
    load: &'static [&'static str],
}

const WAYS: [Way; 3] = [
    Way { name: "one after another, unthrottled", function: "free", load: &["-c", "1"] },
    Way { name: "one after another, 7.2 % of a core", function: "small", load: &["-c", "1"] },
    Way {
        name: "1,000 a second, eight instances, unthrottled",
        function: "free",
        load: &["-R", "1000", "-c", "8"],
    },
];

const FUNCTIONS: &str = "\
[functions.free]
command = 'exec ./bootstrap'
cpu = 'unlimited'
max_instances = 8
routing = 'spread'

[functions.small]
command = 'exec ./bootstrap'
max_instances = 1
";

/// The result of a way in a round.
struct Found {
    p50_us: f64,
    /// None if there were too few calls.
    p99_us: Option<f64>,
    rps: f64,
    failures: f64,
}

fn main() -> ExitCode {
    match measure(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(args: &Args) -> Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let beside = std::env::current_exe()?.with_file_name("kumite");
    let kumite = args.kumite.clone().unwrap_or(beside);
    ensure!(kumite.is_file(), "there is no {}: `cargo build --release -p kumite` makes it", kumite.display());
    let noop = here.join("noop");
    let scratch = tempfile::tempdir()?;
    let build = "CGO_ENABLED=0 go build -tags lambda.norpc -o bootstrap .";
    let log = scratch.path().join("build.log");
    let spawn =
        Spawn { command: build, dir: &noop, env: &[], keeps: None, cores: &[], log: &log, group: None };
    let built = run(&spawn, Duration::from_secs(600), &AtomicBool::new(false))?;
    ensure!(built.status.success(), "{build}: {}", fs::read_to_string(&log)?);
    fs::copy(noop.join("bootstrap"), scratch.path().join("bootstrap"))?;
    fs::write(scratch.path().join("functions.toml"), FUNCTIONS)?;
    let mut found: Vec<Vec<Found>> = WAYS.iter().map(|_| Vec::new()).collect();
    for _ in 0..args.rounds {
        for (way, found) in WAYS.iter().zip(&mut found) {
            found.push(called(&kumite, scratch.path(), way, args.seconds)?);
        }
    }
    let table = table(&found, args);
    print!("{table}");
    if args.write {
        fs::write(here.join("RESULTS.md"), table)?;
    }
    Ok(())
}

/// A fresh host, called in one way.
fn called(kumite: &Path, dir: &Path, way: &Way, seconds: u32) -> Result<Found> {
    let log = dir.join("host.log");
    let program = kumite.to_str().with_context(|| format!("{} is not UTF-8; move it", kumite.display()))?;
    let program = shlex::try_quote(program)?;
    let command = format!("exec {program} function serve functions.toml --port 0");
    let host = Tree::start(&Spawn {
        command: &command,
        dir,
        env: &[],
        keeps: None,
        cores: &[],
        log: &log,
        group: None,
    })?;
    let url = address(&log)?;
    let url = format!("{url}2015-03-31/functions/{}/invocations", way.function);
    let seconds = format!("{seconds}s");
    let mut load = Command::new(kumite);
    load.args(["load", &url, "-d", "{}", "--warm-up", "2s", "-z", &seconds, "--json", "-"]);
    let output = load.args(way.load).output().context("kumite load")?;
    host.stop(Duration::from_secs(3));
    let result: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let figure =
        |path: &str| result.pointer(path).and_then(Value::as_f64).with_context(|| format!("no {path}"));
    let errors = result.get("errors").and_then(Value::as_object).context("no errors")?;
    Ok(Found {
        p50_us: figure("/response_us/p50")?,
        p99_us: figure("/response_us/p99").ok(),
        rps: figure("/throughput_rps")?,
        failures: errors.values().filter_map(Value::as_f64).sum(),
    })
}

/// Where the host says that it listens.
fn address(log: &Path) -> Result<String> {
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        let text = fs::read_to_string(log).unwrap_or_default();
        if let Some(url) = text.lines().find_map(|line| line.strip_prefix("listening on ")) {
            return Ok(url.to_owned());
        }
        thread::sleep(Duration::from_millis(20));
    }
    bail!("the host does not listen: {}", fs::read_to_string(log).unwrap_or_default())
}

fn table(found: &[Vec<Found>], args: &Args) -> String {
    let mut text = format!(
        "# What a call through the function host costs\n\n\
         A Go function that does nothing, on AWS's runtime client. Median of {} rounds of {} s each (least–most), each with\n\
         a fresh host; host, function and `kumite load` share {} CPUs. `cargo run --release -p bench-function -- --write`,\n{}.\n\n\
         | calls | p50 | p99 | calls/s | failures |\n| --- | --- | --- | --- | --- |\n",
        args.rounds,
        args.seconds,
        kumite_process::available_cores().len(),
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
    );
    for (way, rounds) in WAYS.iter().zip(found) {
        let of = |value: fn(&Found) -> Option<f64>| {
            let mut values: Vec<f64> = rounds.iter().filter_map(value).collect();
            values.sort_by(f64::total_cmp);
            Some((*values.get(values.len() / 2)?, *values.first()?, *values.last()?))
        };
        let us = |value: fn(&Found) -> Option<f64>| match of(value) {
            Some((middle, least, most)) => format!("{middle:.0} µs ({least:.0}–{most:.0})"),
            None => "too few calls".to_owned(),
        };
        let (p50, p99) = (us(|found| Some(found.p50_us)), us(|found| found.p99_us));
        let rps = of(|found| Some(found.rps)).map_or(0.0, |(middle, _, _)| middle);
        let failures = rounds.iter().map(|found| found.failures).sum::<f64>();
        text += &format!("| {} | {p50} | {p99} | {rps:.0} | {failures:.0} |\n", way.name);
    }
    text
}
