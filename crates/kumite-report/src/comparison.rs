use comfy_table::CellAlignment::{Left, Right};
use kumite_record::{
    ComparedCommand, ComparedPair, ComparedUse, Comparison, Ended, Estimate, Ratio, Speed, Thrift,
};

use crate::grid::grid;
use crate::metric::Metric;
use crate::number::{plural, significant};
use crate::style::Style;
use crate::text::one_line;

/// What `kumite compare` prints at its end: the answer first, in a sentence for each pair, then what it rests on.
pub fn compare_terminal(comparison: &Comparison, style: &Style) -> String {
    let style = *style;
    let mut out = String::new();
    for pair in &comparison.pairs {
        out += &style.bold(&style.wrap(&sentence(pair, comparison), 0));
    }
    out += &format!("\n{}", commands(comparison, style));
    out += &format!("\n{}", ratios(comparison, style));
    for warning in &comparison.warnings {
        out += &style.wrap(&format!("! {}: {}", one_line(&warning.place), one_line(&warning.what)), 0);
    }
    out
}

/// The answer: who is how many times as fast, how sure, and after how much.
pub(crate) fn sentence(pair: &ComparedPair, comparison: &Comparison) -> String {
    let (a, b) = (one_line(&pair.a), one_line(&pair.b));
    let after = format!("after {} in {}", plural(pair.blocks, "pair"), seconds(pair.seconds));
    let level = level(comparison);
    match pair.verdict {
        Speed::Faster => format!(
            "{a} is {} as fast as {b} ({level}: {}), decided {after}",
            times(pair.ratio),
            interval(pair.ratio)
        ),
        Speed::Slower => {
            let ratio = reciprocal(pair.ratio);
            format!("{b} is {} as fast as {a} ({level}: {}), decided {after}", times(ratio), interval(ratio))
        }
        Speed::NoDifference => format!(
            "no difference: {a} and {b} take the same time within ±{} ({level}: {} as fast), decided {after}",
            percent(comparison.margin),
            interval(pair.ratio)
        ),
        Speed::Undecided => {
            let so_far = match pair.ratio.low {
                Some(_) => format!(
                    ": {a} is {} as fast as {b} ({level}: {})",
                    times(pair.ratio),
                    interval(pair.ratio)
                ),
                None => format!(": too few pairs to tell {a} from {b}"),
            };
            let more = match pair.remaining {
                Some(more) => format!("about {} (~{}) would tell", plural(more.blocks, "more pair"), seconds(more.seconds)),
                None => "more pairs are not likely to tell: they are about equally often on either side, by more than the margin".to_owned(),
            };
            format!("undecided {after}{so_far}; {more}")
        }
    }
}

/// `95 %`; with several pairs each has a share of what may be wrong, so that all of them together keep to it.
fn level(comparison: &Comparison) -> String {
    let together = if comparison.pairs.len() > 1 { " together" } else { "" };
    format!("{} %{together}", significant((1.0 - comparison.alpha) * 100.0, 2))
}

fn reciprocal(ratio: Ratio) -> Ratio {
    Ratio {
        estimate: 1.0 / ratio.estimate,
        low: ratio.high.map(|high| 1.0 / high),
        high: ratio.low.map(|low| 1.0 / low),
    }
}

fn times(ratio: Ratio) -> String {
    format!("{}×", factor(ratio.estimate))
}

fn factor(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { significant(value, 4) }
}

fn interval(ratio: Ratio) -> String {
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("{}–{}", factor(low), factor(high)),
        _ => "no interval".to_owned(),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}

fn seconds(seconds: f64) -> String {
    if seconds >= 10.0 { format!("{seconds:.0} s") } else { Metric::new("time_s").text(seconds) }
}

fn commands(comparison: &Comparison, style: Style) -> String {
    let row = |command: &ComparedCommand| -> Vec<String> {
        let text = |estimate: &Option<Estimate>, metric: &str| match estimate {
            Some(estimate) => Metric::new(metric).text(estimate.estimate),
            None => "–".to_owned(),
        };
        let wall = match &command.wall_s {
            Some(Estimate { low: Some(low), high: Some(high), .. }) => {
                let wall = Metric::new("wall_s");
                format!("{} [{}–{}]", text(&command.wall_s, "wall_s"), wall.text(*low), wall.text(*high))
            }
            other => text(other, "wall_s"),
        };
        let floor = if command.peak_rss_is_floor > 0 { "≤ " } else { "" };
        vec![
            one_line(&command.name),
            wall,
            text(&command.user_s, "user_s"),
            text(&command.system_s, "system_s"),
            format!("{floor}{}", text(&command.peak_rss_bytes, "peak_rss_bytes")),
            command.times.len().to_string(),
        ]
    };
    let rows: Vec<_> = comparison.commands.iter().map(row).collect();
    let columns = [
        ("command", Left),
        ("wall median [95 %]", Right),
        ("user", Right),
        ("system", Right),
        ("peak RSS", Right),
        ("runs", Right),
    ];
    grid(&columns, &rows, style)
}

fn ratios(comparison: &Comparison, style: Style) -> String {
    let mut rows = Vec::new();
    for pair in &comparison.pairs {
        let name = |what: &str| format!("{what}: {} / {}", one_line(&pair.b), one_line(&pair.a));
        let mut row = |what: &str, ratio: Ratio, verdict: &str| {
            rows.push(vec![name(what), factor(ratio.estimate), interval(ratio), verdict.to_owned()]);
        };
        row(
            "wall",
            pair.ratio,
            match pair.verdict {
                Speed::Faster => "faster",
                Speed::Slower => "slower",
                Speed::NoDifference => "no difference",
                Speed::Undecided => "undecided",
            },
        );
        let mut used = |what: &str, used: &Option<ComparedUse>| {
            if let Some(used) = used {
                row(
                    what,
                    used.ratio,
                    match used.verdict {
                        Thrift::Less => "less",
                        Thrift::More => "more",
                        Thrift::NoDifference => "no difference",
                        Thrift::Undecided => "undecided",
                    },
                );
            }
        };
        used("CPU", &pair.cpu);
        used("peak RSS", &pair.memory);
    }
    let level = level(comparison);
    grid(&[("ratio", Left), ("", Right), (level.as_str(), Right), ("verdict", Left)], &rows, style)
}

/// Whether it ended before it was to, in words.
pub fn cut_short(ended: Ended) -> Option<&'static str> {
    match ended {
        Ended::Interrupted => Some("it was interrupted"),
        Ended::Failed => Some("a run failed"),
        _ => None,
    }
}
