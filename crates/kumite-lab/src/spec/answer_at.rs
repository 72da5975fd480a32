//! Right answers that differ by point.

use kumite_record::{Point, there_are};

use super::answer_entry::AnswerAt;
use super::axis_values::values_of_all;
use super::file::ExperimentFile;
use super::keys::keys_of_answer;
use super::points::{OneOrMore, none_of};
use crate::driver::Answer;
use crate::toml_source::{SpecError, TomlSource};
use crate::unfit::Unfit;

/// Returns an error if an entry of `answer_at` names an axis or a value that is not there.
pub(super) fn check_answer_at(source: &TomlSource, file: &ExperimentFile) -> Result<(), SpecError> {
    let known = values_of_all(file);
    for (nth, entry) in file.answer_at.iter().enumerate() {
        for (axis, chosen) in &entry.axes {
            let at = |what: String| source.error_at(&["answer_at", &nth.to_string(), axis], what);
            let Some(values) = known.get(axis) else {
                let names: Vec<&str> = known.keys().map(String::as_str).chain(["answer"]).collect();
                return Err(at(format!("no axis '{axis}'{}", there_are(axis, &names))));
            };
            if let Some(value) = chosen.values().iter().find(|value| !values.contains(value)) {
                return Err(at(none_of(axis, value, values)));
            }
        }
    }
    Ok(())
}

/// The right answer at a point, with the position of the entry of `answer_at` that applies there. The position is None
/// if the file has no entries. An error if it has entries, and not exactly one of them applies at the point.
pub(super) fn answer_of(
    source: &TomlSource,
    file: &ExperimentFile,
    point: &Point,
) -> Result<(Answer, Option<usize>), SpecError> {
    let is_of = |(axis, values): (&String, &OneOrMore)| {
        point.get(axis).is_some_and(|value| values.values().contains(value))
    };
    let here = |(_, entry): &(usize, &AnswerAt)| entry.axes.iter().all(is_of);
    let entries: Vec<(usize, &AnswerAt)> = file.answer_at.iter().enumerate().filter(here).collect();
    match entries[..] {
        _ if file.answer_at.is_empty() => Ok((file.answer.clone(), None)),
        [(nth, entry)] => Ok((entry.answer.over(&file.answer), Some(nth))),
        [] => {
            let what =
                format!("no [[answer_at]] is of {point}: add one, without `answer` if [answer] says it all");
            Err(source.error_at(&["answer_at"], what))
        }
        [(first, _), (second, _), ..] => {
            let what = format!(
                "two entries of [[answer_at]] are of {point}, the {} and this: a point has one right answer",
                ordinal(first + 1)
            );
            Err(source.error_at(&["answer_at", &second.to_string()], what))
        }
    }
}

fn ordinal(nth: usize) -> String {
    match nth {
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        nth => format!("{nth}th"),
    }
}

/// An error for a workload that cannot be read, at the key that has the fault.
pub(super) fn unfit_at(
    source: &TomlSource,
    file: &ExperimentFile,
    nth: Option<usize>,
    unfit: Unfit,
) -> SpecError {
    let Some(key) = unfit.answer_key else { return source.error_at(&["workload"], unfit) };
    let is_given = |answer: &Answer| {
        keys_of_answer(answer).iter().any(|(name, given)| *given && name.strip_prefix("answer.") == Some(key))
    };
    match nth {
        Some(nth) if is_given(&file.answer_at[nth].answer) => {
            source.error_at(&["answer_at", &nth.to_string(), "answer", key], unfit)
        }
        _ => source.error_at(&["answer", key], unfit),
    }
}
