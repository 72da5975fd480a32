//! Gates on times that are made up, with noise of a known kind and size.

use std::time::Duration;

use clap::Args;
use kumite_compare::RecordedGate;

use crate::case::Case;
use crate::gates::gate;
use crate::noise::{Factors, KINDS, Kind};
use crate::tally::{Asked, Tally, rounds_asked};

const CASES: [Case; 5] = [Case::Equal, Case::Border, Case::Slower, Case::Lucky, Case::FarSlower];
/// More is asked for real machines alone, where the control may be off for a reason.
const CANNOT_TELL: f64 = 0.02;

/// What is simulated.
#[derive(Args)]
pub struct Simulated {
    /// Gates of each case
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    runs: u64,
    /// Seconds that the reference takes
    #[arg(long, value_name = "S", default_value_t = 0.3)]
    seconds: f64,
    /// Seconds that each gate may take
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    budget: f64,
    /// Standard deviations of the logarithm of a round's ratio, in percent
    #[arg(long, value_name = "P,P", value_delimiter = ',', default_values_t = [1.0, 2.0])]
    deviation: Vec<f64>,
    /// Of the first gate; the next one has the next
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Prints a row for each kind and size of noise; what is worse than asked.
pub fn simulated(args: &Simulated) -> Vec<String> {
    println!(
        "| noise | s | shut: equal | +1 % | lucky | +3 % | +10 %, lucky | open: equal | cannot tell: equal | +1 % | +3 % | \
         +3 %: rounds until shown | until settled | seconds | with a doubt |"
    );
    println!("| --- {}|", "| ---: ".repeat(14));
    let mut problems = Vec::new();
    for kind in &KINDS {
        for percent in &args.deviation {
            problems.extend(row(args, kind, percent / 100.0));
        }
    }
    problems
}

fn row(args: &Simulated, kind: &'static Kind, deviation: f64) -> Vec<String> {
    let size = kind.size(deviation);
    let tallies = CASES.map(|case| {
        let mut tally = Tally::default();
        (0..args.runs).for_each(|nth| tally.count(&one(args, kind, size, case, args.seed.wrapping_add(nth))));
        tally
    });
    let [equal, border, slower, lucky, far] = &tallies;
    println!(
        "| {} | {} % | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        kind.name,
        deviation * 100.0,
        equal.shut,
        border.shut,
        lucky.shut,
        slower.shut,
        far.shut,
        equal.open,
        equal.cannot_tell,
        border.cannot_tell,
        slower.cannot_tell,
        slower.shown(),
        slower.rounds(),
        slower.seconds(),
        slower.doubtful,
    );
    // The rounds that are asked for were simulated with normal noise.
    let rounds = (kind.name == KINDS[0].name).then(|| rounds_asked(deviation));
    let of_case =
        |(tally, case): (&Tally, Case)| tally.problems(case, Asked { rounds, cannot_tell: CANNOT_TELL });
    let problems = tallies.iter().zip(CASES).flat_map(of_case);
    problems.map(|problem| format!("{}, s = {} %: {problem}", kind.name, deviation * 100.0)).collect()
}

fn one(args: &Simulated, kind: &'static Kind, size: f64, case: Case, seed: u64) -> RecordedGate {
    let mut factors = Factors::new(kind, size, seed);
    let times = [case.luck(), case.other(), 1.0].map(|factor| factor * args.seconds);
    // The order is drawn from the same seed by another generator's stream.
    gate(Duration::from_secs_f64(args.budget), None, !seed, &mut |order| {
        let mut block = times;
        for &at in order {
            block[at] *= factors.next().unwrap_or(1.0);
        }
        block
    })
}
