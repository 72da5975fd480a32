//! The pictures of a page, in the order of the document's tables.

use kumite_record::{Cell, Metric, Point, Trial};
use serde::Serialize;

use crate::bound::RECOVERY;
use crate::calls::{self, CallsAt};
use crate::chart::{
    BARS, BillingChart, Budget, ErrorScales, EventChart, Figure, InstanceChart, LineChart, OverloadChart,
    RowChart, Timeline, axes, billing_chart, call_charts, distribution_charts, error_chart, event_chart,
    families, has_calls, has_fates, has_jobs, instance_charts, jobs, line_charts, overload_charts, row_chart,
    seconds_of, step_charts, timeline,
};
use crate::explorer::Explorer;
use crate::group::{Group, Groups};
use crate::metric::{Named, measured};
use crate::pacing::{PacedAt, frame_us, has_arrivals, paced};
use crate::percentile;
use crate::record::Record;
use crate::steps::{PartsAt, parts};
use crate::table::sort;
use crate::trials::{has_series, median_trials, telling_trials};

/// What a page shows beside its tables.
#[derive(Debug, Serialize)]
pub struct Pictures {
    /// For each undisturbed group: lines over the x axis, or rows where it has one point.
    pub groups: Vec<GroupPictures>,
    /// For each point whose trials have parts.
    pub steps: Vec<StepPictures>,
    /// For each point of a function.
    pub calls: Vec<CallPictures>,
    /// Where states were due.
    pub pacing: Option<PacingPictures>,
    /// For each point of the first group.
    pub percentiles: Vec<RowChart>,
    /// For each undisturbed point with a time series.
    pub timelines: Vec<Timelines>,
    /// For each point that has events.
    pub events: Vec<Events>,
    /// For each point whose trials have several jobs.
    pub jobs: Vec<Timelines>,
    /// For each disturbed point.
    pub disturbances: Vec<Disturbed>,
    pub explorer: Option<Explorer>,
}

#[derive(Debug, Serialize)]
pub struct GroupPictures {
    pub lines: Vec<LineChart>,
    pub rows: Option<RowChart>,
}

/// The parts of the trials at a point; and, of a load in steps, one trial of each contender over time.
#[derive(Debug, Serialize)]
pub struct StepPictures {
    pub lines: Vec<LineChart>,
    /// By which metric the trials are the median.
    pub by: String,
    pub overload: Vec<OverloadChart>,
}

/// The calls at a point; and one trial of each contender over time.
#[derive(Debug, Serialize)]
pub struct CallPictures {
    /// Of the first call, and of warm ones.
    pub billing: Vec<BillingChart>,
    /// By which metric the trials are the median.
    pub by: String,
    pub instances: Vec<InstanceChart>,
    pub lines: Vec<LineChart>,
}

/// The states of players: of all trials at each point; and of one trial of each contender over time.
#[derive(Debug, Serialize)]
pub struct PacingPictures {
    pub distributions: Vec<RowChart>,
    pub points: Vec<Timelines>,
}

/// One trial of each contender at a point.
#[derive(Debug, Serialize)]
pub struct Timelines {
    pub place: String,
    /// By which metric the trials are the median.
    pub by: String,
    pub charts: Vec<Timeline>,
}

/// What happened within a job of one trial of each contender at a point.
#[derive(Debug, Serialize)]
pub struct Events {
    pub place: String,
    /// By which metric the trials are the median.
    pub by: String,
    pub charts: Vec<EventChart>,
}

#[derive(Debug, Serialize)]
pub struct Disturbed {
    pub rows: Option<RowChart>,
    pub timelines: Timelines,
}

impl Pictures {
    pub fn of(record: &Record, groups: &Groups) -> Pictures {
        let with_points = |group| points_of(groups, group);
        Pictures {
            groups: groups
                .calm()
                .enumerate()
                .map(|(nth, group)| group_pictures(record, groups, group, nth))
                .collect(),
            steps: steps(record, groups),
            calls: calls(record, groups),
            pacing: pacing(record, groups),
            percentiles: percentile::points(record, groups)
                .into_iter()
                .enumerate()
                .filter_map(|(nth, (place, cells))| {
                    row_chart(record, format!("percentiles-{nth}"), place, &cells, &percentile::shown(record))
                })
                .collect(),
            timelines: groups
                .calm()
                .flat_map(with_points)
                .enumerate()
                .map(|(nth, (place, point))| timelines(record, &format!("time-{nth}"), place, point, None))
                .filter(|timelines| !timelines.charts.is_empty())
                .collect(),
            events: events(record, groups),
            jobs: groups
                .calm()
                .flat_map(with_points)
                .enumerate()
                .map(|(nth, (place, point))| {
                    let (by, trials) = median_trials(record, point, None, has_jobs);
                    let charts = trials.iter().enumerate();
                    let charts = charts
                        .map(|(trial, of)| jobs(record.export, format!("jobs-{nth}-{trial}"), of))
                        .collect();
                    Timelines { place, by: by.words(), charts }
                })
                .filter(|point| !point.charts.is_empty())
                .collect(),
            disturbances: groups
                .disturbed()
                .flat_map(with_points)
                .enumerate()
                .map(|(nth, (place, point))| disturbed(record, nth, place, point))
                .collect(),
            explorer: Explorer::of(record, groups),
        }
    }
}

fn points_of<'a>(groups: &Groups<'a>, group: &Group<'a>) -> Vec<(String, &'a Point)> {
    group.points.iter().map(|point| (groups.full_place(group, point), *point)).collect()
}

