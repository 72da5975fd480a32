//! How many of the verdicts and bounds that a run gives are false, printed as tables: `cargo run --release -p
//! kumite-stats --example discoveries`, which takes two cores seven minutes. `cargo test` asserts some of it.

mod blocks;
mod noise;
#[cfg(test)]
mod peeking;
mod rates;
mod run;
mod scenarios;
mod tables;
#[cfg(test)]
mod tests;
mod truth;
mod wealths;

use kumite_stats::ErrorRate;

use crate::blocks::{Judges, PLANS};
use crate::run::ALPHA;
use crate::tables::{Figure, Table};

const RUNS: usize = 20_000;
const COMPARISONS: &[usize] = &[1, 2, 6, 30];
/// Thirty take most of the time, and are betted on like six.
const FEWER: &[usize] = &[1, 2, 6];

const VERDICTS: Figure =
    Figure { title: "False among the verdicts given", of: |rates| &rates.discovery, limit: ALPHA };
const BOUNDS: Figure =
    Figure { title: "False among the bounds shown", of: |rates| &rates.coverage, limit: 2.0 * ALPHA };
const STRICT: Figure =
    Figure { title: "Family-wise: runs with any false verdict", of: |rates| &rates.family, limit: ALPHA };

fn main() {
    println!(
        "Three figures a cell: stopped after 24 rounds, at the first verdict, at the first false verdict."
    );
    println!("In percent; \"!\" where the 99.9 % lower bound is above what is promised.");
    let plain = Table::new(scenarios::plain(ErrorRate::FalseDiscovery, COMPARISONS), RUNS);
    plain.print(VERDICTS);
    plain.print(BOUNDS);
    Table::new(scenarios::plain(ErrorRate::FamilyWise, FEWER), RUNS).print(STRICT);
    let margins = Table::new(scenarios::no_difference(FEWER), RUNS);
    margins.print(Figure { title: "With a margin: false among the verdicts given", ..VERDICTS });
    let bands = Table::new(scenarios::bands(), RUNS);
    bands.print(Figure { title: "Within a band: false among the verdicts given", ..VERDICTS });
    let voids = Table::new(scenarios::voids(), RUNS);
    voids.print(Figure { title: "Voided blocks: false among the verdicts given", ..VERDICTS });
    println!(
        "\nBlocks until all of six claims are decided, median\n\n| | before | after |\n| --- | --- | --- |"
    );
    let judges = Judges::new();
    for plan in &PLANS {
        let [before, after] = judges.medians(plan, 2_000);
        println!("| {} | {before} | {after} |", plan.name);
    }
}
