//! The calls of a function, one by one: the axis that its trials sweep within themselves.

use std::ops::Range;

use kumite_record::{AxisValue, Call, Cell, Estimate, Metric, Needs, Outcome, Point, Trial};
use serde::Serialize;

use crate::chart::has_calls;
use crate::group::Groups;
use crate::metric::{Named, measured};
use crate::number::count;
use crate::record::Record;
use crate::steps;
use crate::table::{Column, Entry, Filled, Overview, Table, figures, lost, matrix, words};
use crate::text::one_line;

/// The calls at a point.
#[derive(Debug, Serialize)]
pub struct CallTables {
    /// The point among all.
    pub place: String,
    /// Contenders by calls, for what is asked for first.
    pub overviews: Vec<Overview>,
    /// All metrics, a row for each call of each contender; none where no trial counts.
    pub table: Option<Table>,
    /// Whether the last calls have a row together.
    pub merged: bool,
}

/// What a row of several calls says.
pub const REST: &str = "A column or row of several calls has the middle of their figures and, where others have an interval, the least and the greatest of them.";

/// A point of a function.
pub struct CallsAt<'a> {
    pub place: String,
    pub point: &'a Point,
    /// Contenders in the order of the record, each with its calls in theirs.
    pub rows: Vec<Row>,
}

/// A call in all trials of a contender; or the last calls together.
pub struct Row {
    pub cell: Cell,
    /// Which calls, counted from 0.
    calls: Range<usize>,
    /// How many of them there are in all trials that count.
    of: usize,
    cold: usize,
    failed: usize,
}

impl Row {
    fn of(cell: Cell, calls: Range<usize>, trials: &[&Trial]) -> Row {
        let counted =
            trials.iter().filter(|trial| trial.contender == cell.contender && trial.outcome == Outcome::Ok);
        let all: Vec<&Call> =
            counted.flat_map(|trial| trial.sample.calls.iter().take(calls.end).skip(calls.start)).collect();
        let cold = all.iter().filter(|call| call.cold).count();
        let failed = all.iter().filter(|call| call.error.is_some()).count();
        // A call that has no figures because it was refused is lost like a trial that failed.
        let lost = if cell.metrics.is_empty() { failed as u32 } else { 0 };
        Row { cell: Cell { failed: cell.failed + lost, ..cell }, calls, of: all.len(), cold, failed }
    }

    pub fn is_first(&self) -> bool {
        self.calls == (0..1)
    }
}

/// The axis.
pub const CALL: &str = "call";
/// Rows of a contender.
const MOST_ROWS: usize = 20;
/// Roles.
const OVERVIEWS: [&str; 2] = ["wall", "billed-2025"];
/// The roles of what is no figure of a call over all trials, or is told in another way.
const NOT_SHOWN: [&str; 2] = ["cold", "instance"];

fn is_among(roles: &[&str], metric: &Metric) -> bool {
    metric.role.as_deref().is_some_and(|role| roles.contains(&role))
}

/// Whether trials consist of calls.
pub fn are_calls(record: &Record) -> bool {
    record.export.run.kind == "function"
}

/// The points of a function that have anything to tell of its calls.
pub fn calls<'a>(record: &Record<'a>, groups: &Groups<'a>) -> Vec<CallsAt<'a>> {
    if !are_calls(record) {
        return Vec::new();
    }
    let all = groups.groups.iter().flat_map(|group| group.points.iter().map(move |point| (group, *point)));
    let at = |(group, point): (_, &'a Point)| {
        let here = record.at(point);
        let (parts, trials) = (&here.parts, &here.standing);
        let rows = rows(record, parts, trials);
        (!rows.is_empty() || trials.iter().any(|trial| has_calls(trial))).then(|| CallsAt {
            place: groups.full_place(group, point),
            point,
            rows,
        })
    };
    all.filter_map(at).collect()
}

fn rows(record: &Record, parts: &[&Cell], trials: &[&Trial]) -> Vec<Row> {
    let of_contender = |cells: &[&Cell]| {
        let own = if cells.len() > MOST_ROWS { MOST_ROWS - 1 } else { cells.len() };
        let (first, last) = cells.split_at(own);
        let mut rows: Vec<Row> = first
            .iter()
            .enumerate()
            .map(|(nth, cell)| Row::of((*cell).clone(), nth..nth + 1, trials))
            .collect();
        rows.extend(together(record, last).map(|cell| Row::of(cell, own..cells.len(), trials)));
        rows
    };
    parts.chunk_by(|a, b| a.contender == b.contender).flat_map(of_contender).collect()
}

