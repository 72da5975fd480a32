//! A comparison as CSV: figures in full, without separators, for programs.

use std::collections::BTreeSet;

use kumite_record::{CommandMetric, ComparedPair, Comparison, Estimate, Ratio};
use serde::Serialize;

use crate::csv::row;

/// One row for each command or server, with numbers in full and without separators; a figure that is not known is
/// empty. A command's ratios are of the metrics that were named, or else of wall time, CPU time and memory; a server's
/// of throughput and of response times at p50 and p99. The row of the reference has no ratios. Columns `parameter_NAME`
/// for the parameters of commands come last.
pub fn compare_csv(comparison: &Comparison) -> String {
    if comparison.servers.is_empty() { commands_csv(comparison) } else { servers_csv(comparison) }
}

fn servers_csv(comparison: &Comparison) -> String {
    let heads = ["server", "url", "loads", "failures"].map(str::to_owned).into_iter();
    let heads = heads.chain(
        [("throughput", "rps"), ("response_p50", "us"), ("response_p99", "us")].into_iter().flat_map(bounds),
    );
    let heads = heads.chain(ratio_heads(&["throughput", "response_p50", "response_p99"]));
    let rows = comparison.servers.iter().map(|server| {
        let pair = pair(comparison, &server.name);
        let mut cells = vec![
            server.name.clone(),
            server.url.clone(),
            server.throughputs.len().to_string(),
            server.failures.to_string(),
        ];
        for of in [&server.throughput_rps, &server.response_p50_us, &server.response_p99_us] {
            cells.extend(estimate(of));
        }
        cells.extend(judged(pair.map(|pair| (pair.ratio, word(&pair.verdict)))));
        for of in
            [|pair: &ComparedPair| pair.response_p50.clone(), |pair: &ComparedPair| pair.response_p99.clone()]
        {
            cells.extend(judged(pair.and_then(of).map(|of| (of.ratio, word(&of.verdict)))));
        }
        row(cells)
    });
    row(heads) + &rows.collect::<String>()
}

fn commands_csv(comparison: &Comparison) -> String {
    let parameters: BTreeSet<&str> = comparison
        .commands
        .iter()
        .flat_map(|command| command.parameters.keys())
        .map(String::as_str)
        .collect();
    let heads = ["name", "command", "runs"].map(str::to_owned).into_iter();
    let heads = heads.chain(
        [("wall", "s"), ("user", "s"), ("system", "s"), ("peak_rss", "bytes")].into_iter().flat_map(bounds),
    );
    let heads = heads.chain(["mean", "min", "max"].map(|of| format!("wall_{of}_s")));
    let named: Vec<&str> = comparison.metrics.iter().copied().map(CommandMetric::short).collect();
    let usual = [CommandMetric::TimeWallClock, CommandMetric::TimeCpu, CommandMetric::MemoryPeakResident];
    let heads = heads.chain(ratio_heads(&if named.is_empty() {
        usual.map(CommandMetric::short).to_vec()
    } else {
        named
    }));
    let heads = heads.chain(parameters.iter().map(|name| format!("parameter_{name}")));
    let rows = comparison.commands.iter().map(|command| {
        let pair = pair(comparison, &command.name);
        let mut cells = vec![command.name.clone(), command.command.clone(), command.times.len().to_string()];
        for of in [&command.wall_s, &command.user_s, &command.system_s, &command.peak_rss_bytes] {
            cells.extend(estimate(of));
        }
        let times = &command.times;
        let mean = (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64);
        cells.extend(
            [mean, times.iter().copied().reduce(f64::min), times.iter().copied().reduce(f64::max)]
                .map(number),
        );
        for metric in &comparison.metrics {
            let of = pair.and_then(|pair| Some((pair, pair.metrics.iter().find(|of| of.metric == *metric)?)));
            cells.extend(judged(of.map(|(pair, of)| match metric {
                CommandMetric::TimeWallClock => (of.ratio, word(&pair.verdict)),
                _ => (of.ratio, word(&of.verdict)),
            })));
        }
        if comparison.metrics.is_empty() {
            cells.extend(judged(pair.map(|pair| (pair.ratio, word(&pair.verdict)))));
            for of in [|pair: &ComparedPair| pair.cpu.clone(), |pair: &ComparedPair| pair.memory.clone()] {
                cells.extend(judged(pair.and_then(of).map(|of| (of.ratio, word(&of.verdict)))));
            }
        }
        cells
            .extend(parameters.iter().map(|name| command.parameters.get(*name).cloned().unwrap_or_default()));
        row(cells)
    });
    row(heads) + &rows.collect::<String>()
}

/// The pair that compares the command or server `name` with the reference; none for the reference itself.
fn pair<'a>(comparison: &'a Comparison, name: &str) -> Option<&'a ComparedPair> {
    comparison.pairs.iter().find(|pair| pair.a == name)
}

/// The heads of an estimate's three columns: `wall_s`, `wall_low_s`, `wall_high_s`. The unit stays last.
fn bounds((what, unit): (&str, &str)) -> [String; 3] {
    [format!("{what}_{unit}"), format!("{what}_low_{unit}"), format!("{what}_high_{unit}")]
}

fn ratio_heads(names: &[&str]) -> Vec<String> {
    let of =
        |name: &&str| ["ratio", "ratio_low", "ratio_high", "verdict"].map(|what| format!("{name}_{what}"));
    names.iter().flat_map(of).collect()
}

fn estimate(of: &Option<Estimate>) -> [String; 3] {
    let of = of.as_ref();
    [of.map(|of| of.estimate), of.and_then(|of| of.low), of.and_then(|of| of.high)].map(number)
}

fn judged(of: Option<(Ratio, String)>) -> [String; 4] {
    match of {
        Some((ratio, verdict)) => {
            [number(Some(ratio.estimate)), number(ratio.low), number(ratio.high), verdict]
        }
        None => [const { String::new() }; 4],
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// The verdict's word in the JSON document.
fn word(verdict: &impl Serialize) -> String {
    let text = serde_json::to_value(verdict).ok();
    text.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
