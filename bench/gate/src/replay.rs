//! Gates on stretches of recorded blocks, in which who is the reference, who its second run and who is judged is drawn
//! anew.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use kumite_compare::RecordedGate;
use kumite_stats::deviation;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::case::Case;
use crate::gates::gate;
use crate::record::{Blocks, RECORDED};
use crate::tally::{Asked, Tally, rounds_asked};

const CASES: [Case; 4] = [Case::Equal, Case::Border, Case::Slower, Case::Lucky];
/// The positions in [`RECORDED`] of those that take as long as one another.
const EQUALS: [usize; 3] = [0, 1, 2];
const CALM: f64 = 0.02;
const BUSY: f64 = 0.2;

/// What is replayed.
#[derive(Args)]
pub struct Replay {
    /// Files of `record`
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Gates of each case
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    runs: u64,
    /// Seconds that each gate may take
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    budget: f64,
    /// The files were recorded beside a neighbour: 20 % may be undecided because of the control, and not 2
    #[arg(long)]
    busy: bool,
    /// Of the first gate; the next one has the next
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Prints a table for each file; what is worse than asked.
pub fn replay(args: &Replay) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for file in &args.files {
        let blocks = Blocks::read(file)?;
        let scatter = scatter(&blocks).context("no scatter")?;
        let rounds = rounds_asked(scatter);
        println!(
            "{}: {} blocks, s = {:.2} %; 3 % are to be shown within {rounds} rounds\n",
            file.display(),
            blocks.len(),
            scatter * 100.0
        );
        Tally::heads();
        for case in CASES {
            let mut tally = Tally::default();
            (0..args.runs)
                .for_each(|nth| tally.count(&one(args, &blocks, case, args.seed.wrapping_add(nth))));
            tally.row(case.name());
            let cannot_tell = if args.busy { BUSY } else { CALM };
            let of_file = tally.problems(case, Asked { rounds: Some(rounds), cannot_tell });
            problems.extend(of_file.into_iter().map(|problem| format!("{}: {problem}", file.display())));
        }
        println!();
    }
    Ok(problems)
}

/// The standard deviation of the logarithm of a block's ratio, by those that are equal.
fn scatter(blocks: &Blocks) -> Option<f64> {
    let pairs = [(0, 1), (1, 2), (2, 0)];
    let log = |block: usize| {
        let (a, b) = pairs[block % pairs.len()];
        (blocks.time(a, block) / blocks.time(b, block)).ln()
    };
    deviation(&(0..blocks.len()).map(log).collect::<Vec<_>>())
}

fn one(args: &Replay, blocks: &Blocks, case: Case, seed: u64) -> RecordedGate {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut block = random.random_range(0..blocks.len());
    let recorded = RECORDED.iter().position(|(_, times)| *times == case.other()).unwrap_or(EQUALS[2]);
    // A stretch is never longer than what was recorded.
    gate(Duration::from_secs_f64(args.budget), Some(blocks.len()), seed, &mut |_| {
        let mut equals = EQUALS;
        equals.shuffle(&mut random);
        let [reference, again, third] = equals;
        let other = if EQUALS.contains(&recorded) { third } else { recorded };
        let times = [reference, other, again].map(|at| blocks.time(at, block));
        block += 1;
        [times[0] * case.luck(), times[1], times[2]]
    })
}
