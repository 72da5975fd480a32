//! Estimates: the median of each metric over blocks, with its interval.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{Cell, CellSteadiness, Estimate, Needs, Outcome, Point, Run, SteadyClass, Trial, Unit};
use kumite_stats::{median, median_interval};

/// The confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// The planned cells of these contenders that can be measured here.
pub fn cells(run: &Run, trials: &[&Trial], contenders: &[String]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let can_be = |point: &Point| run.unavailable(point).is_none();
    let mut of_cells = BTreeMap::<(&str, String), Vec<&Trial>>::new();
    for trial in trials {
        of_cells.entry((&trial.contender, trial.point.to_string())).or_default().push(trial);
    }
    for (nth, point) in run.points.iter().enumerate().filter(|(_, point)| can_be(point)) {
        for contender in contenders.iter().filter(|contender| run.plans(contender, nth)) {
            let of_cell = of_cells.get(&(contender.as_str(), point.to_string()));
            let of_cell = of_cell.map_or(&[][..], |trials| trials);
            cells.push(cell(run, contender, point, of_cell));
        }
    }
    cells
}

fn cell(run: &Run, contender: &str, point: &Point, trials: &[&Trial]) -> Cell {
    let count = |outcome| trials.iter().filter(|trial| trial.outcome == outcome).count() as u32;
    let usable: Vec<&&Trial> = trials.iter().filter(|trial| trial.outcome == Outcome::Ok).collect();
    let names: BTreeSet<&String> = usable.iter().flat_map(|trial| trial.sample.metrics.keys()).collect();
    let mut needs = Needs::new();
    for (name, missing) in usable.iter().flat_map(|trial| &trial.sample.needs) {
        let most = needs.entry(name.clone()).or_default();
        *most = (*missing).max(*most);
    }
    let mut metrics = BTreeMap::new();
    for name in names.into_iter().filter(|name| !needs.contains_key(*name)) {
        let values: Vec<f64> =
            usable.iter().filter_map(|trial| trial.sample.metrics.get(name).copied()).collect();
        if let Some(mut estimate) = estimate(run.unit(name), &values, run.seed) {
            estimate.lower_bounds = usable.iter().filter(|trial| trial.is_lower_bound(name)).count();
            metrics.insert(name.clone(), estimate);
        }
    }
    Cell {
        contender: contender.to_owned(),
        point: point.clone(),
        trials: trials.len() as u32,
        disqualified: count(Outcome::Disqualified),
        failed: count(Outcome::Failed),
        marked: usable.iter().filter(|trial| !trial.marks.is_empty()).count() as u32,
        metrics,
        needs,
        steadiness: steadiness(&usable),
    }
}

/// None where it is not known of any trial.
pub fn steadiness(trials: &[&&Trial]) -> Option<CellSteadiness> {
    let mut counts = BTreeMap::new();
    for steadiness in trials.iter().filter_map(|trial| trial.sample.steadiness.as_ref()) {
        *counts.entry(steadiness.class).or_default() += 1;
    }
    let class = match counts.keys().collect::<Vec<_>>()[..] {
        [] => return None,
        [class] => *class,
        _ => SteadyClass::Inconsistent,
    };
    Some(CellSteadiness { class, trials: counts })
}

fn estimate(unit: Unit, values: &[f64], seed: u64) -> Option<Estimate> {
    let (estimate, low, high) = match median_interval(values, CONFIDENCE, seed) {
        Ok(interval) => (interval.estimate, Some(interval.low), Some(interval.high)),
        Err(_) => (median(values)?, None, None),
    };
    Some(Estimate { estimate, low, high, unit, n: values.len(), lower_bounds: 0 })
}
