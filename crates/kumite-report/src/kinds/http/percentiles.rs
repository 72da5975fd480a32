//! The chapter on response times by percentile, from the median to the longest. It shows only the first group without a
//! disturbance. This is the group of all defaults, if that has no disturbance.

use kumite_record::{Cell, Metric, Point};
use serde::Serialize;

use crate::charts::{Figure, RowChart, row_chart};
use crate::kinds::chapter::{Chapter, ChapterPoint, PageChapter};
use crate::record::Record;
use crate::tables::cells::{Table, figures, sort, text_column};
use crate::tables::group::Groups;

/// The percentiles at one point, as a table and a chart.
#[derive(Debug, Serialize)]
struct OnPage {
    #[serde(flatten)]
    table: ChapterPoint,
    chart: Option<RowChart>,
}

/// The roles of the metrics shown, and the names of their markers.
const SHOWN: [(&str, &str); 5] = [
    ("response-p50", "p50"),
    ("response-p90", "p90"),
    ("response-p99", "p99"),
    ("response-p99-9", "p99.9"),
    ("response-max", "max"),
];

fn shown<'m>(record: &'m Record) -> Vec<Figure<'m>> {
    let figure = |(role, label): &(&str, &'static str)| Some(Figure { metric: record.metric(role)?, label });
    SHOWN.iter().filter_map(figure).collect()
}

/// The points of the first group at which percentiles were measured, and their cells, the lowest median first. A cell
/// that lacks requests for a percentile counts as measured.
fn points<'a>(record: &Record<'a>, groups: &Groups) -> Vec<(String, Vec<&'a Cell>)> {
    let Some(group) = groups.calm().next() else { return Vec::new() };
    let shown = shown(record);
    let has = |cell: &Cell, name: &str| cell.metrics.contains_key(name) || cell.needs.contains_key(name);
    let point = |point: &&Point| {
        let mut cells = record.at(point).cells.clone();
        cells.retain(|cell| shown.iter().any(|figure| has(cell, &figure.metric.name)));
        sort(&mut cells, shown.first()?.metric);
        (!cells.is_empty()).then(|| (groups.full_place(group, point), cells))
    };
    group.points.iter().filter_map(point).collect()
}

/// The percentiles of each point as tables, for formats without pictures; none if none were measured.
pub fn chapter(record: &Record, groups: &Groups) -> Option<Chapter> {
    let points: Vec<ChapterPoint> =
        points(record, groups).into_iter().map(|(place, cells)| table(record, place, &cells)).collect();
    (!points.is_empty()).then_some(Chapter { title: "Response times by percentile", about: None, points })
}

fn table(record: &Record, place: String, cells: &[&Cell]) -> ChapterPoint {
    let metrics: Vec<&Metric> = shown(record).iter().map(|figure| figure.metric).collect();
    let names = text_column(cells, "contender", false, |cell| cell.contender.clone());
    let columns = std::iter::once(names).chain(figures(record, cells, &metrics));
    let table = Some(Table::from_columns(columns.collect()));
    ChapterPoint { place, overviews: Vec::new(), note: None, table, summary: None }
}

/// The chapter on percentiles for a page, with pictures; none if there is nothing to draw.
pub fn page(record: &Record, groups: &Groups) -> Option<PageChapter> {
    let figures = shown(record);
    let on_page = |(nth, (place, cells)): (usize, (String, Vec<&Cell>))| OnPage {
        chart: row_chart(record, format!("percentiles-{nth}"), place.clone(), &cells, &figures),
        table: table(record, place, &cells),
    };
    let points: Vec<OnPage> = points(record, groups).into_iter().enumerate().map(on_page).collect();
    let is_drawn = points.iter().any(|point| point.chart.is_some());
    PageChapter::new("percentiles", "Percentiles", "percentiles.html", &points).filter(|_| is_drawn)
}
