//! What is swept within each trial, such as the steps of a load: the parts of trials as tables.

use std::collections::HashSet;

use kumite_record::{Cell, Metric, Point};
use serde::Serialize;

use crate::calls::are_calls;
use crate::group::Groups;
use crate::metric::{Named, measured};
use crate::record::{Key, Record};
use crate::table::{Column, Entry, Overview, Table, figures, matrix, words};
use crate::text::one_line;

/// The parts of the trials at a point.
#[derive(Debug, Serialize)]
pub struct StepTables {
    /// The point among all.
    pub place: String,
    /// Contenders by steps, for each metric that is asked for first.
    pub overviews: Vec<Overview>,
    /// All metrics, a row for each step of each contender.
    pub table: Table,
}

/// The roles of what is shown over the steps, as far as it was measured.
const SHOWN: [&str; 2] = ["goodput", "response-p50"];

pub fn is_shown(metric: &Metric) -> bool {
    metric.role.as_deref().is_some_and(|role| SHOWN.contains(&role))
}

/// A point whose trials have parts.
pub struct PartsAt<'r, 'a> {
    pub place: String,
    pub point: &'a Point,
    /// Contenders in the order of the record, each with its steps in theirs.
    pub cells: &'r [&'a Cell],
}

/// The points whose trials have parts, and the axis that they sweep; without calls, which have a chapter of their own.
pub fn parts<'r, 'a>(record: &'r Record<'a>, groups: &Groups<'a>) -> Option<(&'a str, Vec<PartsAt<'r, 'a>>)> {
    let within = record.export.run.within.as_ref().filter(|_| !are_calls(record))?;
    let all = groups.groups.iter().flat_map(|group| group.points.iter().map(move |point| (group, *point)));
    let at = |(group, point): (_, &'a Point)| {
        let cells = &*record.at(point).parts;
        (!cells.is_empty()).then(|| PartsAt { place: groups.full_place(group, point), point, cells })
    };
    let points: Vec<PartsAt> = all.filter_map(at).collect();
    (!points.is_empty()).then_some((&within.axis, points))
}

/// The tables of each of them.
pub fn step_tables(record: &Record, groups: &Groups) -> Vec<StepTables> {
    let Some((axis, places)) = parts(record, groups) else { return Vec::new() };
    let name = Metric::named(axis);
    let value = |cell: &Cell| cell.point.get(axis).map_or(String::new(), ToString::to_string);
    let tables = |PartsAt { place, cells, .. }: PartsAt| {
        let known = measured(&record.part_metrics, cells.iter().copied());
        let steps = points(cells);
        let overview = |metric: &Metric| Overview {
            title: one_line(&format!("{} over {}", metric.label(), name.words())),
            sparse: false,
            table: matrix(cells, &steps, metric, |point| {
                point.get(axis).map_or(String::new(), ToString::to_string)
            }),
        };
        let mut columns = vec![words(cells, "contender", false, |cell| cell.contender.clone())];
        let rates = cells.iter().map(|cell| Entry::plain(one_line(&value(cell)))).collect();
        columns.push((Column { name: one_line(&name.label()), numeric: true }, rates));
        columns.extend(figures(record, cells, &known));
        StepTables {
            place,
            overviews: known.iter().copied().filter(|metric| is_shown(metric)).map(overview).collect(),
            table: Table::of(columns),
        }
    };
    places.into_iter().map(tables).collect()
}

/// The points of these cells, each once.
pub fn points<'a>(cells: &[&'a Cell]) -> Vec<&'a Point> {
    let mut seen: HashSet<Key> = HashSet::new();
    cells.iter().map(|cell| &cell.point).filter(|point| seen.insert(Key(point))).collect()
}
