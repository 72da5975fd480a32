//! What `--gate` made of it, on one line that programs find by its beginning.

use kumite_record::{ComparedPair, Comparison, ComparisonEnd, ComparisonGate, GateState, PairGate};

use crate::gate::passing;
use crate::number::plural;
use crate::quantity::length;

use super::answer::{interval, level, margin, reciprocal, times};
use super::cut_short;
use super::names::Names;

/// More are a number.
const MOST_NAMED: usize = 3;

/// `gate: shut: B is slower than A by more than 1 %: A is 1.033× as fast (95 %: 1.021–1.078)`
pub(super) fn line(comparison: &Comparison, names: &Names) -> Option<String> {
    let ComparisonGate { passes, state } = comparison.gate?;
    let why: Vec<String> = comparison
        .pairs
        .iter()
        .filter_map(|pair| Some((pair, pair.gate.filter(|gate| gate.state == state)?)))
        .map(|(pair, gate)| told(pair, gate, comparison, names))
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

/// The ratio is in the direction of the question: the reference by the one that may be slower.
fn told(pair: &ComparedPair, gate: PairGate, comparison: &Comparison, names: &Names) -> String {
    let (a, b) = (names.of(&pair.a), names.of(&pair.b));
    let margin = margin(comparison);
    let ratio = reciprocal(pair.ratio);
    let measured = match interval(ratio) {
        Some(interval) => format!("{b} is {} as fast ({}: {interval})", times(ratio), level(comparison)),
        None => format!("{} are too few to tell", plural(pair.blocks, "pair")),
    };
    match gate.state {
        GateState::Shut => format!("{a} is slower than {b} by more than {margin}: {measured}"),
        GateState::Open => format!("{a} is not slower than {b} by more than {margin}: {measured}"),
        GateState::Undecided => {
            let more = match gate.remaining {
                Some(more) => {
                    let pairs = plural(more.blocks, "more pair");
                    format!("about {pairs} (~{}) would tell", length(more.seconds))
                }
                None => "as it looks, more pairs would not tell".to_owned(),
            };
            format!("whether {a} is slower than {b} by more than {margin} is not shown: {measured}; {more}")
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
