//! Instruction counts in words. They are never called speed, and claim no probability.

use kumite_record::{
    CommandCounts, ComparedCommand, ComparedCounts, ComparedPair, Comparison, CountRatio, CountState,
    Counting, FunctionCounts, GateState, Uncounted,
};

use super::names::Names;
use super::one_answer::Answer;
use crate::words::number::{count, plural, significant};
use crate::words::quantity::length;
use crate::words::text::one_line;

/// The head of the column of counts.
pub(super) const HEAD: &str = "instructions";

/// The cell of a command in the column of counts.
pub(super) fn figure(command: &ComparedCommand) -> String {
    command.counts.as_ref().and_then(range).unwrap_or_else(|| "–".to_owned())
}

/// The counts of all runs; one number if they are the same. None if there are none.
pub(super) fn range(counts: &CommandCounts) -> Option<String> {
    let (least, most) = (counts.instructions.iter().min()?, counts.instructions.iter().max()?);
    let [low, high] = [least, most].map(|instructions| count(*instructions as f64));
    Some(if least == most { low } else { format!("{low}–{high}") })
}

/// The answer on each pair by its counts. Empty without `--counts`.
pub(super) fn answers(comparison: &Comparison, names: &Names) -> Vec<Answer> {
    let Some(counting) = &comparison.counts else { return Vec::new() };
    let answer = |pair: &ComparedPair| {
        let counts = pair.counts.as_ref()?;
        let text = sentence(pair, counts, counting, comparison, names);
        Some(Answer {
            is_decided: counts.state != CountState::CannotTell,
            text: format!("instructions: {text}"),
        })
    };
    comparison.pairs.iter().filter_map(answer).collect()
}

/// The gate's answer by the counts of each pair, in a sentence.
pub(super) fn asked(comparison: &Comparison, names: &Names) -> Vec<(GateState, String)> {
    let answer = |pair: &ComparedPair| {
        let state = pair.gate.map_or(GateState::Undecided, |gate| gate.state);
        let counted = pair.counts.as_ref().zip(comparison.counts.as_ref());
        let why = match counted {
            Some((counts, counting)) => sentence(pair, counts, counting, comparison, names),
            None => format!("those of {} and {} were not counted", names.of(&pair.a), names.of(&pair.b)),
        };
        (state, format!("instructions: {why}"))
    };
    comparison.pairs.iter().map(answer).collect()
}

/// `changed: B executes 1.0200× as many as A`, or that they are the same, or why it cannot be told.
pub(super) fn sentence(
    pair: &ComparedPair,
    counts: &ComparedCounts,
    counting: &Counting,
    comparison: &Comparison,
    names: &Names,
) -> String {
    let (a, b) = (names.of(&pair.a), names.of(&pair.b));
    finding(&a, &b, counts, counting).unwrap_or_else(|| {
        let uncounted = [(&pair.a, &a), (&pair.b, &b)].into_iter().filter_map(|(name, called)| {
            let why = of(comparison, name)?.uncounted.as_ref()?;
            Some(format!("{called} was not counted: {}", reason(why)))
        });
        format!("cannot tell: {}", uncounted.collect::<Vec<_>>().join("; "))
    })
}

/// The finding on the counts of `a` and `b`. None if one of them was not counted.
pub(super) fn finding(a: &str, b: &str, counts: &ComparedCounts, counting: &Counting) -> Option<String> {
    let ratio = counts.ratio?;
    // Of `a` over `b`, as the sentence has it.
    let range = CountRatio { low: 1.0 / ratio.high, high: 1.0 / ratio.low };
    let as_many = format!("{a} executes {} as many as {b}", times(range));
    let margin = margin(counting);
    Some(match counts.state {
        CountState::Changed => format!("changed: {as_many}"),
        CountState::Same => format!("the same within ±{margin}: {as_many}"),
        CountState::CannotTell => {
            format!("cannot tell a change of {margin}: {as_many}, as counts differ from run to run")
        }
    })
}

fn of<'a>(comparison: &'a Comparison, name: &str) -> Option<&'a CommandCounts> {
    comparison.commands.iter().find(|command| command.name == name)?.counts.as_ref()
}

