//! The sentences that answer a comparison, each with a flag that says if it is a verdict.

use kumite_record::{CommandMetric, ComparedPair, Comparison, JudgedMetric, Speed, Thrift};

use super::names::Names;
use super::one_answer::Answer;
use super::{answer, baseline, counts, failures, uses};
use crate::words::number::plural;
use crate::words::quantity::length;

/// The answers on all pairs: one for each metric that was named; or else one by wall time, or by throughput of
/// servers. Those on failures and by instruction counts come last.
pub(super) fn answers(comparison: &Comparison, names: &Names) -> Vec<Answer> {
    let of_pair = |pair: &ComparedPair| {
        let after = format!("after {} in {}", plural(pair.blocks, "pair"), length(pair.seconds));
        let by_wall = |after: &str| Answer {
            is_decided: pair.verdict != Speed::Undecided,
            text: answer::sentence(pair, after, comparison, names),
        };
        if pair.metrics.is_empty() {
            return vec![by_wall(&after)];
        }
        let of_metric = |(nth, judged): (usize, &JudgedMetric)| {
            let after = if nth == 0 { after.as_str() } else { "by the same pairs" };
            match judged.metric {
                CommandMetric::TimeWallClock => by_wall(after),
                _ => Answer {
                    is_decided: judged.verdict != Thrift::Undecided,
                    text: uses::sentence(judged, pair, after, comparison, names),
                },
            }
        };
        pair.metrics.iter().enumerate().map(of_metric).collect()
    };
    let answers = comparison.pairs.iter().flat_map(of_pair);
    let counted = counts::answers(comparison, names).into_iter().chain(baseline::answers(comparison, names));
    answers.chain(failures::answers(comparison, names)).chain(counted).collect()
}
