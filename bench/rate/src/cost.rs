//! `cpu_us_per_request` of two servers that burn 5 % apart, at a rate that both can serve.

use anyhow::{Context, Result};
use bench_judge::on_the_fly::{OnTheFly, this_program};
use kumite_record::{Export, Verdict};
use serde_json::json;

use crate::Measured;

/// The CPU time of a request, and 5 % more of it, in ns: with what the kernel takes, some 0.7 of a CPU at this rate.
const LESS_NS: u64 = 60_000;
const MORE_NS: u64 = 63_000;
const RATE_RPS: u64 = 10_000;
/// The most blocks that a run has for it.
const BLOCKS: u64 = 12;
const RUNS: u64 = 50;

/// Prints how many runs told the two apart, and how many the wrong way round; returns what is worse than promised.
pub fn measure(args: &Measured) -> Result<Vec<String>> {
    let ours = this_program()?;
    let variant = |(name, ns): (&str, u64)| json!({ "name": name, "model": "threads", "run": format!("exec {ours} burner {ns}") });
    let variants: Vec<_> = [("less", LESS_NS), ("more", MORE_NS)].map(variant).into();
    let experiment = json!({
        "question": "Which of these burns more for a request?",
        "kind": "http",
        "blocks": BLOCKS,
        "workload": { "rate_rps": RATE_RPS, "connections": 50, "duration_s": 2, "warm_up_s": 0.5 },
        "answer": { "equals": "pong" },
        "claim": [{ "id": "more", "assert": "cpu_us_per_request(more) > cpu_us_per_request(less)" }],
    });
    let contender = json!({ "version": "echo burner 1", "variant": variants });
    let experiment = OnTheFly::write(&args.kumite, &experiment, &contender)?;
    let runs = args.runs.unwrap_or(RUNS);
    let (mut decided, mut wrong) = (0, 0);
    for nth in 0..runs {
        let export: Export = serde_json::from_value(experiment.export(args.seed.wrapping_add(nth), &[])?)?;
        let claim = export.claims.first().context("no claim in its JSON")?;
        decided += u64::from(claim.verdict == Verdict::Holds);
        wrong += u64::from(matches!(claim.verdict, Verdict::Fails | Verdict::NoDifference));
        eprint!("\r{} of {runs} runs", nth + 1);
    }
    eprintln!();
    println!("| runs | decided within {BLOCKS} blocks | undecided | wrong |\n| ---: | ---: | ---: | ---: |");
    println!("| {runs} | {decided} | {} | {wrong} |", runs - decided - wrong);
    let mut problems = Vec::new();
    if wrong > 0 {
        problems.push(format!("{wrong} of {runs} verdicts on 5 % more CPU are wrong"));
    }
    if decided + wrong < runs {
        problems.push(format!("{} of {runs} runs did not decide", runs - decided - wrong));
    }
    Ok(problems)
}
