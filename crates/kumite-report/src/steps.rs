//! What is swept within each trial, such as the steps of a load: the parts of trials as tables.

use std::collections::BTreeMap;

use kumite_record::{Cell, Export, Point};
use serde::Serialize;

use crate::calls::are_calls;
use crate::group::Groups;
use crate::metric::Metric;
use crate::table::{Column, Entry, Overview, Table, figures, matrix, metrics, words};
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

/// What is shown over the steps, as far as it was measured.
pub const SHOWN: [&str; 2] = ["goodput_rps", "response_p50_us"];

/// A point whose trials have parts.
pub struct PartsAt<'a> {
    pub place: String,
    pub point: &'a Point,
    /// Contenders in the order of the record, each with its steps in theirs.
    pub cells: Vec<&'a Cell>,
}

/// The points whose trials have parts, and the axis that they sweep; without calls, which have a chapter of their own.
pub fn parts<'a>(export: &'a Export, groups: &Groups<'a>) -> Option<(&'a str, Vec<PartsAt<'a>>)> {
    let within = export.run.within.as_ref().filter(|_| !are_calls(export))?;
    let all = groups.groups.iter().flat_map(|group| group.points.iter().map(move |point| (group, *point)));
    let at = |(group, point): (_, &'a Point)| {
        let cells = parts_at(export, point);
        (!cells.is_empty()).then(|| PartsAt { place: groups.full_place(group, point), point, cells })
    };
    let points: Vec<PartsAt> = all.filter_map(at).collect();
    (!points.is_empty()).then_some((&within.axis, points))
}

/// The parts of the trials at a point: contenders in the order of the record, each with its steps in theirs.
pub fn parts_at<'a>(export: &'a Export, point: &Point) -> Vec<&'a Cell> {
    let Some(within) = export.run.within.as_ref() else { return Vec::new() };
    let places: BTreeMap<String, usize> =
        within.values.iter().enumerate().map(|(nth, value)| (value.to_string(), nth)).collect();
    let place = |cell: &&Cell| {
        let contender = export.contenders.iter().position(|known| known.name == cell.contender);
        let value = cell.point.get(&within.axis).map(ToString::to_string);
        (contender, value.and_then(|value| places.get(&value).copied()))
    };
    let is_part = |cell: &&Cell| {
        let inner = cell.point.0.iter().filter(|(axis, _)| **axis != within.axis);
        cell.point.get(&within.axis).is_some() && inner.eq(point.0.iter())
    };
    let mut cells: Vec<&Cell> = export.parts.iter().filter(is_part).collect();
    cells.sort_by_cached_key(place);
    cells
}

/// The tables of each of them.
pub fn step_tables(export: &Export, groups: &Groups) -> Vec<StepTables> {
    let Some((axis, points)) = parts(export, groups) else { return Vec::new() };
    let name = Metric::new(axis);
    let value = |cell: &Cell| cell.point.get(axis).map_or(String::new(), ToString::to_string);
    let tables = |PartsAt { place, cells, .. }: PartsAt| {
        let known = metrics(cells.iter().copied());
        let mut steps: Vec<&Point> = Vec::new();
        for cell in &cells {
            if !steps.contains(&&cell.point) {
                steps.push(&cell.point);
            }
        }
        let overview = |metric: &Metric| Overview {
            title: one_line(&format!("{} over {}", metric.label(), name.words())),
            sparse: false,
            table: matrix(&cells, &steps, metric, |point| {
                point.get(axis).map_or(String::new(), ToString::to_string)
            }),
        };
        let mut columns = vec![words(&cells, "contender", false, |cell| cell.contender.clone())];
        let rates = cells.iter().map(|cell| Entry::plain(one_line(&value(cell)))).collect();
        columns.push((Column { name: one_line(&name.label()), numeric: true }, rates));
        columns.extend(figures(export, &cells, &known));
        StepTables {
            place,
            overviews: known.iter().filter(|m| SHOWN.contains(&&*m.name)).map(overview).collect(),
            table: Table::of(columns),
        }
    };
    points.into_iter().map(tables).collect()
}