/// The reason why a command has no counts, to stand behind a colon.
fn reason(why: &Uncounted) -> String {
    match why {
        Uncounted::Failed { exit_code, said } => {
            format!(
                "it does not run under valgrind as it does without (status {exit_code}): {}",
                one_line(said)
            )
        }
        Uncounted::TooLong { seconds } => {
            format!("it did not end under valgrind within {}", length(*seconds))
        }
        Uncounted::Lost { processes } => format!(
            "{} of it ended without a count: killed, or still running when the command had ended",
            processes_in_words(*processes)
        ),
        Uncounted::Repeated { processes } => format!(
            "{} of it forked unnoticed by callgrind, so that a count repeats what was counted before the fork",
            processes_in_words(*processes)
        ),
        Uncounted::Privileged { program } => format!(
            "it starts {}, which valgrind may not run: it changes its user, or has capabilities",
            one_line(program)
        ),
        Uncounted::NoProcess => "its shell does everything itself, and a shell is not counted".to_owned(),
        Uncounted::Error { error } => one_line(error),
        Uncounted::Interrupted => "it was interrupted before".to_owned(),
    }
}

fn processes_in_words(processes: usize) -> String {
    if processes == 1 { "1 process".to_owned() } else { format!("{processes} processes") }
}

/// Notes on how counts came about, and on the functions that changed.
pub(super) fn notes(comparison: &Comparison, names: &Names) -> Vec<String> {
    let Some(counting) = &comparison.counts else { return Vec::new() };
    let mut notes: Vec<String> =
        comparison.pairs.iter().filter_map(|pair| functions(pair, comparison, names)).collect();
    if comparison.pairs.is_empty() {
        let alone = comparison.commands.iter().filter_map(|command| {
            let why = command.counts.as_ref()?.uncounted.as_ref()?;
            Some(format!("instructions: {} was not counted: {}", names.of(&command.name), reason(why)))
        });
        notes.extend(alone);
    }
    let counted = comparison.commands.iter().filter_map(|command| command.counts.as_ref());
    let runs: Vec<usize> = counted.map(|counts| counts.instructions.len()).filter(|runs| *runs > 0).collect();
    if let (Some(tool), Some(least), Some(most)) = (&counting.tool, runs.iter().min(), runs.iter().max()) {
        let runs = if least == most { plural(*most, "run") } else { format!("{least} to {most} runs") };
        notes.push(format!(
            "instructions: counted by {} in {runs} of each command; a count is no speed, and no probability of error is \
             claimed: valgrind executes the instructions one thread at a time on a processor of its own, for which libraries \
             may choose another memcpy",
            one_line(tool)
        ));
    }
    notes
}

/// The functions that changed most, and the commands that show all of them.
fn functions(pair: &ComparedPair, comparison: &Comparison, names: &Names) -> Option<String> {
    let counts = pair.counts.as_ref().filter(|counts| !counts.functions.is_empty())?;
    let (a, b) = (names.of(&pair.a), names.of(&pair.b));
    let told: Vec<String> = counts.functions.iter().map(function).collect();
    let file = |name: &str| of(comparison, name)?.file.as_deref().map(one_line);
    let shown = file(&pair.b).zip(file(&pair.a)).map_or(String::new(), |(b, a)| {
        format!("; `callgrind_annotate {b}` and `callgrind_annotate {a}` show all of them")
    });
    Some(format!("instructions by function, {b} → {a}: {}{shown}", told.join(", ")))
}

fn function(function: &FunctionCounts) -> String {
    let (a, b) = (function.a as f64, function.b as f64);
    let change = match function.b {
        0 => String::new(),
        _ => format!(" ({}{} %)", if a < b { "−" } else { "+" }, significant((a / b - 1.0).abs() * 100.0, 2)),
    };
    format!("{} {} → {}{change}", one_line(&function.name), count(b), count(a))
}

/// The range of a ratio, as one number if its ends look alike.
fn times(range: CountRatio) -> String {
    let [low, high] = [range.low, range.high].map(|ratio| format!("{ratio:.4}"));
    if low == high { format!("{low}×") } else { format!("{low}–{high}×") }
}

fn margin(counting: &Counting) -> String {
    format!("{} %", (counting.margin * 1e8).round() / 1e6)
}
