//! A run's control: how far its two trials of a block are apart, and where this is more than chance.
//!
//! Both of its trials in a block are of the same code, so each pair is as likely to lie above 1 as below, unless
//! something that stays the same throughout a run favours one of them. The control is *off* where such a favour is
//! shown at 1 %, over all metrics and points together; a look after every round is allowed. A control that is not off
//! shows nothing.

use std::collections::BTreeMap;

use kumite_record::{Control, ControlRatio, Metric, Probe, Ratio, Run, Trial};
use kumite_stats::{fewest_blocks, sequential_ratio};

use crate::inner_axis::{Grid, Observation, Observations};

/// The largest probability that a control is found to be off by chance alone, over a whole run.
const ALPHA: f64 = 0.01;

/// The probability that the shown interval misses the true ratio, however often one looks.
const SHOWN: f64 = 0.05;

/// The run's control, measured by `trials`: its ratio to itself over all points in the metric `headline`, and its
/// ratios at the points and in the metrics in which it is off. If `headline` is None, the run's first metric is taken.
/// None if the run has no control. The control has no ratio to itself if there are too few blocks for an interval.
pub fn of_run(run: &Run, trials: &[&Trial], headline: Option<String>) -> Option<Control> {
    let control = run.control.as_ref()?;
    let grid = Grid::new(run);
    let seen = grid.observations(trials);
    let headline = headline.or_else(|| run.metrics.first().map(|metric| metric.name.clone()));
    let itself = headline.and_then(|metric| {
        let planned = 0..run.points.len();
        let pairs: Vec<(f64, f64)> =
            planned.flat_map(|point| pairs(&seen, control, point, &metric)).collect();
        Some(ControlRatio { point: None, blocks: pairs.len(), ratio: ratio(&pairs, SHOWN)?, metric })
    });
    Some(Control { itself, off: off(&grid, &seen), ..control.unmeasured() })
}

/// The fewest blocks in which the control of this run could be found to be off. None if the run has no control.
pub fn fewest_control_blocks(run: &Run) -> Option<usize> {
    let control = run.control.as_ref()?;
    fewest_blocks(ALPHA / figures(&Grid::new(run), control).len().max(1) as f64).ok()
}

/// The points and metrics that a control is tested at. They are all that are planned, so that their number depends on
/// no trial.
fn figures<'g>(grid: &'g Grid, control: &Control) -> Vec<(usize, &'g String)> {
    let planned = grid.run.points.len();
    let metrics = |point: usize| if point < planned { &grid.run.metrics } else { &grid.run.part_metrics };
    // A probe is a figure of the machine.
    let is_contender_s = |metric: &&Metric| Probe::of_name(&metric.name).is_none();
    (0..grid.points.len())
        .filter(|point| grid.unavailable(*point).is_none() && grid.plans(&control.contender, *point))
        .flat_map(|point| {
            metrics(point).iter().filter(is_contender_s).map(move |metric| (point, &metric.name))
        })
        .collect()
}

/// The control's ratios to itself, at the points and in the metrics in which it is off. Empty if the control is off
/// nowhere, or if the run has no control.
pub fn off(grid: &Grid, seen: &Observations) -> Vec<ControlRatio> {
    let Some(control) = &grid.run.control else { return Vec::new() };
    let cells = figures(grid, control);
    let alpha = ALPHA / cells.len().max(1) as f64;
    let of_cell = |(point, metric): (usize, &String)| {
        let pairs = pairs(seen, control, point, metric);
        let decided = ratio(&pairs, alpha)?;
        let is_off = decided.low.is_some_and(|low| low > 1.0) || decided.high.is_some_and(|high| high < 1.0);
        let of_point = ControlRatio {
            metric: metric.clone(),
            point: Some(grid.points[point].clone()),
            ratio: ratio(&pairs, SHOWN)?,
            blocks: pairs.len(),
        };
        is_off.then_some(of_point)
    };
    cells.into_iter().filter_map(of_cell).collect()
}

/// The second trial's figure and the first one's, for each block that has both.
fn pairs(seen: &Observations, control: &Control, point: usize, metric: &str) -> Vec<(f64, f64)> {
    let by_block = |name: &str| -> BTreeMap<u32, f64> {
        let is_known = |look: &&Observation| look.is_ok() && !look.is_lower_bound(metric);
        let looks = seen.cell(name, point).iter().filter(is_known);
        let figure = |look: &Observation| Some((look.trial().block, *look.metrics().get(metric)?));
        // A figure that is not above 0 has no ratio.
        looks.filter_map(figure).filter(|(_, value)| value.is_finite() && *value > 0.0).collect()
    };
    let first = by_block(&control.contender);
    let second = by_block(&control.twin);
    second.into_iter().filter_map(|(block, value)| Some((value, *first.get(&block)?))).collect()
}

/// The ratio of the pairs with its confidence sequence. None if there are too few pairs for an interval, or if an end
/// of it is 0 or infinite.
fn ratio(pairs: &[(f64, f64)], alpha: f64) -> Option<Ratio> {
    let of = sequential_ratio(pairs, alpha).ok()?;
    Some(Ratio { estimate: of.estimate, low: Some(of.low), high: Some(of.high) })
}
