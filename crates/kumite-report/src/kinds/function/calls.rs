//! The chapter on the calls of a function: its trials sweep the axis `call` within themselves.

use std::ops::Range;

use kumite_record::{AxisValue, Call, Cell, Estimate, Metric, Needs, Outcome, Point, Trial};
use serde::Serialize;

use super::billing::{BARS, BillingChart, billing_chart};
use super::instances::{InstanceChart, has_calls, instance_charts};
use crate::charts::{Budget, LineChart, line_chart};
use crate::kinds::chapter::{Chapter, ChapterPoint, PageChapter};
use crate::kinds::has_role;
use crate::metric::Named;
use crate::record::Record;
use crate::tables::cells::{
    Column, Entry, Filled, Overview, Table, distinct_points, figures, lost, matrix, text_column,
};
use crate::tables::group::Groups;
use crate::tables::trials::telling_trials;
use crate::words::number::count;
use crate::words::text::one_line;

/// The part on one point: tables and charts of its calls, and one trial of each contender over time.
#[derive(Debug, Serialize)]
struct CallsOnPage {
    #[serde(flatten)]
    tables: ChapterPoint,
    /// The charts of the first call, and of warm calls.
    billing: Vec<BillingChart>,
    /// The metric, in words, by which the trials were chosen: each is its contender's median trial in this metric.
    by: String,
    instances: Vec<InstanceChart>,
    lines: Vec<LineChart>,
}

/// The note below a table that has rows of several calls.
const REST: &str = "A column or row of several calls has the middle of their figures and, where others have an interval, the least and the greatest of them.";

/// The calls at one point.
struct CallsAt<'a> {
    place: String,
    point: &'a Point,
    /// The rows of each contender, in the order of the record and of calls.
    rows: Vec<Row>,
}

/// The figures of one call over all trials of a contender, or of the last calls together.
struct Row {
    cell: Cell,
    /// The positions of the row's calls within a trial, counted from 0.
    calls: Range<usize>,
    /// The number of these calls in all trials that count. `cold` and `failed` are parts of it.
    of: usize,
    cold: usize,
    failed: usize,
}

impl Row {
    fn new(cell: Cell, calls: Range<usize>, trials: &[&Trial]) -> Row {
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

    fn is_first(&self) -> bool {
        self.calls == (0..1)
    }
}

/// The name of the axis that trials sweep.
const CALL: &str = "call";
/// The most rows of a contender; its last calls share one.
const MOST_ROWS: usize = 20;
/// The roles of metrics with a table of contenders by calls.
const OVERVIEWS: [&str; 2] = ["wall", "billed-2025"];
/// The roles of metrics that have no column: they are no figures of a call, or are told in another way.
const NOT_SHOWN: [&str; 2] = ["cold", "instance"];

/// The points at which anything is known of calls.
fn calls<'a>(record: &Record<'a>, groups: &Groups<'a>) -> Vec<CallsAt<'a>> {
    let at = |(place, point)| {
        let here = record.at(point);
        let rows = rows(record, &here.parts, &here.standing);
        let has_any = !rows.is_empty() || here.standing.iter().any(|trial| has_calls(trial));
        has_any.then_some(CallsAt { place, point, rows })
    };
    groups.points().filter_map(at).collect()
}

fn rows(record: &Record, parts: &[&Cell], trials: &[&Trial]) -> Vec<Row> {
    let of_contender = |cells: &[&Cell]| {
        let own = if cells.len() > MOST_ROWS { MOST_ROWS - 1 } else { cells.len() };
        let (first, last) = cells.split_at(own);
        let mut rows: Vec<Row> = first
            .iter()
            .enumerate()
            .map(|(nth, cell)| Row::new((*cell).clone(), nth..nth + 1, trials))
            .collect();
        rows.extend(together(record, last).map(|cell| Row::new(cell, own..cells.len(), trials)));
        rows
    };
    parts.chunk_by(|a, b| a.contender == b.contender).flat_map(of_contender).collect()
}

/// Several cells as one: each figure is their median, with the least and the greatest as its interval. None if there
/// are no cells.
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
    let known = record.part_metrics_of(cells);
    Some(Cell {
        point,
        metrics: known.into_iter().filter_map(estimate).collect(),
        needs: Needs::new(),
        ..(*first).clone()
    })
}

/// The chapter on calls as text; none if no point has calls.
pub fn chapter(record: &Record, groups: &Groups) -> Option<Chapter> {
    let points: Vec<ChapterPoint> = calls(record, groups).iter().map(|at| tables(record, at)).collect();
    (!points.is_empty()).then_some(Chapter { title: "Call by call", about: None, points })
}

