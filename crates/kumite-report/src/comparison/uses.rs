//! The sentence on a metric that was named.

use kumite_record::{CommandMetric, ComparedPair, Comparison, JudgedMetric, Ratio, Thrift};

use super::answer::{interval, level, margin, more, reciprocal, times};
use super::factor::factor;
use super::metrics::{much, verb, word};
use super::names::Names;

/// `A uses 1.2× as much CPU time as B`, the one that uses more first, with the interval. Other sentences say that
/// there is no difference or no decision.
pub(super) fn sentence(
    judged: &JudgedMetric,
    pair: &ComparedPair,
    after: &str,
    comparison: &Comparison,
    names: &Names,
) -> String {
    let (a, b) = (names.of(&pair.a), names.of(&pair.b));
    let (metric, level) = (judged.metric, level(comparison));
    let (uses, _) = verb(metric);
    match judged.verdict {
        Thrift::Less => format!("{b} {uses} {}, decided {after}", as_much(judged.ratio, metric, &a, &level)),
        Thrift::More => {
            format!("{a} {uses} {}, decided {after}", as_much(reciprocal(judged.ratio), metric, &b, &level))
        }
        Thrift::NoDifference => format!(
            "no difference: {a} {uses} as {} as {b} within ±{} ({level}: {}), decided {after}",
            much(metric),
            margin(comparison),
            interval(judged.ratio).unwrap_or_default()
        ),
        Thrift::Undecided if cannot_be_told(judged, pair) => {
            format!("undecided {after}: {}", why_not_told(judged.metric, judged.untold, pair.blocks))
        }
        Thrift::Undecided => {
            let ratio = match has_end(judged.ratio) {
                true => format!("{b} {uses} {}", as_much(judged.ratio, metric, &a, &level)),
                false => {
                    format!("too few pairs to tell the {} of {a} from that of {b}", word(metric))
                }
            };
            format!("undecided {after}: {ratio}; {}", more(judged.remaining))
        }
    }
}

/// `1.043× as much CPU time as A (95 %: 1.031–1.055)`; or `at least 48× as much …` if only one end of the interval is
/// known.
pub(super) fn as_much(ratio: Ratio, metric: CommandMetric, than: &str, level: &str) -> String {
    let what = much(metric);
    match (ratio.low, ratio.high) {
        (Some(low), None) => format!("at least {}× as {what} as {than} ({level})", factor(low)),
        (None, Some(high)) => format!("at most {}× as {what} as {than} ({level})", factor(high)),
        _ => {
            let interval =
                interval(ratio).map_or(String::new(), |interval| format!(" ({level}: {interval})"));
            format!("{} as {what} as {than}{interval}", times(ratio))
        }
    }
}

fn has_end(ratio: Ratio) -> bool {
    ratio.low.is_some() || ratio.high.is_some()
}

/// True if the use is unknown in half of the pairs or more, so that no number of runs would tell.
pub(super) fn cannot_be_told(judged: &JudgedMetric, pair: &ComparedPair) -> bool {
    pair.blocks > 0 && 2 * judged.untold >= pair.blocks
}

/// `cannot be told: in 9 of 9 pairs …`
pub(super) fn cannot(judged: &JudgedMetric, pair: &ComparedPair) -> String {
    cannot_in(judged.metric, judged.untold, pair.blocks)
}

/// `peak memory cannot be told: in 9 of 9 pairs …`
pub(super) fn why_not_told(metric: CommandMetric, untold: usize, blocks: usize) -> String {
    format!("{} {}", word(metric), cannot_in(metric, untold, blocks))
}

pub(super) fn cannot_in(metric: CommandMetric, untold: usize, blocks: usize) -> String {
    let why = match metric {
        CommandMetric::MemoryPeakResident => "it is known only to be below what kumite's helper needs",
        CommandMetric::TimeWallClock
        | CommandMetric::TimeCpu
        | CommandMetric::TimeUser
        | CommandMetric::TimeSystem => "it was read as 0, which is less than a tick of the kernel",
        _ => "it was counted as 0",
    };
    format!("cannot be told: in {untold} of {blocks} pairs {why}")
}
