use std::fmt::Write;

use kumite_stats::{median, sequential_ratio};

use crate::{Generator, Trial};

/// A share of its CPU from which on a process counts as having no headroom.
const BUSY: f64 = 0.9;

/// All trials at one number of connections.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Keep-alive connections.
    pub connections: u32,
    /// `rounds[round][generator]`, in the order of the generators.
    pub rounds: Vec<Vec<Trial>>,
}

/// The Markdown: each generator for itself, the first against each other in pairs from the same round, and every
/// disagreement about the number of requests.
pub fn table(generators: &[Generator], cells: &[Cell]) -> String {
    let mut text = String::from(
        "| connections | generator | CPU µs/request, median (min–max) | requests/s, median | generator's CPU busy | \
         server's CPU busy | the limit | others' CPU, most | peak RSS MiB |\n\
         | ---: | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |\n",
    );
    for cell in cells {
        for (index, generator) in generators.iter().enumerate() {
            let _ = writeln!(text, "{}", row(cell, index, generator.name()));
        }
    }
    if let Some((first, others)) = generators.split_first().filter(|(_, others)| !others.is_empty()) {
        text += "\n| connections | pair | CPU/request, ratio (95 % interval) | requests/s, ratio (95 % interval) | rounds |\n\
                 | ---: | --- | ---: | ---: | ---: |\n";
        for cell in cells {
            for (index, other) in others.iter().enumerate() {
                let _ = writeln!(text, "{}", pair_row(cell, first.name(), (index + 1, other.name())));
            }
        }
    }
    for fault in faults(generators, cells) {
        let _ = write!(text, "\n**Error:** {fault}\n");
    }
    text
}

/// What makes a trial no fair comparison: a generator's count of answers and the server's differ by more than what may
/// have been in flight, or there were fewer connections than asked for.
pub fn faults(generators: &[Generator], cells: &[Cell]) -> Vec<String> {
    let mut faults = Vec::new();
    for cell in cells {
        for (round, trials) in cell.rounds.iter().enumerate() {
            for (generator, trial) in generators.iter().zip(trials) {
                let at =
                    format!("{} at {} connections, round {}", generator.name(), cell.connections, round + 1);
                if let Some(off) = trial.miscount(cell.connections) {
                    faults.push(format!(
                        "{at}: the server answered {off} more than it counted; 0 to {} may be in flight at the end",
                        cell.connections
                    ));
                }
                if trial.connections < u64::from(cell.connections) {
                    faults.push(format!("{at}: it never had more than {} open", trial.connections));
                }
            }
        }
    }
    faults
}

fn row(cell: &Cell, generator: usize, name: &str) -> String {
    let values = |value: &dyn Fn(&Trial) -> f64| {
        cell.rounds.iter().map(|round| value(&round[generator])).collect::<Vec<_>>()
    };
    let middle = |value: &dyn Fn(&Trial) -> f64| median(&values(value)).unwrap_or(f64::NAN);
    let cpu = values(&Trial::cpu_us_per_request);
    let busy = middle(&|trial| trial.cpu.as_secs_f64() / trial.wall.as_secs_f64());
    let server_busy = middle(&|trial| trial.server_cpu.as_secs_f64() / trial.wall.as_secs_f64());
    let limit = match (busy >= BUSY, server_busy >= BUSY) {
        (true, true) => "both",
        (true, false) => "generator",
        (false, true) => "server",
        (false, false) => "neither",
    };
    format!(
        "| {} | {name} | {:.2} ({:.2}–{:.2}) | {:.0} | {:.0} % | {:.0} % | {limit} | {:.1} % | {:.1} |",
        cell.connections,
        middle(&Trial::cpu_us_per_request),
        cpu.iter().copied().fold(f64::INFINITY, f64::min),
        cpu.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        middle(&Trial::requests_per_s),
        busy * 100.0,
        server_busy * 100.0,
        values(&|trial| trial.others_cpu.as_secs_f64() / trial.wall.as_secs_f64())
            .into_iter()
            .fold(0.0, f64::max)
            * 100.0,
        middle(&|trial| trial.peak_rss_bytes as f64 / f64::from(1 << 20)),
    )
}

fn pair_row(cell: &Cell, first: &str, (index, other): (usize, &str)) -> String {
    let ratio = |value: fn(&Trial) -> f64| {
        let pair = |round: &Vec<Trial>| (value(&round[0]), value(&round[index]));
        let pairs: Vec<_> = cell.rounds.iter().map(pair).collect();
        match sequential_ratio(&pairs, 0.05) {
            Ok(ratio) => format!("{:.3} ({:.3}–{:.3})", ratio.estimate, ratio.low, ratio.high),
            Err(error) => error.to_string(),
        }
    };
    format!(
        "| {} | {first} / {other} | {} | {} | {} |",
        cell.connections,
        ratio(Trial::cpu_us_per_request),
        ratio(Trial::requests_per_s),
        cell.rounds.len()
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn trial(requests: u64, counted: Option<u64>, cpu_ms: u64) -> Trial {
        Trial {
            requests,
            connections: 10,
            counted,
            cpu: Duration::from_millis(cpu_ms),
            wall: Duration::from_secs(1),
            server_cpu: Duration::from_millis(500),
            others_cpu: Duration::from_millis(20),
            peak_rss_bytes: 3 << 20,
        }
    }

    fn cell(counted: u64) -> Cell {
        let round = |cpu_ms| vec![trial(100_010, Some(counted), cpu_ms), trial(100_000, None, 2 * cpu_ms)];
        Cell { connections: 10, rounds: [450, 460, 470, 480, 490, 500, 510].map(round).to_vec() }
    }

    const BOTH: fn() -> [Generator; 2] = || [Generator::Kumite("kumite".into()), Generator::Wrk];

    #[test]
    fn medians_limits_and_ratios_of_pairs() {
        let text = table(&BOTH(), &[cell(100_000)]);
        for row in [
            "| 10 | kumite load | 4.80 (4.50–5.10) | 100010 | 48 % | 50 % | neither | 2.0 % | 3.0 |",
            "| 10 | wrk | 9.60 (9.00–10.20) | 100000 | 96 % | 50 % | generator | 2.0 % | 3.0 |",
            "| 10 | kumite load / wrk | 0.500 (0.500–0.500) | 1.000 (1.000–1.000) | 7 |",
        ] {
            assert!(text.contains(row), "{row}\nis not in\n{text}");
        }
        assert!(!text.contains("Error"), "{text}");
    }

    #[test]
    fn counts_may_differ_by_what_was_in_flight_and_no_more() {
        for (counted, wrong) in [(100_000, 0), (100_010, 0), (99_999, 7), (100_011, 7)] {
            assert_eq!(faults(&BOTH(), &[cell(counted)]).len(), wrong, "{counted}");
        }
        assert!(
            table(&BOTH(), &[cell(99_999)]).contains("**Error:** kumite load at 10 connections, round 1")
        );
    }

    #[test]
    fn fewer_connections_than_asked_for_are_a_fault() {
        let mut cell = cell(100_000);
        cell.rounds[2][1].connections = 9;
        assert_eq!(
            faults(&BOTH(), &[cell]),
            ["wrk at 10 connections, round 3: it never had more than 9 open"]
        );
    }

    #[test]
    fn too_few_rounds_have_no_interval_and_one_generator_no_ratio() {
        let mut few = cell(100_000);
        few.rounds.truncate(3);
        assert!(table(&BOTH(), &[few.clone()]).contains("3 blocks are too few"));
        assert!(!table(&BOTH()[..1], &[few]).contains("ratio"));
    }
}
