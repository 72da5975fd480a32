//! Response times by each generator when the server stops for a second, beside those of the schedule.

use std::fmt::Write;

use anyhow::{Context, Result, bail};

use super::{Section, closed};
use crate::acceptance::{Limit, Line};
use crate::kumite::BOTH;
use crate::{Bench, Cells, Effort, Percentiles, Point, STALL, Shape, Stop, Trial, spread};

const RATE: u32 = 2000;
const CONNECTIONS: u32 = 50;
const CALM: usize = 0;
const STALLED: usize = 1;
/// Of the truth.
const MOST_OFF: f64 = 0.02;
const MOST_OFF_P50_US: f64 = 50.0;
const FEWEST_SECONDS: u64 = 4;

struct Outcome {
    requests: u64,
    said: Percentiles,
    /// None in a calm run.
    stop: Option<Stop>,
}

pub fn run(bench: &Bench, effort: Effort) -> Result<Section> {
    let Effort { seconds, .. } = effort;
    if seconds < FEWEST_SECONDS {
        bail!("a stall of 1 s needs a load of {FEWEST_SECONDS} s or more; raise --seconds");
    }
    let points = [Shape::Timed(RATE), Shape::Stalled(RATE)].map(|shape| Point::new(CONNECTIONS, shape));
    let cells = bench.rounds("stall", &points, effort, |_, _| true, outcome)?;

    // A generator that holds requests back does not show how quickly the server drains.
    let drains = BOTH.map(|name| cells.values(STALLED, name, |outcome| outcome.stop?.drain_s)).concat();
    let drain_s = kumite_stats::median(&drains);
    let truth = |name: &str, outcome: &Outcome| {
        let stop = outcome.stop?;
        let calm_us = cells.median(CALM, name, |calm: &Outcome| calm.said.p50).unwrap_or_default();
        Some(stop.responses(RATE, seconds, stop.drain_s.or(drain_s).unwrap_or_default(), calm_us))
    };
    let truths = |name, of: fn(&Percentiles) -> Option<f64>| {
        cells.values(STALLED, name, |outcome| of(&truth(name, outcome)?))
    };
    let off = |name, of: fn(&Percentiles) -> Option<f64>| {
        cells.values(STALLED, name, |outcome| Some(of(&outcome.said)? / of(&truth(name, outcome)?)? - 1.0))
    };
    let p50_off_us = |name: &str| {
        let [stalled, calm] =
            [STALLED, CALM].map(|point| cells.median(point, name, |outcome| outcome.said.p50));
        Some(stalled? - calm?)
    };

    let mut text = format!(
        "## Truth under a stall\n\n{RATE} requests/s over {CONNECTIONS} connections for {seconds} s; the server is stopped for 1 s in the \
         middle. The truth is computed from the schedule, the instants at which the server stopped and went on, and the time \
         it took for each request while it drained ({}). \"Off\" is what was said against that.\n\n\
         | generator | | truth, ms | said, ms | off, % | runs |\n| --- | --- | ---: | ---: | ---: | ---: |\n",
        drain_s
            .map_or("not measured".to_owned(), |drain_s| format!("{:.1} µs in kumite's runs", drain_s * 1e6)),
    );
    for name in cells.present(STALLED) {
        for (percentile, of) in Percentiles::NAMED {
            let ms = |values: Vec<f64>| spread(&values.into_iter().map(|us| us / 1e3).collect::<Vec<_>>(), 3);
            let said = ms(cells.values(STALLED, name, |outcome| of(&outcome.said)));
            let off: Vec<f64> = off(name, of).into_iter().map(|share| share * 100.0).collect();
            let _ = writeln!(
                text,
                "| {name} | {percentile} | {} | {said} | {} | {} |",
                ms(truths(name, of)),
                spread(&off, 1),
                off.len()
            );
        }
    }
    text += "\n| generator | p50 undisturbed, ms | p50 stalled, ms | requests sent, undisturbed | stalled |\n\
             | --- | ---: | ---: | ---: | ---: |\n";
    for name in cells.present(STALLED) {
        let p50 = |point| spread(&cells.values(point, name, |outcome| Some(outcome.said.p50? / 1e3)), 3);
        let sent = |point| spread(&cells.values(point, name, |outcome| Some(outcome.requests as f64)), 0);
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} |",
            p50(CALM),
            p50(STALLED),
            sent(CALM),
            sent(STALLED)
        );
    }
    text += &closed::failures(&cells.failures);

    let mut lines = Vec::new();
    for name in BOTH {
        let rounds = cells.of(STALLED, name).len() as u32;
        lines.push(Line {
            what: format!("p50 under a stall against undisturbed, µs, {name}"),
            measured: p50_off_us(name).map(f64::abs),
            limit: Limit::Most(MOST_OFF_P50_US),
            rounds,
            needs: 1,
        });
        for (percentile, of) in &Percentiles::NAMED[1..] {
            lines.push(Line {
                what: format!("{percentile} under a stall, off the schedule's at most, {name}"),
                measured: off(name, *of).into_iter().map(f64::abs).reduce(f64::max),
                limit: Limit::Most(MOST_OFF),
                rounds,
                needs: 1,
            });
        }
    }
    Ok(Section { text, lines, faults: faults(&cells) })
}

fn outcome(point: &Point, trial: Trial) -> Result<Outcome> {
    let stop = match point.shape {
        Shape::Stalled(rate) => {
            let stop = Stop::of(&trial.stamps_ns, rate, STALL.as_secs_f64());
            Some(stop.context("the server's stamps show no stop of 1 s")?)
        }
        _ => None,
    };
    Ok(Outcome { requests: trial.requests, said: trial.said.response_us, stop })
}

fn faults(cells: &Cells<Outcome>) -> Vec<String> {
    let ours = |text: &&String| BOTH.iter().any(|name| text.starts_with(name));
    cells.failures.iter().filter(ours).cloned().collect()
}
