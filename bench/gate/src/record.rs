//! Recording blocks that hold all cases together, by `kumite compare` itself: with its runner, its order and its
//! environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use bench_judge::neighbour::Neighbour;
use clap::Args;
use kumite_record::Comparison;

use crate::spin::Pace;

/// What stands in a block, by name, each with the time that it takes as a multiple of the reference's. Three of one time
/// are the reference in both its places and one that is equal.
pub const RECORDED: [(&str, f64); 5] =
    [("first", 1.0), ("second", 1.0), ("third", 1.0), ("one-more", 1.01), ("three-more", 1.03)];

/// What is recorded.
#[derive(Args)]
pub struct Record {
    /// The kumite that records, e.g. target/release/kumite
    kumite: PathBuf,
    /// The file for the record
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Seconds that the reference takes
    #[arg(long, value_name = "S", default_value_t = 0.3)]
    seconds: f64,
    /// Blocks
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(20..=100_000))]
    blocks: u64,
    /// Beside a busy loop on each CPU that comes and goes
    #[arg(long)]
    busy: bool,
}

/// Records, and says what was recorded.
pub fn record(args: &Record) -> Result<()> {
    let kumite = std::fs::canonicalize(&args.kumite)
        .with_context(|| format!("{}: cargo build --release -p kumite", args.kumite.display()))?;
    let ours = std::env::current_exe()?;
    let pace = Pace::measured(&ours, &["spin"])?;
    let mut command = Command::new(kumite);
    command.arg("compare");
    for (name, times) in RECORDED {
        let steps = pace.steps(args.seconds * times)?;
        command.args(["-n", name]).arg(format!("{} spin {steps}", quoted(&ours)));
    }
    command.args(["--runs", &args.blocks.to_string(), "--json"]).arg(&args.out).stdout(Stdio::null());
    let neighbour = args.busy.then(|| Neighbour::on_every_cpu(1));
    let status = command.status();
    neighbour.map_or(Ok(()), Neighbour::end)?;
    ensure!(status?.success(), "kumite compare failed");
    let blocks = Blocks::read(&args.out)?;
    eprintln!("{}: {} blocks of {} runs", args.out.display(), blocks.len(), RECORDED.len());
    Ok(())
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}

/// The recorded times in seconds, by the position in [`RECORDED`] and then by block.
pub struct Blocks(Vec<Vec<f64>>);

impl Blocks {
    /// Reads what [`record`] wrote.
    pub fn read(file: &Path) -> Result<Blocks> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let comparison: Comparison =
            serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let times = |(name, _): &(&str, f64)| {
            let command = comparison.commands.iter().find(|command| command.name == *name);
            command.map(|command| command.times.clone()).with_context(|| {
                format!("{}: nothing is named {name}: is it from `bench-gate record`?", file.display())
            })
        };
        let times = RECORDED.iter().map(times).collect::<Result<Vec<_>>>()?;
        ensure!(times.iter().all(|of| of.len() == times[0].len()), "{}: not whole blocks", file.display());
        ensure!(times[0].len() >= 20, "{}: {} blocks are too few", file.display(), times[0].len());
        Ok(Blocks(times))
    }

    pub fn len(&self) -> usize {
        self.0[0].len()
    }

    /// The time of the one at this position of [`RECORDED`] in this block; after the last block comes the first.
    pub fn time(&self, at: usize, block: usize) -> f64 {
        self.0[at][block % self.len()]
    }
}
