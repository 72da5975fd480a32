//! The run that an experiment's README tells of, `found/standard.json.gz`: its figures there are those of the run.
//!
//! A figure that is to be checked has its reference after it, which Markdown does not show:
//! `1.43<!-- claim ID effect -->`, `25,300<!-- cell CONTENDER AXIS=VALUE METRIC -->`, `holds<!-- claim ID verdict -->`,
//! `20261123-070322-7cd1<!-- run id -->`, `60<!-- run trials -->`, `14<!-- run minutes -->`. A cell that names the axis within trials, such as `call=2`, is a part. After the metric may stand `low`, `high` or `n`, and `/1000` at the end divides.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::{folders, read, show};

const FOUND: &str = "found/standard.json.gz";
const MOST_BYTES: u64 = 1_000_000;
/// Of an experiment, what changes no trial and no verdict.
const WORDS: [&str; 10] =
    ["question", "source", "title", "published", "because", "note", "main", "beside", "needs", "install"];

pub(super) fn check(root: &Path, wrong: &mut Vec<String>) {
    let overview = read(&root.join("experiments/README.md"), wrong);
    for experiment in folders(&root.join("experiments")) {
        let (file, readme) = (experiment.join(FOUND), experiment.join("README.md"));
        let references = references(&read(&readme, wrong));
        if !file.is_file() {
            if !references.is_empty() {
                wrong.push(format!("{}: refers to {FOUND}, which is not there", show(root, &readme)));
            }
            continue;
        }
        let of_file = |what: String| format!("{}: {what}", show(root, &file));
        let run = match unpacked(&file) {
            Ok(run) => run,
            Err(why) => {
                wrong.push(of_file(why));
                continue;
            }
        };
        let spec = read(&experiment.join("experiment.toml"), wrong);
        wrong.extend(of_run(&run, &spec).map(of_file));
        wrong.extend(
            of_overview(&overview, &experiment, &run).map(|what| format!("experiments/README.md: {what}")),
        );
        for Reference { line, shown, to } in references {
            let value = value(&run, &to);
            let why = match value.as_ref().map(|value| is_shown(value, &shown)) {
                Ok(true) => continue,
                Ok(false) => format!("the run has {}", value.unwrap_or_default()),
                Err(why) => why.clone(),
            };
            wrong.push(format!("{}:{line}: {shown} ({to}): {why}", show(root, &readme)));
        }
    }
}

fn unpacked(file: &Path) -> Result<Value, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("{} bytes, more than {MOST_BYTES}", bytes.len()));
    }
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Why it cannot stand for the experiment.
fn of_run(run: &Value, experiment: &str) -> Option<String> {
    let of_run = |key: &str| run["run"][key].as_str();
    let ended = of_run("cut_short").is_none_or(|why| why.starts_with("the budget of"));
    if of_run("profile") != Some("standard") || !ended {
        return Some("it is no complete run of the profile standard".to_owned());
    }
    let asked = |text: &str| toml::from_str::<toml::Value>(text).map(without_words).ok();
    let is_same = asked(of_run("spec").unwrap_or_default()) == asked(experiment);
    (!is_same)
        .then(|| "experiment.toml has changed since: the first complete run of it as it is counts".to_owned())
}

/// Why its row in the overview is not the run's: the last two columns say how many claims are decided, and its minutes.
fn of_overview(overview: &str, experiment: &Path, run: &Value) -> Option<String> {
    let name = experiment.file_name()?.to_str()?;
    let begin = format!("| [{name}]({name}) |");
    let Some(row) = overview.lines().find(|line| line.starts_with(&begin)) else {
        return Some(format!("{name} has a found run and no row"));
    };
    let mut cells = row.trim_end_matches('|').rsplit('|').map(str::trim);
    let (shown, sure) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
    let claims = run["claims"].as_array().map_or(&[][..], Vec::as_slice);
    let is_decided =
        |claim: &&Value| !["undecided", "not-tested"].map(Value::from).contains(&claim["verdict"]);
    let decided = format!("{} of {}", claims.iter().filter(is_decided).count(), claims.len());
    match minutes(run) {
        _ if sure.split([';', ',']).next().map(|sure| sure.trim_end_matches(" claims decided"))
            != Some(&*decided) =>
        {
            Some(format!("{name} has \"{sure}\", and its run decided {decided}"))
        }
        Ok(minutes) if is_shown(&minutes.into(), shown) => None,
        Ok(minutes) => Some(format!("{name} has {shown} minutes, and its run took {minutes:.1}")),
        Err(why) => Some(format!("{name}: {why}")),
    }
}