/// The chapter on calls for a page, with pictures; none if no point has calls.
pub fn page(record: &Record, groups: &Groups) -> Option<PageChapter> {
    let points = calls(record, groups);
    let chosen: Vec<(Metric, Vec<&Trial>)> =
        points.iter().map(|at| telling_trials(record, at.point, has_calls)).collect();
    let budget = Budget::new(chosen.iter().map(|(_, trials)| trials.len()).sum());
    let shown = |(nth, (at, (by, trials))): (usize, (&CallsAt, &(Metric, Vec<&Trial>)))| CallsOnPage {
        tables: tables(record, at),
        billing: billing(record, nth, at),
        by: by.words(),
        instances: instance_charts(&format!("instances-{nth}"), trials, budget),
        lines: waits(record, nth, at),
    };
    let shown: Vec<CallsOnPage> = points.iter().zip(&chosen).enumerate().map(shown).collect();
    PageChapter::new("calls", "Call by call", "calls.html", &shown)
}

fn billing(record: &Record, nth: usize, at: &CallsAt) -> Vec<BillingChart> {
    let first: Vec<&Cell> = at.rows.iter().filter(|row| row.is_first()).map(|row| &row.cell).collect();
    let of_calls = BARS.map(|role| record.part_metric(role));
    let of_warm = BARS.map(|role| record.metric(&format!("warm-{role}")));
    let cells = &record.at(at.point).cells;
    let charts = [
        billing_chart(format!("first-{nth}"), "the first call", &first, of_calls),
        billing_chart(format!("warm-{nth}"), "warm calls, median", cells, of_warm),
    ];
    charts.into_iter().flatten().collect()
}

/// The chart of wall times over calls, as far as each call has a row of its own; empty if there is nothing to draw.
fn waits(record: &Record, nth: usize, at: &CallsAt) -> Vec<LineChart> {
    let cells: Vec<&Cell> = at.rows.iter().map(|row| &row.cell).collect();
    let chart = |wall| line_chart(record, format!("calls-{nth}"), (CALL, CALL), "", &cells, wall, &[]);
    record.part_metric("wall").and_then(chart).into_iter().collect()
}

fn tables(record: &Record, CallsAt { place, rows, .. }: &CallsAt) -> ChapterPoint {
    let cells: Vec<&Cell> = rows.iter().map(|row| &row.cell).collect();
    let mut known = record.part_metrics_of(&cells);
    known.retain(|metric| !has_role(metric, &NOT_SHOWN));
    let share = |name: &str, of: fn(&Row) -> usize| -> Option<Filled> {
        let text = |row: &Row| format!("{} of {}", count(of(row) as f64), count(row.of as f64));
        let entries = rows.iter().map(|row| Entry::plain(text(row))).collect();
        let any = rows.iter().any(|row| of(row) > 0);
        any.then(|| (Column { name: name.to_owned(), numeric: false }, entries))
    };
    let points = distinct_points(&cells);
    let overview = |metric: &Metric| Overview {
        title: one_line(&format!("{} by call", metric.label())),
        sparse: false,
        table: matrix(&cells, &points, metric, value),
    };
    let cold = rows.iter().any(|row| row.cold > 0).then(|| Overview {
        title: "in how many of the trials each call was cold".to_owned(),
        sparse: false,
        table: cold_table(rows, &points),
    });
    let mut columns = vec![
        text_column(&cells, "contender", false, |cell| cell.contender.clone()),
        text_column(&cells, "call", false, |cell| value(&cell.point)),
    ];
    columns.extend(share("cold", |row| row.cold));
    columns.extend(share("failed", |row| row.failed));
    columns.extend(figures(record, &cells, &known));
    let asked = known.iter().copied().filter(|metric| has_role(metric, &OVERVIEWS)).map(overview);
    let is_merged = rows.iter().any(|row| row.calls.len() > 1);
    ChapterPoint {
        place: place.clone(),
        overviews: cold.into_iter().chain(asked).collect(),
        table: (!known.is_empty()).then(|| Table::from_columns(columns)),
        summary: Some("All figures of each call"),
        note: is_merged.then_some(REST),
    }
}

/// A table of contenders by calls, each cell as `cold/all`.
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
    Table::from_columns(columns)
}

fn value(point: &Point) -> String {
    point.get(CALL).map_or(String::new(), ToString::to_string)
}