fn group_pictures(record: &Record, groups: &Groups, group: &Group, nth: usize) -> GroupPictures {
    let lines = line_charts(record, groups, group, &format!("over-{nth}"));
    let rows = match group.points.as_slice() {
        [point] => {
            let mut cells = record.at(point).cells.clone();
            let metric = measured(&record.metrics, cells.iter().copied()).into_iter().next();
            metric.and_then(|metric| {
                sort(&mut cells, metric);
                let title = metric.label();
                row_chart(record, format!("rows-{nth}"), title, &cells, &[Figure { metric, label: "" }])
            })
        }
        _ => None,
    };
    GroupPictures { lines, rows }
}

fn steps(record: &Record, groups: &Groups) -> Vec<StepPictures> {
    let Some((axis, points)) = parts(record, groups) else { return Vec::new() };
    let pictures = |(nth, parts): (usize, &PartsAt)| {
        let (by, trials) = median_trials(record, parts.point, None, has_fates);
        StepPictures {
            lines: step_charts(record, axis, parts, &format!("steps-{nth}")),
            by: by.words(),
            overload: overload_charts(record, &format!("overload-{nth}"), &trials),
        }
    };
    points.iter().enumerate().map(pictures).collect()
}

fn calls(record: &Record, groups: &Groups) -> Vec<CallPictures> {
    let points = calls::calls(record, groups);
    let chosen: Vec<(Metric, Vec<&Trial>)> =
        points.iter().map(|at| telling_trials(record, at.point, has_calls)).collect();
    let budget = Budget::of(chosen.iter().map(|(_, trials)| trials.len()).sum());
    let pictures = |(nth, (at, (by, trials))): (usize, (&CallsAt, &(Metric, Vec<&Trial>)))| {
        let first: Vec<&Cell> = at.rows.iter().filter(|row| row.is_first()).map(|row| &row.cell).collect();
        let of_calls = BARS.map(|role| record.part_metric(role));
        let of_warm = BARS.map(|role| record.metric(&format!("warm-{role}")));
        let cells = &record.at(at.point).cells;
        let charts = [
            billing_chart(format!("first-{nth}"), "the first call", &first, of_calls),
            billing_chart(format!("warm-{nth}"), "warm calls, median", cells, of_warm),
        ];
        CallPictures {
            billing: charts.into_iter().flatten().collect(),
            by: by.words(),
            instances: instance_charts(&format!("instances-{nth}"), trials, budget),
            lines: call_charts(record, at, &format!("calls-{nth}")),
        }
    };
    points.iter().zip(&chosen).enumerate().map(pictures).collect()
}

fn pacing(record: &Record, groups: &Groups) -> Option<PacingPictures> {
    let points = paced(record, groups);
    let chosen: Vec<(Metric, Vec<&Trial>)> =
        points.iter().map(|at| median_trials(record, at.point, None, has_arrivals)).collect();
    let all: Vec<&Trial> = chosen.iter().flat_map(|(_, trials)| trials.iter().copied()).collect();
    let frames = points.iter().filter_map(|at| frame_us(record, at.point));
    let scales = ErrorScales::of(&all, frames.reduce(f64::max));
    let timelines = |(nth, (at, (by, trials))): (usize, (&PacedAt, &(Metric, Vec<&Trial>)))| {
        let frame_us = frame_us(record, at.point);
        let chart = |(of, trial): (usize, &&Trial)| {
            error_chart(record, format!("errors-{nth}-{of}"), trial, frame_us, &scales)
        };
        let charts = trials.iter().enumerate().map(chart).collect();
        Timelines { place: at.place.clone(), by: by.words(), charts }
    };
    (!points.is_empty()).then(|| PacingPictures {
        distributions: distribution_charts(record, &points),
        points: points.iter().zip(&chosen).enumerate().map(timelines).collect(),
    })
}

fn disturbed(record: &Record, nth: usize, place: String, point: &Point) -> Disturbed {
    let mut cells = record.at(point).cells.clone();
    let recovery = record.metric(RECOVERY);
    let rows = recovery.and_then(|metric| {
        sort(&mut cells, metric);
        let title = format!("{}, {place}", metric.words());
        let figures = [Figure { metric, label: "" }];
        row_chart(record, format!("recovery-{nth}"), title, &cells, &figures)
    });
    Disturbed { rows, timelines: timelines(record, &format!("around-{nth}"), place, point, recovery) }
}

fn events(record: &Record, groups: &Groups) -> Vec<Events> {
    let chosen = |(place, point)| {
        let (metric, trials) = telling_trials(record, point, has_events);
        (!trials.is_empty()).then(|| (place, metric.words(), trials))
    };
    let points: Vec<_> =
        groups.calm().flat_map(|group| points_of(groups, group)).filter_map(chosen).collect();
    let budget = Budget::of(points.iter().map(|(.., trials)| trials.len()).sum());
    let drawn = |(nth, (place, by, trials)): (usize, (String, String, Vec<&Trial>))| {
        let families = families(&trials);
        let charts = trials.iter().zip(axes(&trials)).enumerate();
        let charts = charts.map(|(of, (trial, axis))| {
            event_chart(format!("events-{nth}-{of}"), trial, axis, &families, budget)
        });
        Events { place, by, charts: charts.collect() }
    };
    points.into_iter().enumerate().map(drawn).collect()
}

fn has_events(trial: &Trial) -> bool {
    !trial.sample.events.is_empty()
}

/// All over the same time, so that they can be set side by side; without those of loads in steps, which have a picture of
/// their own.
fn timelines(record: &Record, id: &str, place: String, point: &Point, metric: Option<&Metric>) -> Timelines {
    let (by, trials): (Metric, Vec<&Trial>) = median_trials(record, point, metric, has_series);
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