fn minutes(run: &Value) -> Result<f64, String> {
    let at = |key: &str| {
        let text = run["run"][key].as_str().unwrap_or_default();
        text.parse::<jiff::Timestamp>().map_err(|error| format!("run {key}: {error}"))
    };
    Ok(at("finished")?.duration_since(at("started")?).as_secs_f64() / 60.0)
}

fn without_words(value: toml::Value) -> toml::Value {
    match value {
        toml::Value::Table(table) => {
            let asked = table.into_iter().filter(|(key, _)| !WORDS.contains(&key.as_str()));
            toml::Value::Table(asked.map(|(key, value)| (key, without_words(value))).collect())
        }
        toml::Value::Array(values) => toml::Value::Array(values.into_iter().map(without_words).collect()),
        other => other,
    }
}

/// A figure of a document, and where in the run it is from.
struct Reference {
    line: usize,
    shown: String,
    to: String,
}

fn references(text: &str) -> Vec<Reference> {
    let kinds = ["claim ", "cell ", "run ", "machine "];
    let of_line = |(nth, line): (usize, &str)| {
        let mut found = Vec::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("<!-- ") {
            let Some((to, next)) = after.split_once(" -->") else { break };
            if kinds.iter().any(|kind| to.starts_with(kind)) {
                let shown = before.split_whitespace().next_back().unwrap_or_default();
                let shown = shown.trim_start_matches(['(', '*', '`', '|', '–']).trim_end_matches(['*', '`']);
                let shown = shown.rsplit('–').next().unwrap_or_default();
                found.push(Reference { line: nth + 1, shown: shown.to_owned(), to: to.to_owned() });
            }
            rest = next;
        }
        found
    };
    text.lines().enumerate().flat_map(of_line).collect()
}

fn value(run: &Value, to: &str) -> Result<Value, String> {
    let (path, divisor) =
        match to.rsplit_once('/').and_then(|(path, by)| Some((path, by.parse::<f64>().ok()?))) {
            Some((path, divisor)) => (path, divisor),
            None => (to, 1.0),
        };
    let words: Vec<&str> = path.split_whitespace().collect();
    let value = match words.as_slice() {
        ["run", "minutes"] => minutes(run)?.into(),
        ["run", "trials"] => run["trials"].as_array().map(Vec::len).into(),
        [part @ ("run" | "machine"), key] => run[*part][*key].clone(),
        ["claim", id, key] => entry(run, "claims", |claim| claim["id"] == *id)?[*key].clone(),
        ["cell", contender, rest @ ..] => {
            let is_point = |word: &&&str| word.contains('=');
            let point: Vec<(&str, &str)> =
                rest.iter().filter(is_point).filter_map(|word| word.split_once('=')).collect();
            let rest: Vec<&str> = rest.iter().filter(|word| !is_point(word)).copied().collect();
            let is_at = |cell: &Value| {
                point.iter().all(|(axis, value)| cell["point"][*axis].to_string().trim_matches('"') == *value)
            };
            // A part of a trial is named by the axis within it.
            let within = run["run"]["within"]["axis"].as_str();
            let is_part = point.iter().any(|(axis, _)| Some(*axis) == within);
            let cells = if is_part { "parts" } else { "cells" };
            let cell = entry(run, cells, |cell| cell["contender"] == *contender && is_at(cell))?;
            let (metric, key) = match rest.as_slice() {
                [metric] => (metric, "estimate"),
                [metric, key] => (metric, *key),
                _ => return Err("write: cell CONTENDER AXIS=VALUE … METRIC".to_owned()),
            };
            cell["metrics"][*metric][key].clone()
        }
        _ => {
            return Err(
                "write: claim ID KEY, cell CONTENDER AXIS=VALUE … METRIC, run KEY or machine KEY".to_owned()
            );
        }
    };
    match value.as_f64() {
        _ if value.is_null() => Err("the run has no such value".to_owned()),
        Some(number) => Ok((number / divisor).into()),
        None => Ok(value),
    }
}

/// The only entry of that list that is meant.
fn entry<'a>(run: &'a Value, list: &str, is_meant: impl Fn(&Value) -> bool) -> Result<&'a Value, String> {
    let meant: Vec<&Value> =
        run[list].as_array().into_iter().flatten().filter(|entry| is_meant(entry)).collect();
    match meant.as_slice() {
        [entry] => Ok(entry),
        [] => Err(format!("the run has no such entry in {list}")),
        several => Err(format!("{} entries of {list} are such: name more axes", several.len())),
    }
}

