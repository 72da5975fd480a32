//! Estimates: the median of each metric over a cell's trials, with its interval.
//!
//! Only trials that ended well count. A metric has no estimate if some of these trials have too few values for it,
//! because the trials that have enough are the fast ones. A cell with fewer trials than an interval needs has the
//! median alone. The same trials give the same estimate: the bootstrap is seeded by the run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use kumite_record::{Cell, CellSteadiness, Estimate, Needs, Outcome, Probe, SteadyClass, Trial, Unit};
use kumite_stats::{median, median_interval};

use crate::inner_axis::{Grid, Observation, Observations};

/// The confidence of every estimate's interval, from 0 to 1.
pub const CONFIDENCE: f64 = 0.95;

/// The cells of these contenders at these points of the grid, with their estimates. Cells that are not planned, or that
/// this machine cannot measure, are left out. A planned cell without a trial is there, without estimates.
pub fn cells(grid: &Grid, seen: &Observations, contenders: &[String], points: Range<usize>) -> Vec<Cell> {
    let measurable = points.filter(|point| grid.unavailable(*point).is_none());
    let of_point = |point| {
        let planned = contenders.iter().filter(move |contender| grid.plans(contender, point));
        planned.map(move |contender| cell(grid, contender, point, seen.cell(contender, point)))
    };
    measurable.flat_map(of_point).collect()
}

fn cell(grid: &Grid, contender: &str, point: usize, looks: &[Observation]) -> Cell {
    let run = grid.run;
    let count = |outcome| looks.iter().filter(|look| look.trial().outcome == outcome).count() as u32;
    let usable: Vec<&Observation> = looks.iter().filter(|look| look.is_ok()).collect();
    let names: BTreeSet<&String> = usable.iter().flat_map(|look| look.metrics().keys()).collect();
    let mut needs = Needs::new();
    for (name, missing) in usable.iter().flat_map(|look| look.needs()) {
        let most = needs.entry(name.clone()).or_default();
        *most = (*missing).max(*most);
    }
    // A probe is a figure of the machine.
    let is_contender_s = |name: &str| Probe::of_name(name).is_none();
    let mut metrics = BTreeMap::new();
    for name in names.into_iter().filter(|name| !needs.contains_key(*name) && is_contender_s(name)) {
        let values: Vec<f64> = usable.iter().filter_map(|look| look.metrics().get(name).copied()).collect();
        if let Some(mut estimate) = estimate(run.unit(name), &values, run.seed) {
            estimate.lower_bounds = usable.iter().filter(|look| look.is_lower_bound(name)).count();
            metrics.insert(name.clone(), estimate);
        }
    }
    let whole = usable.iter().filter(|look| look.is_whole()).map(|look| look.trial());
    Cell {
        contender: contender.to_owned(),
        point: grid.points[point].clone(),
        trials: looks.len() as u32,
        disqualified: count(Outcome::Disqualified),
        failed: count(Outcome::Failed),
        marked: usable.iter().filter(|look| !look.marks().is_empty()).count() as u32,
        metrics,
        needs,
        steadiness: steadiness(whole),
    }
}

/// The steadiness of a cell, from its trials: the class that all of them have, or `Inconsistent` if their classes
/// differ. Trials without a steadiness are passed over. None if no trial has a steadiness.
pub fn steadiness<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<CellSteadiness> {
    let mut counts = BTreeMap::new();
    for steadiness in trials.filter_map(|trial| trial.sample.steadiness.as_ref()) {
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
