//! CPU time for each request and throughput, whenever an answer has come.

use std::fmt::Write;

use anyhow::Result;

use super::{Section, fewest};
use crate::acceptance::{ENOUGH, Limit, Line};
use crate::floor;
use crate::kumite::{BOTH, EPOLL, IO_URING};
use crate::peers::WRK;
use crate::{Bench, Cells, Effort, Point, Shape, Trial, spread};

const CONNECTIONS: [u32; 4] = [1, 10, 50, 1000];
/// A share of its CPU from which on a process counts as having no headroom.
const BUSY: f64 = 0.9;

pub fn run(bench: &Bench, effort: Effort) -> Result<Section> {
    // Of one connection nothing is asked.
    let most_rounds = |connections| if connections == 1 { 3 } else { u32::MAX };
    let points =
        CONNECTIONS.map(|connections| Point { most_rounds: most_rounds(connections), ..point(connections) });
    let cells = bench.rounds("closed", &points, effort, |_, _| true, |_, trial| Ok(trial))?;
    let mut lines = Vec::new();
    for (index, connections) in CONNECTIONS.into_iter().enumerate().filter(|(_, of)| [50, 1000].contains(of))
    {
        for (pair, most) in
            [((IO_URING, WRK), 0.75), ((EPOLL, WRK), 0.85), ((IO_URING, floor::IO_URING), 1.15)]
        {
            lines.push(cpu_line(&cells, index, connections, pair, most));
        }
        for name in BOTH {
            lines.push(Line {
                what: format!("requests/s, {name} : wrk, {connections} connections"),
                measured: cells.ratio(index, (name, WRK), rate),
                limit: Limit::Least(1.1),
                rounds: fewest([name, WRK].map(|name| cells.of(index, name).len())),
                needs: ENOUGH,
            });
        }
    }
    for name in BOTH {
        let at = |connections| CONNECTIONS.iter().position(|of| *of == connections);
        let (Some(many), Some(few)) = (at(1000), at(10)) else { continue };
        let medians = [many, few].map(|point| cells.median(point, name, cpu));
        lines.push(Line {
            what: format!("CPU/request at 1,000 : at 10 connections, {name}"),
            measured: medians[0].zip(medians[1]).map(|(many, few)| many / few),
            limit: Limit::Most(1.3),
            rounds: fewest([many, few].map(|point| cells.of(point, name).len())),
            needs: ENOUGH,
        });
    }
    let text = format!(
        "## Closed loop\n\nLoads of {} s. CPU time is the generator's whole process, by the requests that the server \
         answered.\n\n{}",
        effort.seconds,
        table(&cells)
    );
    Ok(Section { text, lines, faults: faults(&cells) })
}

pub fn point(connections: u32) -> Point {
    Point::new(connections, Shape::Closed)
}

pub fn cpu(trial: &Trial) -> Option<f64> {
    Some(trial.cpu_us_per_request())
}

fn rate(trial: &Trial) -> Option<f64> {
    Some(trial.requests_per_s())
}

pub fn cpu_line(
    cells: &Cells<Trial>,
    point: usize,
    connections: u32,
    (ours, other): (&str, &str),
    most: f64,
) -> Line {
    Line {
        what: format!("CPU/request, {ours} : {other}, {connections} connections"),
        measured: cells.ratio(point, (ours, other), cpu),
        limit: Limit::Most(most),
        rounds: fewest([ours, other].map(|name| cells.of(point, name).len())),
        needs: ENOUGH,
    }
}

/// The Markdown: each generator for itself, and ours beside wrk and the floor in pairs from the same round.
pub fn table(cells: &Cells<Trial>) -> String {
    let mut text = String::from(
        "| connections | generator | CPU µs/request, median (min–max) | requests/s | generator's CPU busy | server's CPU \
         busy | the limit | others' CPU, most | peak RSS MiB | rounds |\n\
         | ---: | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |\n",
    );
    for (index, point) in cells.points.iter().enumerate() {
        for name in cells.present(index) {
            let _ = writeln!(text, "| {} | {}", point.connections, row(cells, index, name));
        }
    }
    text += "\n| connections | pair | CPU/request, ratio (95 % interval) | requests/s, ratio (95 % interval) |\n\
             | ---: | --- | ---: | ---: |\n";
    for (index, point) in cells.points.iter().enumerate() {
        for pair in [(IO_URING, WRK), (EPOLL, WRK), (IO_URING, floor::IO_URING), (EPOLL, floor::EPOLL)] {
            if [pair.0, pair.1].iter().all(|name| !cells.of(index, name).is_empty()) {
                let (cpu, rate) = (cells.paired(index, pair, cpu), cells.paired(index, pair, rate));
                let _ =
                    writeln!(text, "| {} | {} : {} | {cpu} | {rate} |", point.connections, pair.0, pair.1);
            }
        }
    }
    text + &failures(&cells.failures)
}