/// Whether that is the value, rounded to the digits that are written.
fn is_shown(value: &Value, shown: &str) -> bool {
    let Some(value) = value.as_f64() else {
        return value
            .as_str()
            .is_some_and(|value| value == shown || value.replace('-', " ").ends_with(shown));
    };
    let plain = shown.replace(',', "").replace('−', "-");
    let Ok(number) = plain.parse::<f64>() else { return false };
    let last_digit = match plain.split_once('.') {
        Some((_, decimals)) => 0.1f64.powi(decimals.len() as i32),
        // The zeros at the end of a whole number may be rounded, or its digits.
        None => 10f64.powi((plain.len() - plain.trim_end_matches('0').len()).min(plain.len() - 1) as i32),
    };
    (value - number).abs() <= last_digit / 2.0 * (1.0 + 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Value {
        serde_json::json!({
            "run": { "id": "20261123-1", "profile": "standard", "cut_short": null, "spec": "blocks = 3 # x\nquestion = \"a\"", "seed": 7,
                "started": "2026-11-23T23:59:00Z", "finished": "2026-11-24T00:12:36.5Z" },
            "trials": [{}, {}],
            "claims": [{ "id": "a-b", "effect": 1.4268, "verdict": "no-difference", "at_most": null }],
            "cells": [
                { "contender": "a", "point": { "n": 1, "m": "all" }, "metrics": { "t_us": { "estimate": 25_260.0, "low": 2.0 } } },
                { "contender": "a", "point": { "n": 2, "m": "all" }, "metrics": { "t_us": { "estimate": 0.0494 } } },
            ],
        })
    }

    #[test]
    fn a_figure_is_that_of_the_run_rounded_as_it_is_written() {
        let text = "It is 1.43<!-- claim a-b effect --> (25,300<!-- cell a n=1 t_us -->, 25.26<!-- cell a n=1 t_us/1000 -->; \
                    2–0.049<!-- cell a n=2 m=all t_us -->), difference<!-- claim a-b verdict -->, `7<!-- run seed -->`; \
                    2<!-- run trials --> trials in 14<!-- run minutes --> minutes, 13.6<!-- run minutes -->.";
        let found = references(text);
        assert_eq!(found.len(), 9);
        for Reference { shown, to, .. } in found {
            assert!(is_shown(&value(&run(), &to).unwrap(), &shown), "{shown} {to}");
        }
    }

    #[test]
    fn another_figure_is_found_out() {
        for (shown, to) in [
            ("1.42", "claim a-b effect"),
            ("1.4", "run seed"),
            ("25,200", "cell a n=1 t_us"),
            ("holds", "claim a-b verdict"),
        ] {
            assert!(!is_shown(&value(&run(), to).unwrap(), shown), "{shown} {to}");
        }
        for to in [
            "claim b effect",
            "claim a-b at_most",
            "cell a t_us",
            "cell a n=3 t_us",
            "cell a",
            "nothing",
            "cell a n=1 x_us",
        ] {
            assert!(to == "nothing" || value(&run(), to).is_err(), "{to}");
        }
        assert!(references("<!-- a comment --> 1<!-- claimed -->").is_empty());
    }

    #[test]
    fn the_overview_has_what_the_run_decided_and_its_minutes() {
        let said = |sure: &str, minutes: u32| {
            let overview = format!("| [a](a) | why | it is | {sure} | {minutes} |\n");
            of_overview(&overview, Path::new("experiments/a"), &run())
        };
        assert_eq!(said("1 of 1; a check is red", 14), None);
        assert!(said("1 of 1", 16).unwrap().contains("a has 16 minutes, and its run took 13.6"));
        assert!(said("1 of 13", 14).is_some());
        assert!(said("0 of 1", 14).unwrap().contains("and its run decided 1 of 1"));
        assert!(of_overview("", Path::new("experiments/a"), &run()).unwrap().contains("no row"));
    }

    #[test]
    fn a_run_is_of_the_experiment_whatever_words_it_has_now() {
        assert_eq!(of_run(&run(), "question = \"b\"\nblocks = 3\n"), None);
        assert!(of_run(&run(), "question = \"a\"\nblocks = 4\n").unwrap().contains("has changed"));
        let mut short = run();
        short["run"]["cut_short"] = "Ctrl-C".into();
        assert!(of_run(&short, "blocks = 3").unwrap().contains("no complete run"));
    }
}
