//! The answer of `--gate`, on one line that programs find by its beginning.

use kumite_record::{
    CommandMetric, ComparedPair, Comparison, ComparisonEnd, ComparisonGate, GateDoubt, GateState, PairGate,
    Ratio,
};

use crate::words::gate::passing;
use crate::words::number::plural;

use super::answer::{interval, level, margin, more, reciprocal, times};
use super::factor::factor;
use super::level::gate_level;
use super::metrics::{much, verb, word};
use super::names::Names;
use super::uses::{as_much, why_not_told};
use super::{counts, cut_short, failures};

/// The most pairs or metrics that the line names; of more it gives the number.
const MOST_NAMED: usize = 3;

/// The line for programs: `gate: shut: B is slower than A by more than 1 %: A is 1.033× as fast (95 %: 1.021–1.078)`.
/// None if there is no gate.
pub(super) fn line(comparison: &Comparison, names: &Names) -> Option<String> {
    let ComparisonGate { passes, state, by_counts, .. } = comparison.gate?;
    let asked: Vec<(GateState, String)> = match by_counts {
        true => counts::asked(comparison, names),
        false => {
            let asked = comparison.pairs.iter().flat_map(|pair| asked(pair, comparison, names));
            asked.map(|asked| (asked.gate.state, outcome(&asked, comparison))).collect()
        }
    };
    let asked = asked.into_iter().filter(|(of, _)| *of == state).map(|(_, why)| why);
    let that_shut = (state == GateState::Shut).then(|| failures::that_shut(comparison, names));
    let why: Vec<String> = asked.chain(that_shut.into_iter().flatten()).collect();
    let mut parts: Vec<String> = cut_short(comparison.ended).map(str::to_owned).into_iter().collect();
    parts.extend(why.iter().take(MOST_NAMED).cloned());
    let more = why.len().saturating_sub(MOST_NAMED);
    parts.extend((more > 0).then(|| format!("and so of {more} more")));
    if state == GateState::Undecided {
        // More runs would not have told more of counts.
        parts.extend(spent(comparison.ended).filter(|_| !by_counts).map(str::to_owned));
        parts.push(passing(passes).to_owned());
    }
    Some(format!("gate: {}: {}", state.as_str(), parts.join("; ")))
}

/// A question of the gate, with the answer and what was measured.
struct Asked<'a> {
    gate: PairGate,
    /// The question as a statement, such as `B is slower than A`. `is_not` is its denial.
    is: String,
    is_not: String,
    /// The reference's name.
    reference: String,
    measured: Measured<'a>,
}

/// The figure that an answer rests on.
enum Measured<'a> {
    /// How many times as fast the reference is.
    Fast(Ratio),
    /// How many times as much of a metric the one that is judged uses.
    Much(Ratio, CommandMetric, String),
    TooFew(&'a ComparedPair),
    NotTold(String),
}

/// The questions of the gate about a pair: one by the metric that `--gate-on` named; or else one for each metric that
/// was named; or else one by wall time or throughput.
fn asked<'a>(pair: &'a ComparedPair, comparison: &Comparison, names: &Names) -> Vec<Asked<'a>> {
    let on = comparison.gate.and_then(|gate| gate.on);
    let metrics: Vec<(Option<CommandMetric>, PairGate, Ratio)> = match (on, pair.metrics.is_empty()) {
        (None, false) => pair
            .metrics
            .iter()
            .filter_map(|judged| Some((Some(judged.metric), judged.gate?, judged.ratio)))
            .collect(),
        _ => pair.gate.map(|gate| (on, gate, pair.ratio)).into_iter().collect(),
    };
    metrics.into_iter().map(|(metric, gate, ratio)| about(pair, metric, gate, ratio, names)).collect()
}

/// The question by a metric, or by wall time or throughput if `metric` is none. `otherwise` is the ratio for a gate
/// that has none of its own.
fn about<'a>(
    pair: &'a ComparedPair,
    metric: Option<CommandMetric>,
    gate: PairGate,
    otherwise: Ratio,
    names: &Names,
) -> Asked<'a> {
    let (a, reference) = (names.of(&pair.a), names.of(&pair.b));
    let ratio = reciprocal(gate.ratio.unwrap_or(otherwise));
    let has_end = ratio.low.is_some() || ratio.high.is_some();
    let use_of = metric.filter(|metric| *metric != CommandMetric::TimeWallClock);
    let measured = match use_of {
        _ if !has_end && pair.blocks > 0 && 2 * gate.untold >= pair.blocks => {
            let metric = metric.unwrap_or(CommandMetric::TimeWallClock);
            Measured::NotTold(why_not_told(metric, gate.untold, pair.blocks))
        }
        _ if !has_end => Measured::TooFew(pair),
        None => Measured::Fast(ratio),
        Some(metric) => Measured::Much(ratio, metric, a.clone()),
    };
    let [is, is_not] = match use_of.map(|metric| (word(metric), verb(metric))) {
        None => [format!("{a} is slower than {reference}"), format!("{a} is not slower than {reference}")],
        Some((what, (uses, use_))) => [
            format!("{a} {uses} more {what} than {reference}"),
            format!("{a} does not {use_} more {what} than {reference}"),
        ],
    };
    Asked { gate, is, is_not, reference, measured }
}

