//! The run that an experiment's README tells of, `found/standard.json.gz`, and what is made from it: its picture, the figures
//! of the README and its row in the overview.

mod claims;
mod earlier;
mod everyone;
mod kept;
mod log;
mod mark;
mod overview;
mod pictures;
mod quiet;
mod rejudge;
mod sitting;
mod sources;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use kumite_record::{Sitting, apart};
use serde::Serialize;
use serde_json::Value;

use crate::project::{folders, read, show};

pub use rejudge::run as rejudge;
pub use sitting::run as sitting;

/// The profile of a found run.
const PROFILE: &str = "standard";
const RECORD: &str = "found/standard.json.gz";
const PICTURE: &str = "found/verdicts.svg";
const OVERVIEW: &str = "experiments/README.md";
const LOG: &str = "found/log.toml";
const MOST_BYTES: u64 = 1_000_000;
const MOST_BYTES_OF_SITTING: u64 = 400_000;

/// Adds the figures, rows and runs that are not as the record has them.
pub fn check(root: &Path, wrong: &mut Vec<String>) {
    let overview = read(&root.join(OVERVIEW), wrong);
    for experiment in folders(&root.join("experiments")) {
        let (file, readme) = (experiment.join(RECORD), experiment.join("README.md"));
        let words = read(&readme, wrong);
        let marks = mark::marks(&words);
        let of_folder = |what: String| format!("{}: {what}", show(root, &experiment));
        wrong.extend(sources::wrong(&experiment).into_iter().map(of_folder));
        if !file.is_file() {
            wrong.extend(kept::wrong(&experiment, None).into_iter().map(of_folder));
            if !marks.is_empty() {
                wrong.push(format!("{}: refers to {RECORD}, which is not there", show(root, &readme)));
            }
            continue;
        }
        let of_file = |what: String| format!("{}: {what}", show(root, &file));
        let run = match unpacked(&file, MOST_BYTES) {
            Ok(run) => run,
            Err(why) => {
                wrong.push(of_file(format!("{why:#}")));
                continue;
            }
        };
        let spec = read(&experiment.join("experiment.toml"), wrong);
        wrong.extend(unfit_run(&run).map(of_file));
        wrong.extend(kept::wrong(&experiment, Some(&run)).into_iter().map(of_folder));
        let everyone = everyone::read(&experiment, &spec).unwrap_or_else(|why| {
            wrong.push(of_folder(format!("{}: {why:#}", everyone::RECORD)));
            None
        });
        let is_earlier = earlier::is_of_earlier(&run, &spec);
        wrong.extend(earlier::wrong(&words, is_earlier).map(|why| format!("{}: {why}", show(root, &readme))));
        wrong.extend(pictures::wrong(&experiment, &words).into_iter().map(of_folder));
        match serde_json::from_value(run.clone()) {
            Ok(run) => wrong.extend(
                claims::wrong(&overview, &name_of(&experiment), &run)
                    .map(|what| format!("{OVERVIEW}: {what}")),
            ),
            Err(error) => wrong.push(of_file(error.to_string())),
        }
        let row = overview::wrong(&overview, &name_of(&experiment), &run, is_earlier);
        wrong.extend(row.map(|what| format!("{OVERVIEW}: {what}")));
        let runs: Vec<&Value> = [&run].into_iter().chain(&everyone).collect();
        for mark in marks {
            wrong
                .extend(mark.wrong(&runs).map(|why| format!("{}:{}: {why}", show(root, &readme), mark.line)));
        }
    }
}

/// Why the experiment's found run does not settle what it asks today, if it does not.
pub fn why_not_settled(experiment: &Path) -> Option<String> {
    let file = experiment.join(RECORD);
    if !file.is_file() {
        return Some(format!("it has no {RECORD}"));
    }
    let run = match unpacked(&file, MOST_BYTES) {
        Ok(run) => run,
        Err(why) => return Some(format!("{why:#}")),
    };
    let specification = std::fs::read_to_string(experiment.join("experiment.toml")).unwrap_or_default();
    if earlier::is_of_earlier(&run, &specification) {
        return Some(format!("its found run is of an {}", earlier::WORDS));
    }
    let sittings: Vec<Sitting> = serde_json::from_value(run["run"]["sittings"].clone()).unwrap_or_default();
    let sittings = apart(&sittings).len();
    (sittings < log::COUNT).then(|| format!("its found run is of {sittings} sittings, not of {}", log::COUNT))
}