fn row(cells: &Cells<Trial>, point: usize, name: &str) -> String {
    let middle = |value: &dyn Fn(&Trial) -> f64| {
        cells.median(point, name, |trial| Some(value(trial))).unwrap_or(f64::NAN)
    };
    let share = |of: std::time::Duration, trial: &Trial| of.as_secs_f64() / trial.wall.as_secs_f64();
    let busy = middle(&|trial| share(trial.cpu, trial));
    let server_busy = middle(&|trial| share(trial.server_cpu, trial));
    let limit = match (busy >= BUSY, server_busy >= BUSY) {
        (true, true) => "both",
        (true, false) => "generator",
        (false, true) => "server",
        (false, false) => "neither",
    };
    let others = cells.values(point, name, |trial| Some(share(trial.others_cpu, trial)));
    format!(
        "{name} | {} | {:.0} | {:.0} % | {:.0} % | {limit} | {:.1} % | {:.1} | {} |",
        spread(&cells.values(point, name, cpu), 2),
        middle(&Trial::requests_per_s),
        busy * 100.0,
        server_busy * 100.0,
        others.into_iter().fold(0.0, f64::max) * 100.0,
        middle(&Trial::peak_rss_mib),
        cells.of(point, name).len(),
    )
}

/// Failures are results.
pub fn failures(failures: &[String]) -> String {
    failures.iter().fold(String::new(), |text, failure| format!("{text}\nFailed: {failure}\n"))
}

/// All that makes a trial of ours no fair comparison: its count of answers is not the server's, it did not have its
/// connections, or it failed.
pub fn faults(cells: &Cells<Trial>) -> Vec<String> {
    let ours = [&BOTH[..], &[floor::IO_URING, floor::EPOLL]].concat();
    let mut faults: Vec<String> = cells
        .failures
        .iter()
        .filter(|text| ours.iter().any(|name| text.starts_with(name)))
        .cloned()
        .collect();
    for (index, point) in cells.points.iter().enumerate() {
        for name in &ours {
            for trial in cells.of(index, name) {
                let at = format!("{name} at {} connections", point.connections);
                if trial.miscount() != 0 {
                    faults.push(format!(
                        "{at}: it counted {} answers, the server {}",
                        trial.said.answers, trial.requests
                    ));
                }
                if trial.connections < u64::from(point.connections) {
                    faults.push(format!("{at}: it never had more than {} open", trial.connections));
                }
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Said;

    fn trial(requests: u64, answers: u64, cpu_ms: u64) -> Trial {
        Trial {
            requests,
            connections: 10,
            said: Said { answers, ..Said::default() },
            cpu: Duration::from_millis(cpu_ms),
            wall: Duration::from_secs(1),
            server_cpu: Duration::from_millis(500),
            others_cpu: Duration::from_millis(20),
            peak_rss_bytes: 3 << 20,
            stamps_ns: Vec::new(),
        }
    }

    fn cells() -> Cells<Trial> {
        let mut cells = Cells::new(&[point(10)], vec![IO_URING, WRK, floor::IO_URING]);
        for (round, cpu_ms) in [450, 460, 470, 480, 490, 500, 510].into_iter().enumerate() {
            cells.keep(0, 0, round as u32, Ok(trial(100_000, 100_000, cpu_ms)));
            cells.keep(0, 1, round as u32, Ok(trial(100_000, 7, 2 * cpu_ms)));
        }
        cells
    }

    #[test]
    fn medians_limits_and_ratios_of_pairs() {
        let text = table(&cells());
        for row in [
            "| 10 | kumite io_uring | 4.80 (4.50–5.10) | 100000 | 48 % | 50 % | neither | 2.0 % | 3.0 | 7 |",
            "| 10 | wrk | 9.60 (9.00–10.20) | 100000 | 96 % | 50 % | generator | 2.0 % | 3.0 | 7 |",
            "| 10 | kumite io_uring : wrk | 0.500 (0.500–0.500) | 1.000 (1.000–1.000) |",
        ] {
            assert!(text.contains(row), "{row}\nis not in\n{text}");
        }
        assert!(!text.contains("floor"), "{text}");
        let line = cpu_line(&cells(), 0, 10, (IO_URING, WRK), 0.75);
        assert_eq!((line.measured, line.rounds), (Some(0.5), 7));
        assert_eq!(line.verdict(), "undecided: too few rounds");
        assert_eq!(cpu_line(&cells(), 0, 10, (IO_URING, floor::IO_URING), 1.0).verdict(), "not measured");
    }

    #[test]
    fn any_miscount_of_ours_and_too_few_connections_are_faults() {
        assert_eq!(faults(&cells()), Vec::<String>::new());
        for wrong in [trial(100_001, 100_000, 1), trial(99_999, 100_000, 1)] {
            let mut cells = cells();
            let text = format!(
                "kumite io_uring at 10 connections: it counted 100000 answers, the server {}",
                wrong.requests
            );
            cells.keep(0, 0, 7, Ok(wrong));
            assert_eq!(faults(&cells), [text]);
        }
        let mut cells = cells();
        cells.keep(0, 0, 7, Ok(Trial { connections: 9, ..trial(1, 1, 1) }));
        cells.keep(0, 0, 8, Err(anyhow::anyhow!("it broke")));
        cells.keep(0, 1, 8, Err(anyhow::anyhow!("it broke")));
        assert_eq!(
            faults(&cells),
            [
                "kumite io_uring at 10 connections, round 9: it broke",
                "kumite io_uring at 10 connections: it never had more than 9 open"
            ]
        );
        assert!(table(&cells).contains("\nFailed: wrk at 10 connections, round 9: it broke\n"));
    }
}
