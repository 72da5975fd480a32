//! How exactly requests arrive on their schedule, and what that costs.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::{Section, closed, fewest};
use crate::acceptance::{ENOUGH, Limit, Line};
use crate::kumite::{ECONOMY, PRECISE};
use crate::{Bench, Cells, Effort, Grid, Point, Shape, Trial, floor, spread};

const RATES: [u32; 2] = [1000, 10_000];
const CONNECTIONS: u32 = 50;
const OURS: [&str; 3] = [PRECISE, ECONOMY, floor::SLEEPING];
/// Of the rate.
const MOST_OFF: f64 = 0.001;
/// Also for the drift: none is to be seen beside it.
const MOST_ERROR_US: f64 = 30.0;
const MOST_CPU_US: f64 = 15.0;

struct Arrivals {
    grid: Grid,
    cpu_us: f64,
    others_cpu: f64,
    requests: f64,
}

type Value = fn(&Arrivals) -> Option<f64>;
const P50: Value = |arrivals| Some(arrivals.grid.error_p50_us);
const P99: Value = |arrivals| Some(arrivals.grid.error_p99_us);
const DRIFT: Value = |arrivals| Some(arrivals.grid.drift_us);
const CPU: Value = |arrivals| Some(arrivals.cpu_us);

pub fn run(bench: &Bench, effort: Effort) -> Result<Section> {
    let points = RATES.map(|rate| Point::new(CONNECTIONS, Shape::Open(rate)));
    let cells = bench.rounds("arrivals", &points, effort, |_, _| true, arrivals)?;

    let mut text = format!(
        "## Arrivals\n\nOpen loop, {CONNECTIONS} connections, {} s, stamped by the server. Error: the distance of each arrival \
         from an ideal grid of the best phase, first 0.5 s and last 0.3 s cut; drift: by how much it grew meanwhile. Medians \
         over runs (min–max).\n\n\
         | requests/s | generator | achieved | error p50, µs | error p99, µs | drift, µs | CPU µs/request | requests | others' \
         CPU, most | runs |\n| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        effort.seconds
    );
    for (index, rate) in RATES.into_iter().enumerate() {
        for name in cells.present(index) {
            let of = |value: Value, decimals| spread(&cells.values(index, name, value), decimals);
            let others = cells.values(index, name, |arrivals| Some(arrivals.others_cpu * 100.0));
            let _ = writeln!(
                text,
                "| {rate} | {name} | {} | {} | {} | {} | {} | {} | {:.1} % | {} |",
                of(|arrivals| Some(arrivals.grid.rate_per_s), 1),
                of(P50, 0),
                of(P99, 0),
                of(DRIFT, 0),
                of(CPU, 1),
                of(|arrivals| Some(arrivals.requests), 0),
                others.into_iter().fold(0.0, f64::max),
                cells.of(index, name).len(),
            );
        }
    }
    text += &closed::failures(&cells.failures);
    let ours = |text: &&String| OURS.iter().any(|name| text.starts_with(name));
    let faults = cells.failures.iter().filter(ours).cloned().collect();
    Ok(Section { text, lines: lines(&cells), faults })
}

fn arrivals(point: &Point, trial: Trial) -> Result<Arrivals> {
    let rate = point.shape.rate_per_s().context("no schedule")?;
    Ok(Arrivals {
        grid: Grid::of(&trial.stamps_ns, rate).context("too few arrivals to tell")?,
        cpu_us: trial.cpu_us_per_request(),
        others_cpu: trial.others_cpu.as_secs_f64() / trial.wall.as_secs_f64(),
        requests: trial.requests as f64,
    })
}

fn lines(cells: &Cells<Arrivals>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, rate) in RATES.into_iter().enumerate() {
        let mut line = |what: &str, name: &str, measured, most, rounds| {
            let what = format!("{what}, {name}, {rate}/s");
            lines.push(Line { what, measured, limit: Limit::Most(most), rounds, needs: ENOUGH });
        };
        let count = |name| cells.of(index, name).len();
        let median = |name, value: Value| cells.median(index, name, value);

        let alone = count(PRECISE) as u32;
        let off = |arrivals: &Arrivals| Some((arrivals.grid.rate_per_s / f64::from(rate) - 1.0).abs());
        line("achieved rate, off by", PRECISE, cells.median(index, PRECISE, off), MOST_OFF, alone);
        let drift: Value = |arrivals| Some(arrivals.grid.drift_us.abs());
        line("drift over a run, µs", PRECISE, median(PRECISE, drift), MOST_ERROR_US, alone);
        line("error of arrivals p50, µs", PRECISE, median(PRECISE, P50), MOST_ERROR_US, alone);
        let both = fewest([PRECISE, floor::SLEEPING].map(count));
        let ratio = cells.ratio(index, (PRECISE, floor::SLEEPING), P99);
        line("error of arrivals p99 : a sleeping floor's", PRECISE, ratio, 1.0, both);

        let alone = count(ECONOMY) as u32;
        for (what, value) in
            [("error of arrivals p50 : best peer's", P50), ("error of arrivals p99 : best peer's", P99)]
        {
            let peers = cells.present(index).into_iter().filter(|name| !OURS.contains(name));
            let best = peers.filter_map(|name| median(name, value)).reduce(f64::min);
            let ratio = median(ECONOMY, value).zip(best).map(|(ours, best)| ours / best);
            line(what, ECONOMY, ratio, 1.0, alone);
        }
        if rate == 10_000 {
            line("CPU µs/request", ECONOMY, median(ECONOMY, CPU), MOST_CPU_US, alone);
        }
    }
    lines
}
