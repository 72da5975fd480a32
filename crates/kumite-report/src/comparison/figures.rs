//! The figures as rows of text: heads, then rows; the first column is words.

use kumite_record::{CommandMetric, ComparedUse, Comparison, Ratio, Speed, Thrift, Unit};

use super::Shown;
use super::answer::{estimate, interval, level, reciprocal};
use super::estimate::{bounded, plain};
use super::factor::factor;
use super::names::Names;
use super::{counts, metrics, uses};
use crate::words::number::count;

/// The heads of a table, each with true if its column holds figures; then the rows.
pub(super) type Rows = (Vec<(String, bool)>, Vec<Vec<String>>);

const THROUGHPUT: &str = "throughput";

/// Heads of which all but the first are of figures.
fn heads<const N: usize>(names: [&str; N]) -> Vec<(String, bool)> {
    names.iter().enumerate().map(|(at, name)| (name.to_string(), at > 0)).collect()
}

/// The table of commands or servers, then that of ratios if there are pairs. `table` formats them.
pub(super) fn tables(comparison: &Comparison, shown: Shown, table: impl Fn(Rows) -> String) -> String {
    let names = Names::of_all(comparison);
    let subjects = table(subjects(comparison, &names, shown));
    if comparison.pairs.is_empty() {
        return subjects;
    }
    format!("{subjects}\n{}", table(ratios(comparison, &names)))
}

/// The table with a row for each command or server.
pub(super) fn subjects(comparison: &Comparison, names: &Names, shown: Shown) -> Rows {
    if comparison.servers.is_empty() {
        commands(comparison, names, shown)
    } else {
        servers(comparison, names)
    }
}

fn commands(comparison: &Comparison, names: &Names, shown: Shown) -> Rows {
    let columns = || metrics::shown(comparison).iter().copied();
    let heads = columns().map(|metric| (metrics::head(metric).to_owned(), true));
    let has_counts = comparison.counts.is_some();
    let counted = has_counts.then(|| (counts::HEAD.to_owned(), true));
    let ends = counted.into_iter().chain([("runs".to_owned(), true)]);
    let heads = [("command".to_owned(), false)].into_iter().chain(heads).chain(ends).collect();
    let row = |command: &kumite_record::ComparedCommand| {
        let figures = columns().map(|metric| metrics::figure(metric, command, shown));
        let counted = has_counts.then(|| counts::figure(command));
        let ends = counted.into_iter().chain([count(command.times.len() as f64)]);
        [names.of(&command.name)].into_iter().chain(figures).chain(ends).collect()
    };
    let mut commands: Vec<_> = comparison.commands.iter().collect();
    if shown.by_time {
        let median = |command: &kumite_record::ComparedCommand| {
            command.wall_s.as_ref().map_or(f64::INFINITY, |wall| wall.estimate)
        };
        commands.sort_by(|a, b| median(a).total_cmp(&median(b)));
    }
    (heads, commands.into_iter().map(row).collect())
}

fn servers(comparison: &Comparison, names: &Names) -> Rows {
    let heads = heads(["server", "req/s, median [95 %]", "response p50", "p99", "failures", "loads"]);
    let row = |server: &kumite_record::ComparedServer| {
        vec![
            names.of(&server.name),
            bounded(Unit::RequestsPerSecond, &server.throughput_rps),
            plain(Unit::Microseconds, &server.response_p50_us),
            plain(Unit::Microseconds, &server.response_p99_us),
            count(server.failures as f64),
            count(server.throughputs.len() as f64),
        ]
    };
    (heads, comparison.servers.iter().map(row).collect())
}

/// The table with a row for each pair and metric. If one of the two is better, the ratio is turned so that it is
/// above 1 in favour of the better one. Otherwise it is turned like the ratio of the pair's headline.
pub(super) fn ratios(comparison: &Comparison, names: &Names) -> Rows {
    let mut rows = Vec::new();
    for pair in &comparison.pairs {
        let (a, b) = (names.of(&pair.a), names.of(&pair.b));
        let none = || "–".to_owned();
        let headline = pair.verdict == Speed::Slower;
        // True if the ratio is turned; and the verdict in words.
        let speed = |verdict| match verdict {
            Speed::Faster => (false, format!("{a} is faster")),
            Speed::Slower => (true, format!("{b} is faster")),
            Speed::NoDifference => (headline, "no difference".to_owned()),
            Speed::Undecided => (headline, "undecided".to_owned()),
        };
        let thrift = |verdict| match verdict {
            Thrift::Less => (false, format!("{a} uses less")),
            Thrift::More => (true, format!("{b} uses less")),
            Thrift::NoDifference => (headline, "no difference".to_owned()),
            Thrift::Undecided => (headline, "undecided".to_owned()),
        };
        // Of a rate more is better, so that its ratio has the better one above.
        let over = |what: &str, is_rate: bool, is_turned: bool| match is_rate == is_turned {
            true => format!("{what}, {b} / {a}"),
            false => format!("{what}, {a} / {b}"),
        };
        let row = |rows: &mut Vec<Vec<String>>, what: &str, ratio: Ratio, said: (bool, String)| {
            let (is_turned, verdict) = said;
            let ratio = if is_turned { reciprocal(ratio) } else { ratio };
            let (figure, interval) = match (ratio.low, ratio.high) {
                (Some(low), None) => (none(), format!("≥ {}", factor(low))),
                (None, Some(high)) => (none(), format!("≤ {}", factor(high))),
                _ => (estimate(ratio), interval(ratio).unwrap_or_else(none)),
            };
            rows.push(vec![over(what, what == THROUGHPUT, is_turned), figure, interval, verdict]);
        };
        for judged in &pair.metrics {
            let said = match judged.metric {
                CommandMetric::TimeWallClock => speed(pair.verdict),
                _ => thrift(judged.verdict),
            };
            let what = metrics::row(judged.metric);
            match uses::cannot_be_told(judged, pair) {
                true => rows.push(vec![over(what, false, said.0), none(), none(), said.1]),
                false => row(&mut rows, what, judged.ratio, said),
            }
        }
        if !pair.metrics.is_empty() {
            continue;
        }
        let what = if comparison.servers.is_empty() { "wall time" } else { THROUGHPUT };
        row(&mut rows, what, pair.ratio, speed(pair.verdict));
        for (what, used) in [("CPU time", &pair.cpu), ("peak RSS", &pair.memory)] {
            if let Some(ComparedUse { verdict, ratio, .. }) = used {
                row(&mut rows, what, *ratio, thrift(*verdict));
            }
        }
        for (what, time) in [("response p50", &pair.response_p50), ("response p99", &pair.response_p99)] {
            if let Some(time) = time {
                row(&mut rows, what, time.ratio, speed(time.verdict));
            }
        }
    }
    let mut heads = heads(["compared", "ratio", level(comparison).as_str(), "verdict"]);
    heads[3].1 = false;
    (heads, rows)
}
