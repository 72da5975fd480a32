//! Failures are results: of requests, of trials, and those that were induced.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kumite_record::{Call, Cell, Disturbance, Errors, Metric, Outcome, Point, Trial, Unit};
use serde::Serialize;

use crate::bound::{Bound, RECOVERY};
use crate::calls::are_calls;
use crate::chart::shortened;
use crate::group::{Group, Groups};
use crate::number::{count, plural};
use crate::quantity::Measured;
use crate::record::Record;
use crate::table::{Column, Entry, Table, figures, marks, model, sort, words};
use crate::text::{clean, one_line};

/// Everything that went wrong, or was made to.
#[derive(Debug, Serialize)]
pub struct Failures {
    pub title: &'static str,
    /// Whether trials have a window in which requests can fail.
    pub has_windows: bool,
    pub disturbances: Vec<Disturbed>,
    /// Requests that failed in a window without a disturbance, by cell; none where none did.
    pub requests: Option<Table>,
    /// Calls of functions that failed, by cell; none where none did.
    pub calls: Option<Table>,
    /// Trials that do not count.
    pub trials: Vec<LostTrials>,
}

/// What was done to the contenders at a point, and how they took it.
#[derive(Debug, Serialize)]
pub struct Disturbed {
    pub title: String,
    /// What was done, in a sentence.
    pub what: String,
    pub order: String,
    pub table: Table,
    /// Whether a figure is the least it can be.
    pub bounded: bool,
}

/// Trials of one contender that ended badly in the same way.
#[derive(Debug, Serialize)]
pub struct LostTrials {
    /// `kotlin-ktor failed in 7 trials: connections = 1`.
    pub title: String,
    pub reason: String,
}

/// What lower bounds mean.
pub const NOT_RECOVERED: &str = "“>” and “or more”: in some trials answers were not steady again when watching ended, so the figure is the least it can be.";

/// More of them are counted, not told: in all, and of one contender that ended in the same way.
const TOLD: usize = 30;
const TOLD_ALIKE: usize = 3;

pub fn failures(record: &Record, groups: &Groups) -> Failures {
    let points = |group| disturbed_points(record, groups, group);
    let has_windows = record.export.run.kind == "http";
    Failures {
        title: if has_windows { "Failures and recovery" } else { "Failures" },
        has_windows,
        disturbances: groups.disturbed().flat_map(points).collect(),
        requests: if are_calls(record) { None } else { requests(record, groups) },
        calls: calls(record, groups),
        trials: lost(record, groups),
    }
}

fn disturbed_points(record: &Record, groups: &Groups, group: &Group) -> Vec<Disturbed> {
    group.points.iter().map(|point| disturbed(record, groups, group, point)).collect()
}

fn disturbed(record: &Record, groups: &Groups, group: &Group, point: &Point) -> Disturbed {
    let mut cells = record.at(point).cells.clone();
    let recovery = record.metric(RECOVERY);
    let order = recovery.and_then(|metric| sort(&mut cells, metric)).unwrap_or_default();
    let seen = |cell: &Cell| -> Vec<&Disturbance> {
        record.trials_of(cell).filter_map(|trial| trial.sample.disturbance.as_ref()).collect()
    };
    let mut columns = vec![
        words(&cells, "contender", false, |cell| cell.contender.clone()),
        words(&cells, "model", false, |cell| model(record, &cell.contender).to_owned()),
    ];
    let metrics: Vec<&Metric> = recovery.into_iter().chain(record.metric("first-right")).collect();
    columns.extend(figures(record, &cells, &metrics));
    columns.push(words(&cells, "right since", true, |cell| sum(seen(cell).iter().map(|d| d.ok))));
    columns.push(words(&cells, "failed since", false, |cell| {
        kinds(seen(cell).iter().map(|disturbance| &disturbance.errors))
    }));
    if cells.iter().any(|cell| seen(cell).iter().any(|d| d.burst_ok + d.burst_errors > 0)) {
        columns.push(words(&cells, "of these the burst’s", true, |cell| {
            let right = sum(seen(cell).iter().map(|d| d.burst_ok));
            format!("{right} right, {} failed", sum(seen(cell).iter().map(|d| d.burst_errors)))
        }));
    }
    columns.push(words(&cells, "trials", true, |cell| cell.trials.to_string()));
    columns.push(words(&cells, "marks", false, |cell| marks(record, cell)));
    let all: Vec<&Disturbance> = cells.iter().flat_map(|cell| seen(cell)).collect();
    Disturbed {
        title: groups.full_place(group, point),
        what: what(group.disturbance.as_deref().unwrap_or_default(), &all),
        order,
        table: Table::of(columns),
        bounded: recovery
            .is_some_and(|metric| cells.iter().any(|cell| Bound::of(record, cell, &metric.name).high)),
    }
}

