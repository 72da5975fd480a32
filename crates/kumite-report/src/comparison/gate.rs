//! The answer of `--gate`, on one line that programs find by its beginning.

use kumite_record::{
    CommandMetric, ComparedPair, Comparison, ComparisonEnd, ComparisonGate, GateState, JudgedMetric,
    PairGate, Ratio,
};

use crate::words::gate::passing;
use crate::words::number::plural;

use super::answer::{interval, level, margin, more, reciprocal, times};
use super::cut_short;
use super::metrics::word;
use super::names::Names;
use super::uses::{as_much, cannot_be_told, why_not_told};

/// The most pairs or metrics that the line names; of more it gives the number.
const MOST_NAMED: usize = 3;

/// The line for programs: `gate: shut: B is slower than A by more than 1 %: A is 1.033× as fast (95 %: 1.021–1.078)`.
/// None if there is no gate.
pub(super) fn line(comparison: &Comparison, names: &Names) -> Option<String> {
    let ComparisonGate { passes, state } = comparison.gate?;
    let why: Vec<String> = comparison
        .pairs
        .iter()
        .flat_map(|pair| asked(pair, comparison, names))
        .filter(|asked| asked.gate.state == state)
        .map(|asked| outcome(&asked, comparison))
        .collect();
    let mut parts: Vec<String> = cut_short(comparison.ended).map(str::to_owned).into_iter().collect();
    parts.extend(why.iter().take(MOST_NAMED).cloned());
    let more = why.len().saturating_sub(MOST_NAMED);
    parts.extend((more > 0).then(|| format!("and so of {more} more")));
    if state == GateState::Undecided {
        parts.extend(spent(comparison.ended).map(str::to_owned));
        parts.push(passing(passes).to_owned());
    }
    Some(format!("gate: {}: {}", state.as_str(), parts.join("; ")))
}

/// A question of the gate, with the answer and what was measured.
struct Asked {
    gate: PairGate,
    /// The question as a statement, such as `B is slower than A`. `is_not` is its denial.
    is: String,
    is_not: String,
    measured: String,
}

/// The questions of the gate about a pair: one for each metric that was named, or else one by wall time or
/// throughput.
fn asked(pair: &ComparedPair, comparison: &Comparison, names: &Names) -> Vec<Asked> {
    if pair.metrics.is_empty() {
        return pair
            .gate
            .map(|gate| by_wall(pair, pair.ratio, gate, comparison, names))
            .into_iter()
            .collect();
    }
    let of = |judged: &JudgedMetric| {
        let gate = judged.gate?;
        Some(match judged.metric {
            CommandMetric::TimeWallClock => by_wall(pair, judged.ratio, gate, comparison, names),
            CommandMetric::TimeCpu
            | CommandMetric::TimeUser
            | CommandMetric::TimeSystem
            | CommandMetric::MemoryPeakResident => by_use(pair, judged, gate, comparison, names),
        })
    };
    pair.metrics.iter().filter_map(of).collect()
}

/// The question by wall time or throughput. Its ratio says how many times as fast the reference is.
fn by_wall(
    pair: &ComparedPair,
    ratio: Ratio,
    gate: PairGate,
    comparison: &Comparison,
    names: &Names,
) -> Asked {
    let (a, b) = (names.of(&pair.a), names.of(&pair.b));
    let ratio = reciprocal(ratio);
    let measured = match interval(ratio) {
        Some(interval) => format!("{b} is {} as fast ({}: {interval})", times(ratio), level(comparison)),
        None => too_few(pair),
    };
    Asked {
        gate,
        is: format!("{a} is slower than {b}"),
        is_not: format!("{a} is not slower than {b}"),
        measured,
    }
}

fn by_use(
    pair: &ComparedPair,
    judged: &JudgedMetric,
    gate: PairGate,
    comparison: &Comparison,
    names: &Names,
) -> Asked {
    let (a, b) = (names.of(&pair.a), names.of(&pair.b));
    let (what, ratio) = (word(judged.metric), reciprocal(judged.ratio));
    let measured = match (ratio.low, ratio.high) {
        (None, None) if cannot_be_told(judged, pair) => why_not_told(judged, pair),
        (None, None) => too_few(pair),
        _ => format!("{a} uses {}", as_much(ratio, what, &b, &level(comparison))),
    };
    Asked {
        gate,
        is: format!("{a} uses more {what} than {b}"),
        is_not: format!("{a} does not use more {what} than {b}"),
        measured,
    }
}

fn too_few(pair: &ComparedPair) -> String {
    format!("{} are too few to tell", plural(pair.blocks, "pair"))
}

fn outcome(asked: &Asked, comparison: &Comparison) -> String {
    let Asked { gate, is, is_not, measured } = asked;
    let margin = margin(comparison);
    match gate.state {
        GateState::Shut => format!("{is} by more than {margin}: {measured}"),
        GateState::Open => format!("{is_not} by more than {margin}: {measured}"),
        GateState::Undecided => {
            format!("whether {is} by more than {margin} is not shown: {measured}; {}", more(gate.remaining))
        }
    }
}

fn spent(ended: ComparisonEnd) -> Option<&'static str> {
    match ended {
        ComparisonEnd::Budget => Some("--budget was spent"),
        ComparisonEnd::MaxRuns => Some("the most runs were made"),
        ComparisonEnd::Decided | ComparisonEnd::Interrupted | ComparisonEnd::Failed => None,
    }
}
