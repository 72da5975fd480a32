//! Response times of the undisturbed defaults, from the median to the longest.

use kumite_record::{Cell, Export};
use serde::Serialize;

use crate::chart::Figure;
use crate::group::Groups;
use crate::metric::Metric;
use crate::table::{Table, cells_at, figures, sort, words};

/// The percentiles of one point.
#[derive(Debug, Serialize)]
pub struct Percentiles {
    pub place: String,
    pub table: Table,
}

const SHOWN: [(&str, &str); 5] = [
    ("response_p50_us", "p50"),
    ("response_p90_us", "p90"),
    ("response_p99_us", "p99"),
    ("response_p99_9_us", "p99.9"),
    ("response_max_us", "max"),
];

/// What is shown.
pub fn shown() -> Vec<Figure> {
    SHOWN.map(|(name, label)| Figure { metric: Metric::new(name), label }).into()
}

/// Where in the first group percentiles were measured: its points, and their cells with the lowest median first.
pub fn points<'a>(export: &'a Export, groups: &Groups) -> Vec<(String, Vec<&'a Cell>)> {
    let Some(group) = groups.calm().next() else { return Vec::new() };
    let point = |point: &&kumite_record::Point| {
        let mut cells = cells_at(export, point);
        let has = |cell: &Cell, name| cell.metrics.contains_key(name) || cell.needs.contains_key(name);
        cells.retain(|cell| SHOWN.iter().any(|(name, _)| has(cell, *name)));
        sort(&mut cells, &Metric::new(SHOWN[0].0));
        (!cells.is_empty()).then(|| (groups.full_place(group, point), cells))
    };
    group.points.iter().filter_map(point).collect()
}

/// The same as tables.
pub fn percentiles(export: &Export, groups: &Groups) -> Vec<Percentiles> {
    let metrics = SHOWN.map(|(name, _)| Metric::new(name));
    let table = |(place, cells): (String, Vec<&Cell>)| {
        let names = words(&cells, "contender", false, |cell| cell.contender.clone());
        let columns = std::iter::once(names).chain(figures(export, &cells, &metrics));
        Percentiles { place, table: Table::of(columns.collect()) }
    };
    points(export, groups).into_iter().map(table).collect()
}