/// What was done, from what the trials say.
fn what(kind: &str, seen: &[&Disturbance]) -> String {
    let median = |of: fn(&Disturbance) -> f64| {
        let mut values: Vec<f64> = seen.iter().map(|disturbance| of(disturbance)).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len().saturating_sub(1) / 2).copied()
    };
    let ms = |value: f64| Unit::Milliseconds.text(value);
    let (Some(lasted), Some(watched), Some(burst)) = (
        median(|d| d.ended_ms - d.began_ms),
        median(|d| d.until_ms - d.ended_ms),
        median(|d| (d.burst_ok + d.burst_errors) as f64),
    ) else {
        return format!("{}: no trial got that far.", one_line(kind));
    };
    let done = match kind {
        "pause" => format!("After the window the contender was stopped for {} and let go on.", ms(lasted)),
        "burst" => format!(
            "After the window {} more connections came at once, each with a request; to begin them took {}.",
            count(burst),
            ms(lasted)
        ),
        kind => format!("After the window there was a {} of {}.", one_line(kind), ms(lasted)),
    };
    let of_median = if seen.len() > 1 { " (medians over trials)" } else { "" };
    format!(
        "{done} Then it was watched for {}{of_median}. The load went on all the time. Recovery is from the first failure, but not from before the end of the disturbance, until answers were steady again. Right and failed requests are counted since the disturbance began, over all trials.",
        ms(watched)
    )
}

/// Cells that are not without failures, and where they are.
fn failing<'a>(
    record: &Record<'a>,
    groups: &Groups,
    failed: impl Fn(&Trial) -> bool,
) -> Vec<(&'a Cell, String)> {
    groups
        .groups
        .iter()
        .flat_map(|group| group.points.iter().map(move |point| (group, point)))
        .flat_map(|(group, point)| {
            let place = groups.full_place(group, point);
            record.at(point).cells.iter().map(move |cell| (*cell, place.clone()))
        })
        .filter(|(cell, _)| record.trials_of(cell).any(&failed))
        .collect()
}

/// What failed calls said of themselves, in as many characters, and so many different ones of a cell.
const ERROR_CHARS: usize = 80;
const ERRORS: usize = 4;

fn calls(record: &Record, groups: &Groups) -> Option<Table> {
    let failed = |trial: &Trial| trial.sample.calls.iter().any(|call| call.error.is_some());
    let cells = failing(record, groups, failed);
    if cells.is_empty() {
        return None;
    }
    let only: Vec<&Cell> = cells.iter().map(|(cell, _)| *cell).collect();
    let of = |cell: &Cell| -> Vec<&Call> {
        record.trials_of(cell).flat_map(|trial| &trial.sample.calls).collect()
    };
    let number = |calls: usize| count(calls as f64);
    let places = cells.iter().map(|(_, place)| Entry::plain(place.clone())).collect();
    Some(Table::of(vec![
        words(&only, "contender", false, |cell| cell.contender.clone()),
        (Column { name: "at".to_owned(), numeric: false }, places),
        words(&only, "failed", true, |cell| {
            number(of(cell).iter().filter(|call| call.error.is_some()).count())
        }),
        words(&only, "of", true, |cell| number(of(cell).len())),
        words(&only, "why", false, |cell| why(&of(cell))),
    ]))
}

/// `Sandbox.Timedout: … (12), Throttled: … (1)`, most first.
fn why(calls: &[&Call]) -> String {
    let mut errors: BTreeMap<String, u64> = BTreeMap::new();
    for error in calls.iter().filter_map(|call| call.error.as_ref()) {
        *errors.entry(shortened(&one_line(error), ERROR_CHARS)).or_default() += 1;
    }
    let all = most_first(std::iter::once(&errors));
    let (told, rest) = all.split_at(all.len().min(ERRORS));
    let rest: u64 = rest.iter().map(|(_, n)| n).sum();
    let told = told.iter().map(|(words, n)| format!("{words} ({})", count(*n as f64)));
    let rest = (rest > 0).then(|| format!("others ({})", count(rest as f64)));
    told.chain(rest).collect::<Vec<_>>().join(", ")
}

