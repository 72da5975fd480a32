//! The gate beside perfgate's paired mode and a threshold on hyperfine's means: on the same program, in turn.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use kumite_record::GateState;
use serde_json::Value;

use crate::case::Case;
use crate::live::gated;
use crate::spin::Pace;

const CASES: [Case; 3] = [Case::Equal, Case::Border, Case::Slower];
/// The ratio of hyperfine's means from which on a slowdown is an alarm: what threshold tools are set to.
const THRESHOLD: f64 = 1.05;

/// What is compared.
#[derive(Args)]
pub struct Peers {
    /// The kumite that is tried, e.g. target/release/kumite
    kumite: PathBuf,
    /// The perfgate beside it (cargo install perfgate-cli)
    #[arg(long, value_name = "PATH", default_value = "perfgate")]
    perfgate: PathBuf,
    /// The hyperfine beside it (cargo install hyperfine)
    #[arg(long, value_name = "PATH", default_value = "hyperfine")]
    hyperfine: PathBuf,
    /// Answers of each tool on each case
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: u64,
    /// Seconds that the reference takes
    #[arg(long, value_name = "S", default_value_t = 0.3)]
    seconds: f64,
}

/// The answers of one tool on one case.
#[derive(Clone, Copy, Default)]
struct Answers {
    alarms: u64,
    seconds: f64,
}

/// Tells if a tool raises an alarm about this command.
type Alarm<'a> = &'a dyn Fn(&str) -> Result<bool>;

/// Prints a row for each tool.
pub fn peers(args: &Peers) -> Result<()> {
    let ours = std::env::current_exe()?;
    let pace = Pace::measured(&ours, &["spin"])?;
    let spin = |times: f64| -> Result<String> {
        Ok(format!("'{}' spin {}", ours.display(), pace.steps(args.seconds * times)?))
    };
    let reference = spin(1.0)?;
    let folder = tempfile::tempdir()?;
    let tools: [(&str, Alarm); 3] = [
        ("kumite compare --gate", &|other| {
            Ok(gated(&args.kumite, &reference, other)?.gate.state == GateState::Shut)
        }),
        ("perfgate paired", &|other| perfgate(&args.perfgate, folder.path(), &reference, other)),
        ("hyperfine, 5 %", &|other| hyperfine(&args.hyperfine, folder.path(), &reference, other)),
    ];
    let mut answers = [[Answers::default(); CASES.len()]; 3];
    for nth in 0..args.runs {
        for (at, case) in CASES.iter().enumerate() {
            let other = spin(case.other())?;
            for ((name, tool), answers) in tools.iter().zip(&mut answers) {
                let began = Instant::now();
                let is_alarm = tool(&other).with_context(|| (*name).to_owned())?;
                answers[at].alarms += u64::from(is_alarm);
                answers[at].seconds += began.elapsed().as_secs_f64();
            }
        }
        eprint!("\r{} of {} of each", nth + 1, args.runs);
    }
    eprintln!();
    println!("| tool | of each | equal: alarms | +1 %: alarms | +3 %: missed | seconds, mean of all |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for ((name, _), [equal, border, slower]) in tools.iter().zip(answers) {
        let seconds = (equal.seconds + border.seconds + slower.seconds) / (3 * args.runs) as f64;
        let missed = args.runs - slower.alarms;
        println!(
            "| {name} | {} | {} | {} | {missed} | {seconds:.1} |",
            args.runs, equal.alarms, border.alarms
        );
    }
    Ok(())
}

/// An alarm if it fails for a regression, with its retries until the difference is significant, at a regression of 1 %.
fn perfgate(perfgate: &Path, folder: &Path, reference: &str, other: &str) -> Result<bool> {
    let done = Command::new(perfgate)
        .args(["paired", "--name", "spin", "--baseline", reference, "--current", other, "--repeat", "10"])
        .args(["--require-significance", "--max-retries", "5", "--fail-on-regression", "1", "--out"])
        .arg(folder.join("perfgate.json"))
        .stdin(Stdio::null())
        .output()?;
    // Its help says 2 for a regression; version 0.18.1 ends with 1, as for its own failures.
    let said = String::from_utf8_lossy(&done.stderr);
    match done.status.success() {
        true => Ok(false),
        false if said.contains("exceeded threshold") => Ok(true),
        false => anyhow::bail!("{}: {said}", done.status),
    }
}

/// An alarm by the ratio of the means.
fn hyperfine(hyperfine: &Path, folder: &Path, reference: &str, other: &str) -> Result<bool> {
    let file = folder.join("hyperfine.json");
    let done = Command::new(hyperfine)
        .args(["-N", "--style", "none", "--export-json"])
        .arg(&file)
        .args([reference, other])
        .stdin(Stdio::null())
        .output()?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    let mean = |nth: usize| {
        let result = &document["results"][nth];
        // Version 1, and version 2.
        result["mean"].as_f64().or(result["summary"]["time_wall_clock"]["mean"].as_f64()).context("no mean")
    };
    Ok(mean(1)? / mean(0)? > THRESHOLD)
}
