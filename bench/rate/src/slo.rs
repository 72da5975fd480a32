//! Statuses of `kumite load --slo --gate`, at rates of which it is known whether they are beyond a stub's limit.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use kumite_stub::{Config, Delay, Stub};

use crate::Measured;

/// The stub has one worker, which takes this long for an answer: so it gives exactly 2,000 a second.
const DELAY: Duration = Duration::from_micros(500);
const LIMIT_RPS: f64 = 2000.0;

/// Rates in times the limit, each with the runs that are made of it.
const RATES: [(f64, u64); 4] = [(0.9, 50), (1.1, 50), (0.5, 10), (2.0, 10)];

/// Prints how many statuses were right at each rate; returns what was not.
pub fn measure(args: &Measured) -> Result<Vec<String>> {
    println!("| rate | runs | right | wrong |\n| ---: | ---: | ---: | ---: |");
    let mut problems = Vec::new();
    for (factor, runs) in RATES {
        let runs = args.runs.unwrap_or(runs);
        let mut wrong = 0;
        for nth in 0..runs {
            wrong += u64::from(!is_right(args, factor)?);
            eprint!("\r{factor} times the limit: {} of {runs} runs", nth + 1);
        }
        eprintln!();
        println!("| {factor} × limit | {runs} | {} | {wrong} |", runs - wrong);
        if wrong > 0 {
            problems.push(format!("at {factor} times the limit {wrong} of {runs} statuses are wrong"));
        }
    }
    Ok(problems)
}

/// True if the status is 0 below the limit, where nothing but *holds* passes, and 1 beyond it, where nothing but *fails*
/// is shut.
fn is_right(args: &Measured, factor: f64) -> Result<bool> {
    let config = Config { delay: Delay::Fixed(DELAY), workers: Some(1), ..Config::default() };
    let stub = Stub::start(config).context("the stub")?;
    let (url, rate) = (format!("http://{}/", stub.addr), (LIMIT_RPS * factor).to_string());
    let (gate, right) = if factor < 1.0 { ("--gate=holds", 0) } else { ("--gate=fails", 1) };
    let ended = Command::new(&args.kumite)
        .args(["load", &url, "-R", &rate, "-z", "2s", "--slo", "p99 < 20ms and errors < 0.1%", gate])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("{}", args.kumite.display()))?;
    Ok(ended.code() == Some(right))
}