fn requests(record: &Record, groups: &Groups) -> Option<Table> {
    let failed =
        |trial: &Trial| trial.sample.errors.values().any(|n| *n > 0) || !trial.sample.answers.is_empty();
    let cells = failing(record, groups, failed);
    if cells.is_empty() {
        return None;
    }
    let only: Vec<&Cell> = cells.iter().map(|(cell, _)| *cell).collect();
    let errors = |cell: &Cell| record.trials_of(cell).map(|trial| &trial.sample.errors).collect::<Vec<_>>();
    let finished = |cell: &Cell| -> f64 {
        record.trials_of(cell).filter_map(|trial| record.figure(trial, "finished")).sum()
    };
    let places = cells.iter().map(|(_, place)| Entry::plain(place.clone())).collect();
    let mut columns = vec![
        words(&only, "contender", false, |cell| cell.contender.clone()),
        (Column { name: "at".to_owned(), numeric: false }, places),
        words(&only, "failed", true, |cell| sum(errors(cell).into_iter().flat_map(|e| e.values().copied()))),
        words(&only, "of", true, |cell| count(finished(cell))),
        words(&only, "by kind", false, |cell| kinds(errors(cell).into_iter())),
    ];
    if only.iter().any(|cell| record.trials_of(cell).any(|trial| !trial.sample.answers.is_empty())) {
        columns.push(words(&only, "refusals said", false, |cell| {
            said(record.trials_of(cell).map(|trial| &trial.sample.answers))
        }));
    }
    Some(Table::of(columns))
}

fn lost(record: &Record, groups: &Groups) -> Vec<LostTrials> {
    let mut found: Vec<(&str, Outcome, String, Vec<&Trial>)> = Vec::new();
    let mut nth_of: HashMap<(&str, &str, String), usize> = HashMap::new();
    for trial in record.export.trials.iter().filter(|trial| trial.outcome != Outcome::Ok) {
        let reason = trial.reason.as_deref().map_or("no reason recorded".to_owned(), clean);
        let alike = (&*trial.contender, trial.outcome.as_str(), reason.clone());
        let nth = *nth_of.entry(alike).or_insert(found.len());
        match found.get_mut(nth) {
            Some((.., trials)) => trials.push(trial),
            None => found.push((&trial.contender, trial.outcome, reason, vec![trial])),
        }
    }
    let mut told: Vec<LostTrials> = Vec::new();
    let mut alike: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut untold: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (name, outcome, reason, trials) in found {
        let kind = (name, outcome.as_str());
        let nth = alike.entry(kind).or_default();
        *nth += 1;
        if *nth > TOLD_ALIKE || told.len() == TOLD {
            *untold.entry(kind).or_default() += trials.len();
            continue;
        }
        let places: BTreeSet<String> = trials.iter().map(|trial| groups.name(&trial.point)).collect();
        let places = places.into_iter().collect::<Vec<_>>().join("; ");
        told.push(lost_in(kind, trials.len(), &format!(": {places}"), reason));
    }
    let more = untold.into_iter().map(|(kind, trials)| {
        lost_in(kind, trials, " more", "for other reasons; kumite export has them all".to_owned())
    });
    told.into_iter().chain(more).collect()
}

fn lost_in((name, outcome): (&str, &str), trials: usize, rest: &str, reason: String) -> LostTrials {
    let times = plural(trials, "trial");
    LostTrials { title: one_line(&format!("{name} {outcome} in {times}{rest}")), reason }
}

fn sum(counts: impl Iterator<Item = u64>) -> String {
    count(counts.sum::<u64>() as f64)
}

/// `500 refused after 1 (1,312), 503 (4)`, most first.
fn said<'a>(answers: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> String {
    let said = most_first(answers);
    let said: Vec<String> =
        said.into_iter().map(|(words, n)| format!("{} ({})", one_line(words), count(n as f64))).collect();
    said.join(", ")
}

/// The sums of counts by name, without those that are 0.
fn most_first<'a>(counts: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> Vec<(&'a str, u64)> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, n) in counts.flatten() {
        *all.entry(name).or_default() += n;
    }
    let mut all: Vec<(&str, u64)> = all.into_iter().filter(|(_, n)| *n > 0).collect();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    all
}

/// `timeout 1,312, reset 4`, most first.
fn kinds<'a>(errors: impl Iterator<Item = &'a Errors>) -> String {
    let all = most_first(errors);
    match all.is_empty() {
        true => "none".to_owned(),
        false => {
            let kinds: Vec<String> =
                all.iter().map(|(kind, n)| format!("{kind} {}", count(*n as f64))).collect();
            kinds.join(", ")
        }
    }
}
