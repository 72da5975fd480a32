//! The tables of failures: of requests or calls, of trials, and after disturbances that kumite caused.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kumite_record::{Cell, Outcome, Trial, standing};
use serde::Serialize;

use crate::record::Record;
use crate::tables::cells::Table;
use crate::tables::group::Groups;
use crate::words::number::{count, plural};
use crate::words::text::{clean, one_line};

/// Everything that failed or was disturbed.
#[derive(Debug, Serialize)]
pub struct Failures {
    pub title: &'static str,
    pub disturbances: Vec<Disturbed>,
    /// Failures within trials that count, outside disturbances; none if the kind of workload has no such table, or
    /// leaves an empty one out.
    pub failed: Option<Failed>,
    /// The trials that failed or were disqualified, by contender and reason.
    pub trials: Vec<LostTrials>,
}

/// Failures within trials, by cell.
#[derive(Debug, Serialize)]
pub struct Failed {
    pub title: &'static str,
    pub caption: &'static str,
    /// The table; none if nothing failed.
    pub table: Option<Table>,
    /// The sentence that is shown if there is no table; none if nothing is shown then.
    pub nothing: Option<&'static str>,
}

/// Trials of one contender that ended badly in the same way, for the same reason.
#[derive(Debug, Serialize)]
pub struct LostTrials {
    /// The contender, and how and where its trials ended: `kotlin-ktor failed in 7 trials: connections = 1`.
    pub title: String,
    pub reason: String,
}

/// The most entries with a reason of their own; `TOLD_ALIKE` is the most of one contender that ended in the same way.
/// Of more, only the number of trials is given.
const TOLD: usize = 30;
const TOLD_ALIKE: usize = 3;

impl Failures {
    pub fn any(&self) -> bool {
        let failed = self.failed.as_ref().is_some_and(|failed| failed.table.is_some());
        failed || !self.disturbances.is_empty() || !self.trials.is_empty()
    }
}

/// The cells with a standing trial for which `failed` returns true, each with the words that name its point among all
/// points.
pub fn failing<'a>(
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

/// The trials that failed or were disqualified, by contender and reason. Void trials are not among them. Reasons beyond
/// the first 30, or beyond three of one contender with the same outcome, are left out, and only their trials are
/// counted.
pub fn lost(record: &Record, groups: &Groups) -> Vec<LostTrials> {
    let mut found: Vec<(&str, Outcome, String, Vec<&Trial>)> = Vec::new();
    let mut nth_of: HashMap<(&str, &str, String), usize> = HashMap::new();
    for trial in standing(&record.export.trials).filter(|trial| trial.outcome != Outcome::Ok) {
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

/// The sum of these counts, as text.
pub fn sum(counts: impl Iterator<Item = u64>) -> String {
    count(counts.sum::<u64>() as f64)
}

/// The sums of counts by name, the largest first, without those that are 0.
pub fn most_first<'a>(counts: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> Vec<(&'a str, u64)> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, n) in counts.flatten() {
        *all.entry(name).or_default() += n;
    }
    let mut all: Vec<(&str, u64)> = all.into_iter().filter(|(_, n)| *n > 0).collect();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    all
}

/// A disturbance of the contenders at a point, and how they took it.
#[derive(Debug, Serialize)]
pub struct Disturbed {
    pub title: String,
    /// The disturbance, in a sentence.
    pub what: String,
    pub order: String,
    pub table: Table,
    /// True if any figure is a lower bound, which `NOT_RECOVERED` explains.
    pub bounded: bool,
}

/// The sentence that explains lower bounds of recovery.
pub const NOT_RECOVERED: &str = "“>” and “or more”: in some trials answers were not steady again when watching ended, so the figure is the least it can be.";