/// The cells of several calls as one; none where there are none.
fn together(record: &Record, cells: &[&Cell]) -> Option<Cell> {
    let (first, last) = (cells.first()?, cells.last()?);
    let estimate = |metric: &Metric| {
        let all: Vec<&Estimate> = cells.iter().filter_map(|cell| cell.metrics.get(&metric.name)).collect();
        let mut values: Vec<f64> = all.iter().map(|of| of.estimate).collect();
        values.sort_by(f64::total_cmp);
        let (low, high) = (values.first().copied()?, values.last().copied()?);
        let of = Estimate {
            estimate: (values[values.len() / 2] + values[(values.len() - 1) / 2]) / 2.0,
            low: Some(low),
            high: Some(high),
            ..all[0].clone()
        };
        Some((metric.name.clone(), of))
    };
    let told = |cell: &Cell| {
        let number = cell.point.get(CALL).and_then(AxisValue::number);
        number.map_or_else(|| value(&cell.point), count)
    };
    let mut point = first.point.clone();
    let name = AxisValue::Text(format!("{}–{}", told(first), told(last)));
    point.0.insert(CALL.to_owned(), name);
    let known = measured(&record.part_metrics, cells.iter().copied());
    Some(Cell {
        point,
        metrics: known.into_iter().filter_map(estimate).collect(),
        needs: Needs::new(),
        ..(*first).clone()
    })
}

/// The tables of each point.
pub fn call_tables(record: &Record, groups: &Groups) -> Vec<CallTables> {
    calls(record, groups).into_iter().map(|at| tables(record, at)).collect()
}

fn tables(record: &Record, CallsAt { place, rows, .. }: CallsAt) -> CallTables {
    let cells: Vec<&Cell> = rows.iter().map(|row| &row.cell).collect();
    let mut known = measured(&record.part_metrics, cells.iter().copied());
    known.retain(|metric| !is_among(&NOT_SHOWN, metric));
    let share = |name: &str, of: fn(&Row) -> usize| -> Option<Filled> {
        let text = |row: &Row| format!("{} of {}", count(of(row) as f64), count(row.of as f64));
        let entries = rows.iter().map(|row| Entry::plain(text(row))).collect();
        let any = rows.iter().any(|row| of(row) > 0);
        any.then(|| (Column { name: name.to_owned(), numeric: false }, entries))
    };
    let points = steps::points(&cells);
    let overview = |metric: &Metric| Overview {
        title: one_line(&format!("{} by call", metric.label())),
        sparse: false,
        table: matrix(&cells, &points, metric, value),
    };
    let cold = rows.iter().any(|row| row.cold > 0).then(|| Overview {
        title: "in how many of the trials each call was cold".to_owned(),
        sparse: false,
        table: cold_table(&rows, &points),
    });
    let mut columns = vec![
        words(&cells, "contender", false, |cell| cell.contender.clone()),
        words(&cells, "call", false, |cell| value(&cell.point)),
    ];
    columns.extend(share("cold", |row| row.cold));
    columns.extend(share("failed", |row| row.failed));
    columns.extend(figures(record, &cells, &known));
    let asked = known.iter().copied().filter(|metric| is_among(&OVERVIEWS, metric)).map(overview);
    CallTables {
        place,
        overviews: cold.into_iter().chain(asked).collect(),
        table: (!known.is_empty()).then(|| Table::of(columns)),
        merged: rows.iter().any(|row| row.calls.len() > 1),
    }
}

/// Contenders by calls, each as how many were cold of how many.
fn cold_table(rows: &[Row], points: &[&Point]) -> Table {
    let contenders: Vec<&[Row]> = rows.chunk_by(|a, b| a.cell.contender == b.cell.contender).collect();
    let names = contenders.iter().map(|rows| Entry::plain(one_line(&rows[0].cell.contender)));
    let head = |name: String, numeric| Column { name: one_line(&name), numeric };
    let mut columns: Vec<Filled> = vec![(head("contender".to_owned(), false), names.collect())];
    for point in points {
        let entry = |rows: &&[Row]| match rows.iter().find(|row| row.cell.point == **point) {
            Some(row) if row.of == 0 => Entry { lost: true, ..Entry::plain(lost(&row.cell).to_owned()) },
            Some(row) => Entry::plain(format!("{}/{}", count(row.cold as f64), count(row.of as f64))),
            None => Entry::default(),
        };
        columns.push((head(value(point), true), contenders.iter().map(entry).collect()));
    }
    Table::of(columns)
}

fn value(point: &Point) -> String {
    point.get(CALL).map_or(String::new(), ToString::to_string)
}
