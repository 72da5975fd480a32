//! `capacity_rps` of a stub whose knee is known.

use anyhow::{Context, Result};
use bench_judge::on_the_fly::OnTheFly;
use kumite_record::Export;
use serde_json::json;

use crate::Measured;

/// The stub gives exactly 2,000 answers a second. A load of a second at a rate r leaves it r/2000 − 1 seconds behind, and
/// the p99, which is 0.99 of that and 0.5 ms, passes 20 ms at this rate.
const KNEE_RPS: f64 = 2000.0 * (1.0 + 0.0195 / 0.99);
/// As much as an estimate may be off.
const OFF: f64 = 0.02;
const RUNS: u64 = 10;

/// Prints the estimate of each run with its interval; returns what is worse than promised.
pub fn measure(args: &Measured) -> Result<Vec<String>> {
    let experiment = json!({
        "question": "Up to which rate does it meet the objective?",
        "kind": "http",
        "blocks": 6,
        "workload": {
            "objective": "p99 < 20ms and errors < 0.1%",
            "connections": 100,
            "duration_s": 1,
            "warm_up_s": 0.5,
        },
        "answer": { "equals": "pong" },
    });
    let kumite = args.kumite.canonicalize().with_context(|| format!("{}", args.kumite.display()))?;
    let kumite = kumite.to_str().context("kumite lies where no UTF-8 leads to")?;
    let run = format!("exec '{kumite}' stub --host $HOST --port $PORT --delay 500us --workers 1");
    let variant = json!({ "name": "stub", "model": "event-loop", "run": run });
    let contender = json!({ "version": "echo stub 1", "variant": [variant] });
    let experiment = OnTheFly::write(&args.kumite, &experiment, &contender)?;
    let runs = args.runs.unwrap_or(RUNS);
    println!("knee: {KNEE_RPS:.0} req/s\n\n| run | estimate | 95 % | off | holds the knee |");
    println!("| ---: | ---: | ---: | ---: | --- |");
    let (mut far, mut missed) = (0, 0);
    for nth in 0..runs {
        let export: Export = serde_json::from_value(experiment.export(args.seed.wrapping_add(nth), &[])?)?;
        let cell = export.cells.first().context("no cell in its JSON")?;
        let found = cell.metrics.get("capacity_rps").context("no capacity_rps in its JSON")?;
        // Fewer than six trials have no interval: one of them has failed.
        let interval = found.low.zip(found.high);
        let off = found.estimate / KNEE_RPS - 1.0;
        let holds = interval.is_some_and(|(low, high)| (low..=high).contains(&KNEE_RPS));
        let interval =
            interval.map_or_else(|| "none".to_owned(), |(low, high)| format!("{low:.0}–{high:.0}"));
        far += u64::from(off.abs() > OFF);
        missed += u64::from(!holds);
        println!(
            "| {} | {:.0} | {interval} | {:+.2} % | {} |",
            nth + 1,
            found.estimate,
            off * 100.0,
            if holds { "yes" } else { "no" }
        );
    }
    let mut problems = Vec::new();
    if far > 0 {
        problems.push(format!("{far} of {runs} estimates are off by more than {} %", OFF * 100.0));
    }
    // Of ten at 95 % each, two and more are missed in a tenth of cases.
    if missed > runs.div_ceil(5) {
        problems.push(format!("{missed} of {runs} intervals do not hold the knee"));
    }
    Ok(problems)
}
