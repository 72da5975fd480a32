//! The chapter on the parts of trials, such as the steps of a load.

use kumite_record::{Cell, Metric, Point};
use serde::Serialize;

use super::overload::{OverloadChart, has_fates, overload_charts};
use crate::charts::{LineChart, line_chart};
use crate::kinds::chapter::{Chapter, ChapterPoint, PageChapter};
use crate::kinds::has_role;
use crate::metric::Named;
use crate::record::Record;
use crate::tables::cells::{Column, Entry, Overview, Table, distinct_points, figures, matrix, text_column};
use crate::tables::group::Groups;
use crate::tables::trials::median_trials;
use crate::words::text::one_line;

/// The roles of the metrics that are shown over the steps, as far as they were measured.
const SHOWN: [&str; 2] = ["goodput", "response-p50"];

/// The axis within trials whose values are the names of requests.
pub(super) const REQUEST: &str = "request";

const STEPS: &str = "All figures of each step";

/// The part on one point: tables and charts of its steps, and one trial of each contender over time.
#[derive(Debug, Serialize)]
struct StepsOnPage {
    #[serde(flatten)]
    tables: ChapterPoint,
    lines: Vec<LineChart>,
    /// The metric, in words, by which the trials were chosen: each is its contender's median trial in this metric.
    by: String,
    overload: Vec<OverloadChart>,
}

/// A point whose trials have parts, and the cells of the parts.
pub(super) struct PartsAt<'r, 'a> {
    pub place: String,
    point: &'a Point,
    cells: &'r [&'a Cell],
}

/// The axis that trials sweep, and the points whose trials have parts; none if there are none.
pub(super) fn parts<'r, 'a>(
    record: &'r Record<'a>,
    groups: &Groups<'a>,
) -> Option<(&'a str, Vec<PartsAt<'r, 'a>>)> {
    let within = record.export.run.within.as_ref()?;
    let at = |(place, point)| PartsAt { place, point, cells: &record.at(point).parts };
    let points: Vec<PartsAt> = groups.points().map(at).filter(|at| !at.cells.is_empty()).collect();
    (!points.is_empty()).then_some((&within.axis, points))
}

/// The same of loads in steps; none if the parts of trials are requests.
fn steps<'r, 'a>(record: &'r Record<'a>, groups: &Groups<'a>) -> Option<(&'a str, Vec<PartsAt<'r, 'a>>)> {
    parts(record, groups).filter(|(axis, _)| *axis != REQUEST)
}

/// The chapter on steps as text; none if no trial has any.
pub fn chapter(record: &Record, groups: &Groups) -> Option<Chapter> {
    let (axis, points) = steps(record, groups)?;
    let points = points.iter().map(|at| tables(record, axis, at, &SHOWN, STEPS)).collect();
    Some(Chapter { title: "Step by step", about: None, points })
}

/// The chapter on steps for a page, with pictures; none if no trial has any.
pub fn page(record: &Record, groups: &Groups) -> Option<PageChapter> {
    let (axis, points) = steps(record, groups)?;
    let shown = |(nth, at): (usize, &PartsAt)| {
        let (by, trials) = median_trials(record, at.point, None, has_fates);
        StepsOnPage {
            tables: tables(record, axis, at, &SHOWN, STEPS),
            lines: charts(record, axis, at, &format!("steps-{nth}")),
            by: by.words(),
            overload: overload_charts(record, &format!("overload-{nth}"), &trials),
        }
    };
    let shown: Vec<StepsOnPage> = points.iter().enumerate().map(shown).collect();
    PageChapter::new("by-step", "Step by step", "steps.html", &shown)
}

/// A chart for each metric of `SHOWN`, over the axis that trials sweep.
fn charts(record: &Record, axis: &str, at: &PartsAt, id: &str) -> Vec<LineChart> {
    let over = Metric::named(axis).label();
    let shown = record.part_metrics.iter().filter(|metric| has_role(metric, &SHOWN));
    let chart = |(nth, metric): (usize, &Metric)| {
        line_chart(record, format!("{id}-{nth}"), (axis, &over), &at.place, at.cells, metric, &[])
    };
    shown.enumerate().filter_map(chart).collect()
}

/// The tables of a point: one of contenders by parts for each metric of the roles in `shown`, and one of all figures,
/// which is called `summary`.
pub(super) fn tables(
    record: &Record,
    axis: &str,
    PartsAt { place, cells, .. }: &PartsAt,
    shown: &[&str],
    summary: &'static str,
) -> ChapterPoint {
    let name = Metric::named(axis);
    let value = |point: &Point| point.get(axis).map_or(String::new(), ToString::to_string);
    let known = record.part_metrics_of(cells);
    let steps = distinct_points(cells);
    let overview = |metric: &&Metric| Overview {
        title: one_line(&format!("{} over {}", metric.label(), name.words())),
        sparse: false,
        table: matrix(cells, &steps, metric, value),
    };
    let mut columns = vec![text_column(cells, "contender", false, |cell| cell.contender.clone())];
    let rates = cells.iter().map(|cell| Entry::plain(one_line(&value(&cell.point)))).collect();
    columns.push((Column { name: one_line(&name.label()), numeric: axis != REQUEST }, rates));
    columns.extend(figures(record, cells, &known));
    ChapterPoint {
        place: place.clone(),
        overviews: known.iter().filter(|metric| has_role(metric, shown)).map(overview).collect(),
        note: None,
        table: Some(Table::from_columns(columns)),
        summary: Some(summary),
    }
}
