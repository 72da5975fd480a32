//! Lower bounds: figures of which only the least value is known, because watching ended before a contender had
//! recovered, or because not everything could be counted.

use kumite_record::{Cell, Outcome};

use crate::record::Record;

/// The parts of an estimate that are lower bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// True if the estimate is a lower bound: the median would be larger if the trials with a lower bound had a
    /// larger figure than all others.
    pub estimate: bool,
    /// True if the upper end of the interval is a lower bound: at least one trial has one.
    pub high: bool,
}

impl Bound {
    /// The parts of a cell's figure in `metric` that are lower bounds. Both are false if the figure is exact, or if
    /// there is none.
    pub fn new(record: &Record, cell: &Cell, metric: &str) -> Bound {
        let trials = record.trials_of(cell).filter(|trial| trial.outcome == Outcome::Ok);
        let values: Vec<(f64, bool)> = trials
            .filter_map(|trial| Some((*trial.sample.metrics.get(metric)?, trial.is_lower_bound(metric))))
            .collect();
        let seen = middle(values.iter().map(|(value, _)| *value).collect());
        let at_most =
            middle(values.iter().map(|(value, cut)| if *cut { f64::INFINITY } else { *value }).collect());
        Bound { estimate: seen != at_most, high: values.iter().any(|(_, cut)| *cut) }
    }
}

/// The two values whose mean is the median, which are the same for an odd number; none without values.
fn middle(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some((values[last / 2], values[last.div_ceil(2)]))
}
