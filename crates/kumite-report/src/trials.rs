//! Single trials: those that stand for their cell.

use kumite_record::{Export, Outcome, Point, Trial};

use crate::metric::Metric;
use crate::table::{cells_at, metrics};

/// The trial in the middle by that metric, among those that count; none where there is no such trial with a time series.
pub fn median_trial<'a>(
    export: &'a Export,
    contender: &str,
    point: &Point,
    metric: &str,
) -> Option<&'a Trial> {
    let mut trials: Vec<(&Trial, f64)> = export
        .trials
        .iter()
        .filter(|trial| trial.outcome == Outcome::Ok && !trial.sample.series.is_empty())
        .filter(|trial| trial.contender == contender && trial.point == *point)
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
) -> (Metric, Vec<&'a Trial>) {
    let cells = cells_at(export, point);
    let first = || metrics(cells.iter().copied()).into_iter().next().unwrap_or_else(|| Metric::new(""));
    let metric = metric.map_or_else(first, Metric::new);
    let trials =
        cells.iter().filter_map(|cell| median_trial(export, &cell.contender, point, &metric.name)).collect();
    (metric, trials)
}