fn name_of(experiment: &Path) -> String {
    experiment.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The experiments that have a found run.
fn all(root: &Path) -> Vec<PathBuf> {
    let mut all = folders(&root.join("experiments"));
    all.retain(|experiment| experiment.join(RECORD).is_file());
    all
}

fn unpacked(file: &Path, most_bytes: u64) -> Result<Value> {
    let bytes = std::fs::read(file)?;
    if bytes.len() as u64 > most_bytes {
        bail!("{} bytes, more than {most_bytes}", bytes.len());
    }
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

/// The bytes that `kumite run --json FILE.gz` writes.
fn packed(run: &impl Serialize) -> Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(run)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.write_all(b"\n"));
    Ok(written.and_then(|()| encoder.finish())?)
}

/// The reason why a run cannot stand for its experiment, if there is one.
fn unfit_run(run: &Value) -> Option<String> {
    let of_run = |key: &str| run["run"][key].as_str();
    (of_run("profile") != Some(PROFILE) || !is_ended(of_run("cut_short")))
        .then(|| "it is no complete run of the profile standard".to_owned())
}

/// True of a run that was not cut short, or only by its budget.
fn is_ended(cut_short: Option<&str>) -> bool {
    cut_short.is_none_or(|why| why.starts_with("the budget of"))
}

/// The time that a run took, in minutes; of a run of several sittings, that of all of them together.
fn minutes(run: &Value) -> Result<f64> {
    let sittings = run["run"]["sittings"].as_array().filter(|sittings| sittings.len() > 1);
    match sittings {
        Some(sittings) => sittings.iter().map(minutes_of).sum(),
        None => minutes_of(&run["run"]),
    }
}

fn minutes_of(stretch: &Value) -> Result<f64> {
    let at = |key: &str| {
        let text = stretch[key].as_str().unwrap_or_default();
        text.parse::<jiff::Timestamp>().with_context(|| format!("run {key}"))
    };
    Ok(at("finished")?.duration_since(at("started")?).as_secs_f64() / 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of two cells and a claim.
    pub fn run() -> Value {
        serde_json::json!({
            "run": { "id": "20261123-1", "profile": "standard", "cut_short": null, "spec": "blocks = 3 # x\nquestion = \"a\"", "seed": 7,
                "started": "2026-11-23T23:59:00Z", "finished": "2026-11-24T00:12:36.5Z" },
            "trials": [{}, {}],
            "claims": [{ "id": "a-b", "effect": { "value": 1.4268, "bound": { "high": null } }, "verdict": "no-difference" }],
            "cells": [
                { "contender": "a", "point": { "n": 1, "m": "all" }, "metrics": { "t_us": { "estimate": 25_260.0, "low": 2.0 } } },
                { "contender": "a", "point": { "n": 2, "m": "all" }, "metrics": { "t_us": { "estimate": 0.0494 } } },
            ],
        })
    }

    #[test]
    fn a_run_of_sittings_took_as_long_as_all_of_them_together() {
        let mut of = run();
        let sitting = |day: u32, minutes: u32| {
            let at = |minute: u32| format!("2026-11-{day}T08:{minute:02}:00Z");
            serde_json::json!({ "started": at(0), "finished": at(minutes) })
        };
        of["run"]["sittings"] = serde_json::json!([sitting(23, 1)]);
        assert!((minutes(&of).unwrap() - 816.5 / 60.0).abs() < 1e-9);
        of["run"]["sittings"] = serde_json::json!([sitting(23, 1), sitting(24, 2)]);
        assert_eq!(minutes(&of).unwrap(), 3.0);
    }

    #[test]
    fn only_a_complete_run_of_the_standard_profile_stands_for_its_experiment() {
        assert_eq!(unfit_run(&run()), None);
        let with = |key: &str, value: &str| {
            let mut other = run();
            other["run"][key] = value.into();
            unfit_run(&other)
        };
        assert_eq!(with("cut_short", "the budget of 20 m was spent"), None);
        let unfit = Some("it is no complete run of the profile standard".to_owned());
        assert_eq!(with("cut_short", "Ctrl-C"), unfit);
        assert_eq!(with("profile", "quick"), unfit);
    }
}
