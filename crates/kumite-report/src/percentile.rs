//! Response times of the undisturbed defaults, from the median to the longest.

use kumite_record::{Cell, Metric, Point};
use serde::Serialize;

use crate::chart::Figure;
use crate::group::Groups;
use crate::record::Record;
use crate::table::{Table, figures, sort, words};

/// The percentiles of one point.
#[derive(Debug, Serialize)]
pub struct Percentiles {
    pub place: String,
    pub table: Table,
}

/// Roles, and what they are called.
const SHOWN: [(&str, &str); 5] = [
    ("response-p50", "p50"),
    ("response-p90", "p90"),
    ("response-p99", "p99"),
    ("response-p99-9", "p99.9"),
    ("response-max", "max"),
];

/// What is shown.
pub fn shown<'m>(record: &'m Record) -> Vec<Figure<'m>> {
    let figure = |(role, label): &(&str, &'static str)| Some(Figure { metric: record.metric(role)?, label });
    SHOWN.iter().filter_map(figure).collect()
}

/// Where in the first group percentiles were measured: its points, and their cells with the lowest median first.
pub fn points<'a>(record: &Record<'a>, groups: &Groups) -> Vec<(String, Vec<&'a Cell>)> {
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

/// The same as tables.
pub fn percentiles(record: &Record, groups: &Groups) -> Vec<Percentiles> {
    let metrics: Vec<&Metric> = shown(record).iter().map(|figure| figure.metric).collect();
    let table = |(place, cells): (String, Vec<&Cell>)| {
        let names = words(&cells, "contender", false, |cell| cell.contender.clone());
        let columns = std::iter::once(names).chain(figures(record, &cells, &metrics));
        Percentiles { place, table: Table::of(columns.collect()) }
    };
    points(record, groups).into_iter().map(table).collect()
}