fn outcome(asked: &Asked, comparison: &Comparison) -> String {
    let Asked { gate, is, is_not, reference, .. } = asked;
    let margin = margin(comparison);
    let measured = match &asked.measured {
        Measured::Fast(_) | Measured::Much(..) => format!("; measured: {}", measured(asked, comparison)),
        Measured::TooFew(_) | Measured::NotTold(_) => format!(": {}", measured(asked, comparison)),
    };
    match (gate.state, gate.doubt) {
        (GateState::Shut, None) => format!("{is} by more than {margin}{measured}"),
        (GateState::Shut, Some(doubt)) => {
            format!("{is} by more than {margin}{measured}; but {}", why(doubt, reference))
        }
        (GateState::Open, _) => format!("{is_not} by more than {margin}{measured}"),
        (GateState::Undecided, Some(doubt)) => {
            format!("cannot tell whether {is} by more than {margin}: {}{measured}", why(doubt, reference))
        }
        (GateState::Undecided, None) => {
            format!("whether {is} by more than {margin} is not shown{measured}; {}", more(gate.remaining))
        }
    }
}

/// The doubt as a clause: the reason why the gate's question has no answer, or an objection to a gate that is shut.
pub(super) fn why(doubt: GateDoubt, reference: &str) -> String {
    match doubt {
        GateDoubt::ControlIsOff => {
            format!("the two runs of {reference} in each block differ from each other")
        }
        GateDoubt::SlowerThanOneOnly => format!(
            "against one of the two runs of {reference} in each block it is shown, against the other it is not"
        ),
        GateDoubt::NotClearOfControl => {
            format!("the two runs of {reference} in each block may be as far from each other")
        }
    }
}

/// The figure in words. If the interval is the gate's own, a shut or open gate shows only the end that it rests on.
fn measured(asked: &Asked, comparison: &Comparison) -> String {
    let Asked { gate, reference, .. } = asked;
    let level = level(comparison);
    let end = |ratio: Ratio| {
        let level = gate_level(comparison)?;
        match gate.state {
            GateState::Shut => Some(format!("{level}: at least {}×", factor(ratio.low?))),
            GateState::Open => Some(format!("{level}: at most {}×", factor(ratio.high?))),
            GateState::Undecided => None,
        }
        .filter(|_| gate.ratio.is_some())
    };
    match &asked.measured {
        Measured::Fast(ratio) => {
            let ends = end(*ratio).unwrap_or_else(|| format!("{level}: {}", ends(*ratio)));
            format!("{reference} is {} as fast ({ends})", times(*ratio))
        }
        Measured::Much(ratio, metric, a) => match (end(*ratio), ratio.low.zip(ratio.high)) {
            (Some(end), Some(_)) => {
                let (uses, much) = (verb(*metric).0, much(*metric));
                format!("{a} {uses} {} as {much} as {reference} ({end})", times(*ratio))
            }
            _ => format!("{a} {} {}", verb(*metric).0, as_much(*ratio, *metric, reference, &level)),
        },
        Measured::TooFew(pair) => format!("{} are too few to tell", plural(pair.blocks, "pair")),
        Measured::NotTold(why) => why.clone(),
    }
}

/// An interval of which one end may be unknown; empty if both are.
fn ends(ratio: Ratio) -> String {
    match (ratio.low, ratio.high) {
        (Some(low), None) => format!("at least {}", factor(low)),
        (None, Some(high)) => format!("at most {}", factor(high)),
        _ => interval(ratio).unwrap_or_default(),
    }
}

fn spent(ended: ComparisonEnd) -> Option<&'static str> {
    match ended {
        ComparisonEnd::Budget => Some("--budget was spent"),
        ComparisonEnd::MaxRuns => Some("the maximum number of runs was reached"),
        ComparisonEnd::Decided | ComparisonEnd::Interrupted | ComparisonEnd::Failed => None,
    }
}
