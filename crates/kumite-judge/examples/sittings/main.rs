//! The worth of verdicts from several sittings: how often two runs of the same contradict one another, how much is decided,
//! and how often the next sitting is where it is said to be. `cargo run --release -p kumite-judge --example sittings` prints
//! all tables, in about a quarter of an hour; with `contradictions`, `power`, `depends` or `next` only that one. `cargo test`
//! asserts some of it, from fewer runs.
//!
//! The rule is the judge's own: each run is made of trials, and judged as a run is.

#[path = "../made/mod.rs"]
mod made;
mod model;
mod run;
mod tables;

const RUNS: u64 = 5_000;
type Table = fn(u64) -> String;
const TABLES: [(&str, Table); 4] = [
    ("contradictions", tables::contradictions),
    ("power", tables::power),
    ("depends", tables::depends),
    ("next", tables::next),
];

fn main() {
    let only = std::env::args().nth(1);
    let wanted: Vec<_> =
        TABLES.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)).collect();
    assert!(!wanted.is_empty(), "there is no such table: contradictions, power, depends, next");
    for (_, table) in wanted {
        println!("{}", table(RUNS));
    }
}
