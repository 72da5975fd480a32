//! How many of the verdicts of runs on several nodes are false, where a contender is better on some nodes than on
//! others: `cargo run --release -p kumite-judge --example nodes`. `cargo test` asserts some of it.
//!
//! Each node has an effect of its own, of 0, 1 or 3 % (a standard deviation) around none at all; each round adds 2 %.

mod made;

use kumite_judge::judge;
use kumite_record::{Machine, Merged, Node, Point, Rule, Run, Scope, Trial, Verdict};
use made::{claim, contender};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

const RUNS: u64 = 4_000;
const NOISE: f64 = 0.02;
const INTERACTIONS: [f64; 3] = [0.0, 0.01, 0.03];
/// Nodes, and rounds on each.
const PLANS: [(usize, usize); 3] = [(2, 24), (4, 12), (24, 4)];

/// How often "a is faster than b" was said to hold, though it is not so, of so many runs.
struct False {
    /// Of these nodes, by what is so of these.
    of_these: u64,
    /// Of these nodes, by what is so of all nodes like them, which is not what was asked.
    of_these_taken_for_all: u64,
    /// Of nodes like these.
    of_all: u64,
    runs: u64,
}

fn main() {
    println!("False verdicts, in percent of {RUNS} runs; 5 are allowed.\n");
    println!("| nodes × rounds | node × contender | these nodes | nodes like these | these, taken for all |");
    println!("| --- | --- | --- | --- | --- |");
    for (nodes, rounds) in PLANS {
        for interaction in INTERACTIONS {
            let found = simulate(nodes, rounds, interaction, RUNS);
            let percent = |count: u64| format!("{:.1}", 100.0 * count as f64 / found.runs as f64);
            println!(
                "| {nodes} × {rounds} | {} % | {} | {} | {} |",
                interaction * 100.0,
                percent(found.of_these),
                percent(found.of_all),
                percent(found.of_these_taken_for_all)
            );
        }
    }
}

fn simulate(nodes: usize, rounds: usize, interaction: f64, runs: u64) -> False {
    let mut found = False { of_these: 0, of_these_taken_for_all: 0, of_all: 0, runs };
    let normal = Normal::standard();
    for seed in 0..runs {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = || normal.inverse_cdf(random.random_range(1e-12..1.0));
        let effects: Vec<f64> = (0..nodes).map(|_| interaction * draw()).collect();
        let mut trials = Vec::new();
        for round in 0..nodes * rounds {
            let node = round % nodes;
            let effect = effects[node] + NOISE * draw();
            for (contender, rate) in [("a", 1000.0 * effect.exp()), ("b", 1000.0)] {
                let node = Some(format!("n{node}"));
                trials.push(Trial { node, ..made::trial(round as u32, contender, rate) });
            }
        }
        // In more than half of all rounds on these nodes, as far as chance tells.
        let share: f64 = effects.iter().map(|effect| normal.cdf(effect / NOISE)).sum::<f64>() / nodes as f64;
        let holds = |scope| verdict(scope, nodes, &trials) == Verdict::Holds;
        let of_these = holds(Scope::TheseNodes);
        found.of_these += u64::from(of_these && share <= 0.5);
        found.of_these_taken_for_all += u64::from(of_these);
        found.of_all += u64::from(holds(Scope::NodesLikeThese));
    }
    found
}

fn verdict(scope: Scope, nodes: usize, trials: &[Trial]) -> Verdict {
    let node = |nth| Node { name: format!("n{nth}"), machine: Machine::default() };
    let merged =
        Merged { of: nodes as u32, nodes: (0..nodes).map(node).collect(), scope, ..Merged::default() };
    let run = Run {
        rule: Rule::Strict,
        points: vec![Point::default()],
        min_blocks: 6,
        merged: Some(merged),
        ..Run::default()
    };
    let trials: Vec<&Trial> = trials.iter().collect();
    judge(&run, &trials, &["a", "b"].map(contender), &[claim("a-first", "a", "b")], &[]).0[0].verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_verdicts_stay_within_their_level_and_these_nodes_say_little_of_others() {
        for interaction in INTERACTIONS {
            let found = simulate(24, 4, interaction, 300);
            // 15 of 300 are allowed; five standard deviations above are 34.
            assert!(found.of_these <= 34, "{interaction}: {} of these", found.of_these);
            assert!(found.of_all <= 34, "{interaction}: {} of all", found.of_all);
        }
        // Two nodes, each with 3 % of its own, are no sample of all nodes: the next one may contradict them.
        let found = simulate(2, 24, 0.03, 300);
        assert!(
            found.of_these <= 34 && found.of_these_taken_for_all > 30,
            "{}",
            found.of_these_taken_for_all
        );
        assert_eq!(found.of_all, 0, "two nodes are too few to say anything of others");
    }
}
