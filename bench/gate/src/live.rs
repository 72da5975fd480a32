//! Gates of the kumite binary on a program that spins.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use bench_judge::neighbour::Neighbour;
use clap::Args;
use kumite_compare::RecordedGate;
use kumite_record::Comparison;

use crate::case::Case;
use crate::spin::Pace;
use crate::tally::Tally;

const CASES: [Case; 3] = [Case::Equal, Case::Border, Case::Slower];

/// What is run.
#[derive(Args)]
pub struct Live {
    /// The kumite that is tried, e.g. target/release/kumite
    kumite: PathBuf,
    /// Gates of each case
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: u64,
    /// Seconds that the reference takes
    #[arg(long, value_name = "S", default_value_t = 0.3)]
    seconds: f64,
    /// Beside a busy loop on each CPU that comes and goes
    #[arg(long)]
    busy: bool,
}

/// Prints a table. The cases take turns.
pub fn live(args: &Live) -> Result<()> {
    let ours = std::env::current_exe()?;
    let pace = Pace::measured(&ours, &["spin"])?;
    let spin = |times: f64| -> Result<String> {
        Ok(format!("'{}' spin {}", ours.display(), pace.steps(args.seconds * times)?))
    };
    let reference = spin(1.0)?;
    let neighbour = args.busy.then(|| Neighbour::on_every_cpu(1));
    let mut tallies = CASES.map(|_| Tally::default());
    for nth in 0..args.runs {
        for (case, tally) in CASES.iter().zip(&mut tallies) {
            tally.count(&gated(&args.kumite, &reference, &spin(case.other())?)?);
        }
        eprint!("\r{} of {} of each", nth + 1, args.runs);
    }
    eprintln!();
    neighbour.map_or(Ok(()), Neighbour::end)?;
    Tally::heads();
    CASES.iter().zip(&tallies).for_each(|(case, tally)| tally.row(case.name()));
    Ok(())
}

/// The answer of one gate. It does not say after how many rounds it was first shown.
pub fn gated(kumite: &std::path::Path, reference: &str, other: &str) -> Result<RecordedGate> {
    let done = Command::new(kumite)
        .args(["compare", reference, other, "-n", "reference", "-n", "other", "--gate", "--json", "-"])
        .stdin(Stdio::null())
        .output()
        .with_context(|| kumite.display().to_string())?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(matches!(done.status.code(), Some(0 | 1)), "kumite compare: {}: {said}", done.status);
    let comparison: Comparison = serde_json::from_slice(&done.stdout)?;
    let pair = comparison.pairs.first().context("no pair")?;
    Ok(RecordedGate {
        gate: pair.gate.context("no gate")?,
        ended: comparison.ended,
        blocks: pair.blocks,
        seconds: pair.seconds,
        first_shut: None,
    })
}
