//! Runs that are left out of a comparison, in words: how many and why, and who fails more often.

use kumite_record::{
    ComparedCommand, ComparedFailures, ComparedPair, Comparison, FailedRuns, FailureVerdict, LeftOutReason,
    OneFailed,
};

use super::level::{gate_level, level_of};
use super::names::Names;
use super::one_answer::Answer;
use crate::words::number::{count, plural};

/// The answer on each pair of which something failed.
pub(super) fn answers(comparison: &Comparison, names: &Names) -> Vec<Answer> {
    let answer = |pair: &ComparedPair| {
        let failures = pair.failures.as_ref()?;
        Some(Answer {
            is_decided: failures.verdict != FailureVerdict::Undecided,
            text: format!("failures: {}", sentence(pair, failures, comparison, names)),
        })
    };
    comparison.pairs.iter().filter_map(answer).collect()
}

/// `B fails more often than A: in 12 of 40 runs, against 0 of 40 (95 %; …)`, or that it is not shown.
pub(super) fn sentence(
    pair: &ComparedPair,
    failures: &ComparedFailures,
    comparison: &Comparison,
    names: &Names,
) -> String {
    // The run of the reference against which it is least clear.
    let distance = |blocks: &&OneFailed| blocks.only_a.abs_diff(blocks.only_b);
    let OneFailed { only_a, only_b } =
        failures.against.iter().min_by_key(distance).copied().unwrap_or_default();
    let a = Side { name: names.of(&pair.a), runs: failures.a, alone: only_a };
    let b = Side { name: names.of(&pair.b), runs: failures.b, alone: only_b };
    let (more, less) = match failures.verdict {
        FailureVerdict::More => (a, b),
        FailureVerdict::Less => (b, a),
        FailureVerdict::Undecided => {
            return format!(
                "{} failed in {}, {} in {}; that either fails more often is not shown",
                a.name,
                a.runs(),
                b.name,
                b.runs()
            );
        }
    };
    format!(
        "{more} fails more often than {less}: in {}, against {} ({}; in {} only {more} failed, in {} only {less})",
        more.runs(),
        less.runs(),
        level(comparison),
        plural(more.alone, "block"),
        count(less.alone as f64),
        more = more.name,
        less = less.name
    )
}

/// One of a pair.
struct Side {
    name: String,
    runs: FailedRuns,
    /// The number of blocks in which it alone failed.
    alone: usize,
}

impl Side {
    fn runs(&self) -> String {
        format!("{} of {}", count(self.runs.failed as f64), plural(self.runs.runs, "run"))
    }
}

/// The level of a verdict on failures: the gate's, if they can shut it, and else one of their own.
fn level(comparison: &Comparison) -> String {
    let by_gate = comparison.gate.is_some_and(|gate| gate.by_failures);
    let of_gate = gate_level(comparison).filter(|_| by_gate);
    of_gate.unwrap_or_else(|| level_of(comparison.alpha, comparison.pairs.len()))
}

/// The sentences on the pairs whose failures shut the gate.
pub(super) fn that_shut(comparison: &Comparison, names: &Names) -> Vec<String> {
    let by_failures = comparison.gate.is_some_and(|gate| gate.by_failures);
    let of = |pair: &ComparedPair| {
        let failures = pair.failures.as_ref().filter(|of| of.verdict == FailureVerdict::More)?;
        Some(sentence(pair, failures, comparison, names))
    };
    comparison.pairs.iter().filter(|_| by_failures).filter_map(of).collect()
}

/// A note for each command of which runs are left out: how many, and why.
pub(super) fn notes(comparison: &Comparison, names: &Names) -> Vec<String> {
    comparison.commands.iter().filter_map(|command| note(command, comparison, names)).collect()
}

fn note(command: &ComparedCommand, comparison: &Comparison, names: &Names) -> Option<String> {
    let left_out = &command.left_out;
    if left_out.is_empty() {
        return None;
    }
    let blocks = command.times.len() + left_out.iter().filter(|of| !of.is_second).count();
    let stands_twice = comparison.control.as_ref().is_some_and(|control| control.contender == command.name);
    let runs = if stands_twice { 2 * blocks } else { blocks };
    let mut reasons: Vec<(LeftOutReason, usize)> = Vec::new();
    for of in left_out {
        match reasons.iter_mut().find(|(why, _)| *why == of.why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((of.why, 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let reasons: Vec<String> =
        reasons.iter().map(|(why, of)| format!("{} {why}", count(*of as f64))).collect();
    let is_cut = left_out.iter().any(|of| is_late(of.why));
    let but = if is_cut { "; so its times lack those that took too long" } else { "" };
    let (name, of, runs) = (names.of(&command.name), count(left_out.len() as f64), plural(runs, "run"));
    Some(format!("{name}: left out {of} of {runs}: {}{but}", reasons.join(", ")))
}

fn is_late(why: LeftOutReason) -> bool {
    matches!(why, LeftOutReason::TimedOut { .. } | LeftOutReason::EitherTimedOut { .. })
}
