//! The part of an experiment's file that its trials and verdicts depend on, without the words about them.
//!
//! Two runs belong together only if this part is equal. So a corrected sentence does not separate a run from its
//! continuation, and a changed parameter does.

use std::collections::BTreeSet;

use kumite_record::Run;
use toml::{Table, Value};

use crate::toml_source::{SpecError, TomlSource};

/// The keys that are only words for people; `*` is any name or number. A claim's `assert` is not among them: it
/// decides which cells go on and when a run ends, and a verdict's promise holds only for claims that were there
/// before the trials.
const WORDS: [&[&str]; 11] = [
    &["question"],
    // A run of revisions has claims that are made of it.
    &["headline"],
    &["source"],
    &["published"],
    // The tools' versions are in those of the contenders.
    &["needs"],
    &["install"],
    &["claim", "*", "title"],
    &["claim", "*", "published"],
    &["check", "*", "title"],
    &["check", "*", "because"],
    &["metrics", "*", "about"],
];

/// The part of an experiment's file that the trials of a profile depend on: without words for people, and without
/// other profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked(Value);

/// A key whose values differ in two files.
#[derive(Debug, PartialEq)]
pub(crate) struct KeyDifference {
    /// The full path of the key, with the tables that it is in.
    pub key: String,
    /// The value of the key in each file. None for a file that does not have it.
    pub values: [Option<String>; 2],
}

impl Asked {
    /// Reads the part that the trials of this profile depend on from the text of an experiment's file. An error if the
    /// text is not TOML.
    pub fn new(text: &str, profile: &str) -> Result<Asked, SpecError> {
        Asked::read(&TomlSource { file: "experiment.toml".into(), text: text.to_owned() }, profile)
    }

    /// Reads the part that a run depends on, from its file as it was when the run began.
    pub(crate) fn of_run(run: &Run) -> Result<Asked, SpecError> {
        Asked::read(&TomlSource::of_run(run), &run.profile)
    }

    fn read(source: &TomlSource, profile: &str) -> Result<Asked, SpecError> {
        let mut table: Table = source.parse()?;
        if let Some(Value::Table(profiles)) = table.get_mut("profiles") {
            profiles.retain(|name, _| name == profile);
            if profiles.is_empty() {
                table.remove("profiles");
            }
        }
        let mut asked = Value::Table(table);
        for path in WORDS {
            remove(&mut asked, path);
        }
        Ok(Asked(asked))
    }

    /// The first key that differs, with its value in each; `nothing` stands for a value that is not there. None if both
    /// are equal.
    pub(crate) fn difference(&self, other: &Asked) -> Option<(String, [String; 2])> {
        let first = self.differences(other).into_iter().next()?;
        let values = first.values.map(|value| value.unwrap_or_else(|| "nothing".to_owned()));
        Some((first.key, values))
    }

    /// All keys that differ.
    pub(crate) fn differences(&self, other: &Asked) -> Vec<KeyDifference> {
        let mut found = Vec::new();
        differences("", Some(&self.0), Some(&other.0), &mut found);
        found
    }

    /// A text that is the same for equal parts, however their files were laid out.
    pub fn canonical(&self) -> String {
        self.0.to_string()
    }
}

fn remove(value: &mut Value, path: &[&str]) {
    match (value, path) {
        (Value::Table(table), [key]) => drop(table.remove(*key)),
        (Value::Table(table), ["*", rest @ ..]) => {
            table.iter_mut().for_each(|(_, value)| remove(value, rest))
        }
        (Value::Array(array), ["*", rest @ ..]) => array.iter_mut().for_each(|value| remove(value, rest)),
        (Value::Table(table), [key, rest @ ..]) => {
            if let Some(value) = table.get_mut(*key) {
                remove(value, rest);
            }
        }
        _ => {}
    }
}

fn differences(path: &str, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<KeyDifference>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        _ if a == b => {}
        (Some(Value::Table(a)), Some(Value::Table(b))) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().for_each(|key| differences(&below(key), a.get(key), b.get(key), found));
        }
        (Some(Value::Array(of_a)), Some(Value::Array(of_b)))
            if are_tables(of_a) && of_a.len() == of_b.len() =>
        {
            for (nth, (a, b)) in (1..).zip(of_a.iter().zip(of_b)) {
                differences(&below(&called(nth, a)), Some(a), Some(b), found);
            }
        }
        _ => {
            let values = [a, b].map(|value| value.map(Value::to_string));
            found.push(KeyDifference { key: path.to_owned(), values });
        }
    }
}

