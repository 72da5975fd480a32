//! An experiment of two revisions: at each point, every contender at the later revision stands beside itself at the
//! earlier one.
//!
//! The specification is that of the working tree, but for claims and contenders. There is one claim for each contender
//! at each point: by the metric that `headline` names, the later revision is no worse than the earlier. The changed
//! specification becomes the experiment's text, so that a kept run is judged by what it asked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kumite_record::{AxisValue, Better, Point, RunRevision};
use toml::{Table, Value};

use super::experiment::Experiment;
use super::folder::{find, read_contenders};
use crate::contender::Contender;
use crate::toml_source::{SpecError, TomlSource};

/// The endings of the names of contenders, by revision.
const ENDINGS: [&str; 2] = ["before", "after"];

/// A revision of the contenders of an experiment.
#[derive(Clone, Debug)]
pub struct Side {
    /// The revision, for the record.
    pub revision: RunRevision,
    /// The folder of the experiment in the tree of the revision.
    pub folder: PathBuf,
}

impl Experiment {
    /// The folder of the experiment that has this path or this name. An error if there is no such experiment.
    pub fn find(name: &str) -> Result<PathBuf, SpecError> {
        find(name)
    }

    /// Reads an experiment as a comparison of two revisions of its contenders; the first of `sides` is the earlier. An
    /// error if the experiment names no `headline`, no contender is in both revisions, or a file is wrong.
    pub fn of_revisions(name: &str, profile: &str, sides: &[Side; 2]) -> Result<Experiment, SpecError> {
        let plain = Experiment::load(name, profile)?;
        let (headline, sign) = headline(&plain)?;
        let mut both = [sides[0].contenders()?, sides[1].contenders()?];
        let [before, after] = both.each_ref().map(|contenders| names(contenders));
        let common: BTreeSet<String> = before.intersection(&after).cloned().collect();
        if common.is_empty() {
            return Err(SpecError::Usage(format!(
                "no contender of {} is in both {} and {}",
                plain.name, sides[0].revision.name, sides[1].revision.name
            )));
        }
        for (contenders, ending) in both.iter_mut().zip(ENDINGS) {
            for contender in contenders.iter_mut() {
                contender.variants.retain(|variant| common.contains(&variant.name));
                contender.variants.iter_mut().for_each(|variant| variant.name = ended(&variant.name, ending));
            }
            contenders.retain(|contender| !contender.variants.is_empty());
        }
        let source = TomlSource { file: plain.folder.join("experiment.toml"), text: plain.text.clone() };
        let mut file: Table = source.parse()?;
        for key in ["check", "control", "published"] {
            file.remove(key);
        }
        let revisions = sides.each_ref().map(|side| side.revision.in_words());
        let question = format!("{} (before: {}; after: {})", plain.question.text, revisions[0], revisions[1]);
        file.insert("question".to_owned(), Value::String(question));
        tried_as_both(&mut file, &common);
        for (_, profile) in file.get_mut("profiles").and_then(Value::as_table_mut).into_iter().flatten() {
            let Value::Table(profile) = profile else { continue };
            profile.remove("claims");
            tried_as_both(profile, &common);
        }
        let names = sides.each_ref().map(|side| side.revision.name.as_str());
        let mut claims = Vec::new();
        for (nth, planned) in plain.planned.iter().enumerate() {
            let here = planned.contenders.iter().filter(|name| common.contains(*name));
            let id = |name: &str| {
                if plain.planned.len() == 1 { name.to_owned() } else { format!("{name}-{}", nth + 1) }
            };
            claims.extend(here.map(|name| claim(&id(name), name, &planned.point, (&headline, sign), names)));
        }
        file.insert("claim".to_owned(), Value::Array(claims));
        let text = toml::to_string(&file).expect("a table that was read can be written");
        let changed = TomlSource { file: source.file, text };
        let contenders = both.into_iter().flatten().collect();
        let mut experiment = Experiment::parse(&changed, plain.name, plain.folder, profile, contenders)?;
        experiment.revisions = sides.each_ref().map(|side| side.revision.clone()).into();
        let left_out = |names: &BTreeSet<String>, side: &Side| {
            let only = names
                .difference(&common)
                .map(|name| format!("{name} is only in {}, and takes no part", side.revision.name));
            only.collect::<Vec<_>>()
        };
        experiment.doubts =
            [plain.doubts, left_out(&before, &sides[0]), left_out(&after, &sides[1])].concat();
        Ok(experiment)
    }
}

impl Side {
    fn contenders(&self) -> Result<Vec<Contender>, SpecError> {
        read_contenders(&self.folder)
    }
}

/// The metric by which revisions are compared, and the sign between a later value and an earlier one that is no better.
fn headline(plain: &Experiment) -> Result<(String, &'static str), SpecError> {
    let Some(name) = &plain.headline else {
        return Err(SpecError::Usage(format!(
            "--rev compares by one metric, and {} names none: write headline = \"METRIC\" into it, such as \"{}\"",
            plain.folder.join("experiment.toml").display(),
            plain.metrics.iter().find(|metric| metric.better.is_some()).map_or("", |metric| &metric.name),
        )));
    };
    let metric = plain.metrics.iter().find(|metric| metric.name == *name);
    let sign = match metric.and_then(|metric| metric.better) {
        Some(Better::Higher) => ">=",
        Some(Better::Lower) | None => "<=",
    };
    Ok((name.clone(), sign))
}

fn names(contenders: &[Contender]) -> BTreeSet<String> {
    contenders.iter().flat_map(|contender| &contender.variants).map(|variant| variant.name.clone()).collect()
}

fn ended(name: &str, ending: &str) -> String {
    format!("{name}-{ending}")
}

/// Names both revisions of each contender that an entry of `points` names.
fn tried_as_both(table: &mut Table, common: &BTreeSet<String>) {
    let entries = table.get_mut("points").and_then(Value::as_array_mut).into_iter().flatten();
    for named in entries.filter_map(|entry| entry.get_mut("contenders")?.as_array_mut()) {
        let both: Vec<Value> = named
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| common.contains(*name))
            .flat_map(|name| ENDINGS.map(|ending| Value::String(ended(name, ending))))
            .collect();
        *named = both;
    }
}

/// A value as a claim names it.
fn quoted(value: &AxisValue) -> String {
    match value {
        AxisValue::Text(text) if text.contains('"') => format!("'{text}'"),
        AxisValue::Text(text) => format!("\"{text}\""),
        value => value.to_string(),
    }
}

/// The claim that a contender is no worse at the second revision than at the first, at a point.
fn claim(id: &str, name: &str, point: &Point, (headline, sign): (&str, &str), revisions: [&str; 2]) -> Value {
    let axes: Vec<String> = point.0.iter().map(|(axis, value)| format!("{axis}={}", quoted(value))).collect();
    let at = if axes.is_empty() { String::new() } else { format!(" at {}", axes.join(", ")) };
    let [before, after] = ENDINGS.map(|ending| format!("{headline}({}{at})", ended(name, ending)));
    let title = format!("{name} is no worse at {} than at {}{at}", revisions[1], revisions[0]);
    let keys = [("id", id.to_owned()), ("title", title), ("assert", format!("{after} {sign} {before}"))];
    Value::Table(keys.map(|(key, value)| (key.to_owned(), Value::String(value))).into_iter().collect())
}
