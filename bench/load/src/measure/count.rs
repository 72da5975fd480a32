//! The engine's count of answers beside the server's.

use std::fmt::Write;

use anyhow::Result;

use super::{Section, closed, ten_thousand};
use crate::acceptance::{Limit, Line};
use crate::kumite::BOTH;
use crate::{Bench, Effort, Trial};

const CONNECTIONS: [u32; 4] = [1, 50, 1000, ten_thousand::CONNECTIONS];

pub fn run(bench: &Bench, effort: Effort) -> Result<Section> {
    let points = CONNECTIONS.map(closed::point);
    let ours = |name| BOTH.contains(&name);
    let cells = bench.rounds("count", &points, effort, |_, who| ours(who.name), |_, trial| Ok(trial))?;
    let mut text = format!(
        "## Counts\n\nLoads of {} s; what each says it had, and drained after the end, beside what the server answered.\n\n\
         | connections | generator | server's count | difference |\n| ---: | --- | ---: | ---: |\n",
        effort.seconds
    );
    let mut lines = Vec::new();
    for (index, connections) in CONNECTIONS.into_iter().enumerate() {
        for name in BOTH {
            let trials: Vec<&Trial> = cells.of(index, name);
            for trial in &trials {
                let _ =
                    writeln!(text, "| {connections} | {name} | {} | {} |", trial.requests, trial.miscount());
            }
            let off = trials.iter().map(|trial| trial.miscount().unsigned_abs() as f64).reduce(f64::max);
            lines.push(Line {
                what: format!("answers miscounted at most, {name}, {connections} connections"),
                measured: off,
                limit: Limit::Most(0.0),
                rounds: trials.len() as u32,
                needs: 1,
            });
        }
    }
    text += &closed::failures(&cells.failures);
    Ok(Section { text, lines, faults: closed::faults(&cells) })
}
