//! Figures that are the least they can be: a contender that had not recovered when watching ended.

use kumite_record::{Cell, Outcome};

use crate::record::Record;

/// The parts of an estimate that are lower bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The median would be larger if the trials that had not recovered had taken for ever.
    pub estimate: bool,
    /// At least one trial had not recovered, so the upper end of the interval could be larger.
    pub high: bool,
}

impl Bound {
    /// Finds out whether a figure of this cell is exact or the least it can be.
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

/// The one or two values in the middle, which the median is made of.
fn middle(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some((values[last / 2], values[last.div_ceil(2)]))
}
