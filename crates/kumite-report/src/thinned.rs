//! A smaller copy of a record to keep, without the data that only pictures of single trials need.

use std::collections::BTreeSet;

use kumite_record::{Export, Sample, Series, Trial};

use crate::record::Record;
use crate::tables::trials::telling_trials;

/// A copy in which only one trial of each cell keeps its course: its series over time, jobs, events and arrivals. It is
/// the cell's median trial by the first metric measured at its point. If no trial of the cell counts, it is a
/// disqualified or a failed one. Every figure and verdict stays as it is.
pub fn thinned(export: &Export) -> Export {
    let record = Record::new(export);
    let telling = |point| telling_trials(&record, point, |_| true).1;
    let keep: BTreeSet<u32> = export.run.points.iter().flat_map(telling).map(|trial| trial.seq).collect();
    let thin = |trial: &Trial| match keep.contains(&trial.seq) {
        true => trial.clone(),
        false => Trial { sample: without_course(&trial.sample), ..trial.clone() },
    };
    Export { trials: export.trials.iter().map(thin).collect(), ..export.clone() }
}

/// A copy in which no trial keeps its course: its series over time, jobs, events and arrivals. Every figure and verdict
/// stays as it is. Reports of the copy have no pictures of these.
pub fn without_courses(export: &Export) -> Export {
    let bare = |trial: &Trial| Trial { sample: without_course(&trial.sample), ..trial.clone() };
    Export { trials: export.trials.iter().map(bare).collect(), ..export.clone() }
}

fn without_course(sample: &Sample) -> Sample {
    let (jobs, events, arrivals) = (Vec::new(), Vec::new(), Vec::new());
    Sample { series: Series::default(), jobs, events, arrivals, ..sample.clone() }
}
