//! The trials that stand for a cell, and those of void blocks.

use std::collections::{BTreeMap, HashSet};

use kumite_record::{Cell, Export, Metric, Outcome, Point, Trial, VoidCause, standing};

use crate::record::Record;
use crate::words::number::plural;

/// A condition on trials, such as that they have a time series.
pub type Has = fn(&Trial) -> bool;

/// The median trial of a cell by `metric`, among the trials that stand, have this outcome and fulfil `has`. Of an even
/// number of trials, it is the lower of the middle two; a trial without the metric counts as the largest. None if there
/// is no such trial.
pub fn median_trial<'a>(
    record: &Record<'a>,
    cell: &Cell,
    metric: &str,
    outcome: Outcome,
    has: Has,
) -> Option<&'a Trial> {
    let here = record.at(&cell.point).standing.iter();
    let mut trials: Vec<(&Trial, f64)> = here
        .filter(|trial| trial.contender == cell.contender && trial.outcome == outcome && has(trial))
        .map(|trial| (*trial, trial.sample.metrics.get(metric).copied().unwrap_or(f64::INFINITY)))
        .collect();
    trials.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.seq.cmp(&b.0.seq)));
    trials.get(trials.len().checked_sub(1)? / 2).map(|(trial, _)| *trial)
}

/// The median trial of each cell at a point, among the trials that count and fulfil `has`, with the metric that chose
/// it: `metric` or, if this is None, the first metric that was measured there. If none was measured, the metric has an
/// empty name. Cells without such a trial are left out. Contenders are in the order of the record.
pub fn median_trials<'a>(
    record: &Record<'a>,
    point: &Point,
    metric: Option<&Metric>,
    has: Has,
) -> (Metric, Vec<&'a Trial>) {
    let cells = &record.at(point).cells;
    let metric = metric.cloned().unwrap_or_else(|| first(record, cells));
    let trial = |cell: &&Cell| median_trial(record, cell, &metric.name, Outcome::Ok, has);
    let trials = cells.iter().filter_map(trial).collect();
    (metric, trials)
}

/// The median trial of each cell at a point, among the trials that fulfil `has`, with the metric that chose it: the
/// first metric that was measured there, or one with an empty name. If no trial of a cell counts, it is a disqualified
/// one, or else a failed one, which shows what went wrong.
pub fn telling_trials<'a>(record: &Record<'a>, point: &Point, has: Has) -> (Metric, Vec<&'a Trial>) {
    let cells = &record.at(point).cells;
    let metric = first(record, cells);
    let trial = |cell: &&Cell| {
        let of = |outcome| median_trial(record, cell, &metric.name, outcome, has);
        [Outcome::Ok, Outcome::Disqualified, Outcome::Failed].into_iter().find_map(of)
    };
    let trials = cells.iter().filter_map(trial).collect();
    (metric, trials)
}

/// The first metric that any of the cells has; one without a name if there is none.
fn first(record: &Record, cells: &[&Cell]) -> Metric {
    let measured = record.metrics_of(cells);
    measured.first().map_or_else(|| Metric::named(""), |metric| (*metric).clone())
}

pub fn has_series(trial: &Trial) -> bool {
    !trial.sample.series.is_empty()
}

/// The trials of void attempts. An attempt at a block is void if any of its trials is.
pub fn void_trials(export: &Export) -> impl Iterator<Item = &Trial> {
    let attempt = |trial: &Trial| (trial.point.clone(), trial.block, trial.attempt);
    let void = |trial: &&Trial| trial.void.is_some();
    let attempts: HashSet<_> = export.trials.iter().filter(void).map(attempt).collect();
    export.trials.iter().filter(move |trial| attempts.contains(&attempt(trial)))
}

/// The sentence on void blocks: their number, the causes, the number of trials that do not count, and the number of
/// these blocks without a result. None if no block was void.
pub fn void_blocks(export: &Export) -> Option<String> {
    let mut causes = BTreeMap::<VoidCause, usize>::new();
    for void in export.trials.iter().filter_map(|trial| trial.void.as_ref()) {
        *causes.entry(void.what).or_default() += 1;
    }
    let block = |trial: &Trial| (trial.point.clone(), trial.block);
    let counts: HashSet<_> = standing(&export.trials).map(block).collect();
    let void: HashSet<_> = void_trials(export).map(block).collect();
    let lost = void.difference(&counts).count();
    let by: Vec<String> = causes.iter().map(|(cause, n)| format!("{n} × {}", cause.as_str())).collect();
    let blocks = (!void.is_empty()).then(|| plural(void.len(), "block"))?;
    let were = if void.len() == 1 { "was" } else { "were" };
    let trials = void_trials(export).count();
    let count = if trials == 1 { "counts" } else { "count" };
    let trials = plural(trials, "trial");
    let lost = match lost {
        0 => String::new(),
        1 => ", and 1 of them has no result".to_owned(),
        lost => format!(", and {lost} of them have no result"),
    };
    Some(format!(
        "{blocks} {were} void ({}) and measured again, so that {trials} {count} for nothing{lost}",
        by.join(", ")
    ))
}
