//! CPU time for each request and memory with 10,000 connections.

use anyhow::Result;

use super::{Section, closed};
use crate::acceptance::{ENOUGH, Limit, Line};
use crate::kumite::BOTH;
use crate::peers::WRK;
use crate::{Bench, Effort, Trial};

pub const CONNECTIONS: u32 = 10_000;
const MOST_MIB: f64 = 24.0;

pub fn run(bench: &Bench, effort: Effort) -> Result<Section> {
    let points = [closed::point(CONNECTIONS)];
    let cells = bench.rounds("ten-thousand", &points, effort, |_, _| true, |_, trial| Ok(trial))?;
    let mut lines: Vec<Line> =
        BOTH.map(|name| closed::cpu_line(&cells, 0, CONNECTIONS, (name, WRK), 0.75)).into();
    lines.extend(BOTH.map(|name| Line {
        what: format!("peak memory, MiB, {name}, {CONNECTIONS} connections"),
        measured: cells.median(0, name, |trial: &Trial| Some(trial.peak_rss_mib())),
        limit: Limit::Most(MOST_MIB),
        rounds: cells.of(0, name).len() as u32,
        needs: ENOUGH,
    }));
    let text = format!(
        "## 10,000 connections\n\nLoads of {} s, in which the connections are opened too.\n\n{}",
        effort.seconds,
        closed::table(&cells)
    );
    Ok(Section { text, lines, faults: closed::faults(&cells) })
}
