//! The chapter on trials over time, with a script that shows any trial of the reader's choice.

use kumite_record::{Mark, Metric, Point, Trial};
use minijinja::value::{Serde, Value};

use super::RECOVERY;
use super::explorer::Explorer;
use super::overload::has_fates;
use crate::charts::rates::{Rates, seconds_of};
use crate::charts::{Look, Timeline, Timelines};
use crate::kinds::chapter::{PageChapter, Script};
use crate::metric::Named;
use crate::record::Record;
use crate::tables::group::Groups;
use crate::tables::trials::{has_series, median_trials};

/// The chapter for a page: charts of points without a disturbance, and the series of all trials for the script. None
/// if no trial has a series.
pub fn page(record: &Record, groups: &Groups) -> Option<PageChapter> {
    let points = groups.calm().flat_map(|group| groups.points_of(group)).enumerate();
    let shown: Vec<Timelines> = points
        .map(|(nth, (place, point))| timelines(record, &format!("time-{nth}"), place, point, None))
        .filter(|timelines| !timelines.charts.is_empty())
        .collect();
    let explorer = Explorer::new(record, groups);
    (explorer.is_some() || !shown.is_empty()).then(|| PageChapter {
        id: "time",
        link: "Over time",
        template: "time.html",
        shown: Value::from(Serde(shown)),
        script: explorer
            .map(|explorer| Script { data: Value::from(Serde(explorer)), text: include_str!("explorer.js") }),
    })
}

/// A chart of one trial of each contender at a point. All show the same stretch of time, so that they can be set side
/// by side. Trials of loads in steps are left out: they have a chart of their own. Each contender's median trial in
/// `metric` is shown; if `metric` is None, the usual metric chooses.
pub fn timelines(
    record: &Record,
    id: &str,
    place: String,
    point: &Point,
    metric: Option<&Metric>,
) -> Timelines {
    let (by, trials) = median_trials(record, point, metric, has_series);
    let spans: Vec<(f64, f64)> = trials.iter().map(|trial| seconds_of(&trial.sample.series)).collect();
    let seconds = (
        spans.iter().map(|span| span.0).fold(0.0, f64::min),
        spans.iter().map(|span| span.1).fold(0.0, f64::max),
    );
    let charts = trials.iter().enumerate();
    Timelines {
        place,
        by: by.words(),
        charts: charts
            .filter(|(_, trial)| !has_fates(trial))
            .filter_map(|(nth, trial)| timeline(record, format!("{id}-{nth}"), trial, seconds))
            .collect(),
    }
}

/// The chart of a trial over `seconds`; none if it has no series of answers.
fn timeline(record: &Record, id: String, trial: &Trial, seconds: (f64, f64)) -> Option<Timeline> {
    let disturbance = trial.sample.disturbance.as_ref();
    let is_recovered = !trial.marks.contains(&Mark::NotRecovered);
    let recovered = disturbance.zip(record.figure(trial, RECOVERY)).filter(|_| is_recovered);
    let rates = Rates {
        series: &trial.sample.series,
        disturbance,
        steady_ms: recovered.map(|(disturbance, recovery_ms)| disturbance.since_ms + recovery_ms),
        color: Look::of_contender(record.export, &trial.contender).color,
    };
    rates.chart(id, &format!("{}, block {}", trial.contender, trial.block + 1), seconds)
}
