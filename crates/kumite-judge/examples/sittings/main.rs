//! What verdicts of several sittings are worth: how often two runs of the same contradict one another, how much is decided,
//! and whether the next sitting is where it is said to be. `cargo run --release -p kumite-judge --example sittings` prints the
//! tables; `cargo test` asserts some of it, from fewer runs.
//!
//! Nothing of it is of the rule's own making: each run is made of trials, and judged as a run is.

mod model;
mod run;
mod tables;

const RUNS: u64 = 5_000;

fn main() {
    println!("{}", tables::contradictions(RUNS));
    println!("{}", tables::power(RUNS));
    println!("{}", tables::depends(RUNS));
    println!("{}", tables::next(RUNS));
}
