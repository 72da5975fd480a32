//! Single trials: those that stand for their cell.

use kumite_record::{Cell, Export, Outcome, Point, Trial, standing};

use crate::metric::Metric;
use crate::table::{cells_at, metrics};

/// What a trial must have to be chosen.
pub type Has = fn(&Trial) -> bool;

/// The trial in the middle by that metric, among those that stand and end like that; none where there is no such trial.
pub fn median_trial<'a>(
    export: &'a Export,
    cell: &Cell,
    metric: &str,
    outcome: Outcome,
    has: Has,
) -> Option<&'a Trial> {
    let here = export.trials.iter().filter(|trial| trial.point == cell.point);
    let mut trials: Vec<(&Trial, f64)> = standing(here)
        .filter(|trial| trial.contender == cell.contender && trial.outcome == outcome && has(trial))
        .map(|trial| (trial, trial.sample.metrics.get(metric).copied().unwrap_or(f64::INFINITY)))
        .collect();
    trials.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.seq.cmp(&b.0.seq)));
    trials.get(trials.len().checked_sub(1)? / 2).map(|(trial, _)| *trial)
}

/// For each contender at a point, in the order of the record, the trial in the middle by that metric or, without one, by
/// the first that was measured there; and which metric that is.
pub fn median_trials<'a>(
    export: &'a Export,
    point: &Point,
    metric: Option<&str>,
    has: Has,
) -> (Metric, Vec<&'a Trial>) {
    let cells = cells_at(export, point);
    let first = || metrics(cells.iter().copied()).into_iter().next().unwrap_or_else(|| Metric::new(""));
    let metric = metric.map_or_else(first, Metric::new);
    let trial = |cell: &&Cell| median_trial(export, cell, &metric.name, Outcome::Ok, has);
    let trials = cells.iter().filter_map(trial).collect();
    (metric, trials)
}

/// The same; of a contender none of whose trials counts that of those which were disqualified or, without such, failed: what
/// it did tells why.
pub fn telling_trials<'a>(export: &'a Export, point: &Point, has: Has) -> (Metric, Vec<&'a Trial>) {
    let (metric, _) = median_trials(export, point, None, has);
    let trial = |cell: &&Cell| {
        let of = |outcome| median_trial(export, cell, &metric.name, outcome, has);
        [Outcome::Ok, Outcome::Disqualified, Outcome::Failed].into_iter().find_map(of)
    };
    let trials = cells_at(export, point).iter().filter_map(trial).collect();
    (metric, trials)
}

/// Whether it has a time series.
pub fn has_series(trial: &Trial) -> bool {
    !trial.sample.series.is_empty()
}