fn are_tables(values: &[Value]) -> bool {
    values.iter().all(Value::is_table)
}

/// The id of a table in a list; without one, its number, from 1.
fn called(nth: usize, value: &Value) -> String {
    value.get("id").and_then(Value::as_str).map_or_else(|| nth.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::ExperimentFile;

    /// A file with each of the words, and with keys of the same names that are none.
    const TEXT: &str = r#"
question = "A"
headline = "throughput_rps"
kind = "http"
blocks = 6
needs = ["a"]
[install]
apt = ["a"]
[source]
title = "A"
author = "A"
[workload]
title = 1
[profiles.quick]
blocks = 3
[profiles.standard]
blocks = 6
[metrics.about]
value = "worker"
about = "A"
[published]
note = "A"
file = "A"
beside = []
[[claim]]
id = "c"
title = "A"
published = "A"
assert = "throughput_rps(a) > throughput_rps(b)"
[[check]]
id = "d"
title = "A"
because = "A"
binds = "trials"
assert = "throughput_rps(a) > 0"
"#;

    fn asked(text: &str) -> Asked {
        Asked::new(text, "standard").unwrap()
    }

    fn differs(was: &str, is: &str) -> Option<(String, [String; 2])> {
        assert!(TEXT.contains(was), "{was}");
        asked(TEXT).difference(&asked(&TEXT.replace(was, is)))
    }

    #[test]
    fn words_comments_order_and_other_profiles_are_no_part_of_it() {
        for (was, is) in [
            ("\"A\"", "\"B\""),
            ("[\"a\"]", "[\"b\"]"),
            ("kind = \"http\"\nblocks = 6", "# more\nblocks = 6\nkind = \"http\""),
            ("blocks = 3", "blocks = 4"),
        ] {
            assert_eq!(differs(was, is), None, "{was}");
        }
        let without = TEXT.replace("[profiles.standard]\nblocks = 6\n", "");
        assert_eq!(
            asked(&without),
            asked(&without.replace("[profiles.quick]\nblocks = 3\n", "")),
            "of profiles that are all others nothing is left"
        );
    }

    #[test]
    fn what_a_trial_or_a_verdict_depends_on_is_named_with_both_values() {
        let named = |was: &str, is: &str| {
            let (key, [a, b]) = differs(was, is).unwrap();
            format!("{key}: {a}, and {b}")
        };
        assert_eq!(named("title = 1", "title = 2"), "workload.title: 1, and 2");
        assert_eq!(
            named("[profiles.standard]\nblocks = 6", "[profiles.standard]\nblocks = 7"),
            "profiles.standard.blocks: 6, and 7"
        );
        assert_eq!(
            named("(a) > 0", "(a) > 1"),
            r#"check.d.assert: "throughput_rps(a) > 0", and "throughput_rps(a) > 1""#
        );
        assert_eq!(
            named("(a) > t", "(a) >= t"),
            r#"claim.c.assert: "throughput_rps(a) > throughput_rps(b)", and "throughput_rps(a) >= throughput_rps(b)""#
        );
        assert_eq!(named("\nblocks = 6\nneeds", "\nneeds"), "blocks: 6, and nothing");
        assert_eq!(
            named("[metrics.about]", "[metrics.other]"),
            r#"metrics.about: { value = "worker" }, and nothing"#
        );
    }

    #[test]
    fn all_that_differs_is_found_and_not_only_the_first() {
        let other = TEXT.replace("title = 1", "title = 2").replace("(a) > t", "(a) >= t");
        let keys: Vec<String> =
            asked(TEXT).differences(&asked(&other)).into_iter().map(|of| of.key).collect();
        assert_eq!(keys, ["claim.c.assert", "workload.title"]);
    }

    #[test]
    fn every_place_of_words_is_one_of_a_file() {
        let source =
            TomlSource { file: "x.toml".into(), text: TEXT.replace("[metrics.about]", "[metrics.about_ms]") };
        ExperimentFile::read(&source).map(drop).unwrap();
        for path in WORDS {
            let mut has: Value = Value::Table(source.parse().unwrap());
            let all = has.clone();
            remove(&mut has, path);
            assert_ne!(has, all, "{path:?}");
        }
    }
}
