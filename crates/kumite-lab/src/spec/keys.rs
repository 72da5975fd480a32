//! Keys that only some kinds have, and parameters that may be mistyped.

use std::collections::BTreeMap;

use kumite_record::{AxisValue, near};

use super::answer_entry::AnswerAt;
use super::file::ExperimentFile;
use crate::contender::{Contender, Variant};
use crate::driver::{Answer, KINDS, Registration};
use crate::parameter::Parameters;
use crate::toml_source::{SpecError, TomlSource};

/// Returns an error if a key is given that only other kinds have, or if `answer.equals` and `answer.equals_json` are
/// both given.
pub(super) fn check_keys(
    source: &TomlSource,
    file: &ExperimentFile,
    kind: &Registration,
    contenders: &[Contender],
) -> Result<(), SpecError> {
    let is_of_others = |(key, given): &(&str, bool)| *given && !kind.keys.contains(key);
    if let Some((key, _)) = keys_of_experiment(file).into_iter().find(is_of_others) {
        let path: Vec<&str> = key.split('.').collect();
        return Err(source.error_at(&path, of_others(key, kind)));
    }
    let is_double = |answer: &Answer| answer.equals.is_some() && answer.equals_json.is_some();
    let double = "a right answer is either `equals` or `equals_json`: leave one of them out";
    if is_double(&file.answer) {
        return Err(source.error_at(&["answer", "equals_json"], double));
    }
    for (nth, AnswerAt { answer, .. }) in file.answer_at.iter().enumerate() {
        let place = ["answer_at", &nth.to_string()];
        if let Some((key, _)) = keys_of_answer(answer).into_iter().find(is_of_others) {
            let path = [&place[..], &key.split('.').collect::<Vec<_>>()].concat();
            return Err(source.error_at(&path, of_others(key, kind)));
        }
        if is_double(answer) {
            return Err(source.error_at(&[&place[..], &["answer", "equals_json"]].concat(), double));
        }
    }
    for variant in contenders.iter().flat_map(|contender| &contender.variants) {
        if let Some((key, _)) = keys_of_contender(variant).into_iter().find(is_of_others) {
            let what = format!("contender {}: {}", variant.name, of_others(key, kind));
            return Err(source.error_at(&["kind"], what));
        }
    }
    Ok(())
}

/// The keys of experiment.toml that only some kinds have, with true for those that are given.
pub(super) fn keys_of_experiment(file: &ExperimentFile) -> Vec<(&'static str, bool)> {
    let of_file = [
        ("metrics", !file.metrics.is_empty()),
        ("disk", file.disk.is_some()),
        ("services", !file.services.is_empty()),
        ("answer_at", !file.answer_at.is_empty()),
        ("request", !file.request.is_empty()),
        ("session", !file.session.is_empty()),
        ("headers", !file.headers.is_empty()),
        ("csv", file.csv.is_some()),
        ("cookies", file.cookies),
    ];
    of_file.into_iter().chain(keys_of_answer(&file.answer)).collect()
}

/// The keys of a right answer that only some kinds have, with true for those that are given.
pub(super) fn keys_of_answer(answer: &Answer) -> [(&'static str, bool); 11] {
    [
        ("answer.status", answer.status.is_some()),
        ("answer.equals", answer.equals.is_some()),
        ("answer.equals_json", answer.equals_json.is_some()),
        ("answer.at", !answer.at.is_empty()),
        ("answer.contains", !answer.contains.texts().is_empty()),
        ("answer.matches", !answer.matches.is_empty()),
        ("answer.headers", !answer.headers.is_empty()),
        ("answer.length", answer.length.is_some()),
        ("answer.sha256", answer.sha256.is_some()),
        ("answer.checker", answer.checker.is_some()),
        ("answer.same_output", answer.same_output),
    ]
}

/// The keys of a contender's variant that only some kinds have, with true for those that are given.
pub(super) fn keys_of_contender(variant: &Variant) -> [(&'static str, bool); 3] {
    [
        ("answers", variant.answers.is_some()),
        ("reads", variant.reads.is_some()),
        ("memory_mb", variant.memory_mb.is_some()),
    ]
}

/// A sentence on a key that only other kinds have.
fn of_others(key: &str, kind: &Registration) -> String {
    let theirs = KINDS.iter().filter(|other| other.keys.contains(&key));
    let contenders: Vec<&str> = theirs.map(|other| other.contenders).collect();
    let contenders = match contenders.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => contenders.concat(),
    };
    format!("only {contenders} have `{key}`, and this is of kind {}", kind.name)
}

/// Sentences on parameters of the contenders' own whose names may be mistyped names of kumite's parameters. Nothing is
/// said if the parameter of kumite's with the like name is given, too.
pub(super) fn mistyped(
    source: &TomlSource,
    fixed: &Parameters,
    axes: &BTreeMap<String, Vec<AxisValue>>,
    kind: &Registration,
) -> Vec<String> {
    // A parameter of kumite's may be in either table, or in both: its default, and the values that are tried.
    let is_given = |table: &str, name: &str| match table {
        "axes" => axes.contains_key(name),
        _ => fixed.contains_key(name),
    };
    let is_known = |name: &str| kind.params.iter().any(|param| param.name == name);
    let names = fixed.keys().map(|name| ("workload", name)).chain(axes.keys().map(|name| ("axes", name)));
    let doubt = |(table, name): (&str, &String)| {
        let missing = kind.params.iter().map(|param| param.name).filter(|known| !is_given(table, known));
        let near = near(name, missing).filter(|_| !is_known(name))?;
        let what =
            format!("'{name}' is unknown to kumite, and passed on to the contenders; did you mean '{near}'?");
        Some(source.error_at(&[table, name], what).to_string())
    };
    names.filter_map(doubt).collect()
}
