//! The measurements of one point as a table, for whatever metrics there are.

use std::collections::BTreeSet;

use kumite_record::{Cell, Export, Outcome, Point};
use serde::Serialize;

use crate::metric::{Better, Metric};
use crate::number::plural;
use crate::text::one_line;

/// One point's measurements.
#[derive(Debug, Serialize)]
pub struct PointTables {
    pub title: String,
    /// How the rows are ordered.
    pub order: String,
    pub main: Table,
    /// Metrics that the main table has no room for.
    pub details: Option<Table>,
    /// Each cell in the form that the source of the HTTP experiments used.
    pub source_lines: Vec<String>,
}

/// Column headings and rows of text.
#[derive(Debug, Serialize)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Entry>>,
}

/// The head of a column.
#[derive(Debug, Serialize)]
pub struct Column {
    pub name: String,
    pub numeric: bool,
}

/// A table's entry: a text, and the interval or remark that goes with it.
#[derive(Debug, Default, Serialize)]
pub struct Entry {
    pub text: String,
    pub note: Option<String>,
}

impl Table {
    /// Columns of equal length, as rows.
    fn of(columns: Vec<(Column, Vec<Entry>)>) -> Table {
        let length = columns.first().map_or(0, |(_, entries)| entries.len());
        let (columns, entries): (Vec<Column>, Vec<Vec<Entry>>) = columns.into_iter().unzip();
        let mut entries: Vec<_> = entries.into_iter().map(Vec::into_iter).collect();
        let rows = (0..length).map(|_| entries.iter_mut().filter_map(Iterator::next).collect()).collect();
        Table { columns, rows }
    }

    /// The rows for formats without small print: only the first figure keeps its interval.
    pub fn rows_flat(&self) -> impl Iterator<Item = Vec<String>> {
        let first = self.columns.iter().position(|column| column.numeric);
        self.rows.iter().map(move |row| {
            let flat = |(index, entry): (usize, &Entry)| match &entry.note {
                Some(note) if Some(index) == first => format!("{} ({note})", entry.text),
                _ => entry.text.clone(),
            };
            row.iter().enumerate().map(flat).collect()
        })
    }
}

/// The tables of every point, in the order of the plan.
pub fn points(export: &Export) -> Vec<PointTables> {
    let mut points: Vec<&Point> = export.run.points.iter().collect();
    for cell in &export.cells {
        if !points.contains(&&cell.point) {
            points.push(&cell.point);
        }
    }
    points.into_iter().map(|point| tables(export, point)).collect()
}

/// The metrics of these cells, in the order of a table's columns.
pub fn metrics<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Vec<Metric> {
    let names: BTreeSet<&str> =
        cells.into_iter().flat_map(|cell| cell.metrics.keys()).map(String::as_str).collect();
    let mut metrics: Vec<Metric> = names.into_iter().map(Metric::new).collect();
    metrics.sort_by_cached_key(Metric::rank);
    metrics
}

fn tables(export: &Export, point: &Point) -> PointTables {
    let mut cells: Vec<&Cell> = export.cells.iter().filter(|cell| cell.point == *point).collect();
    let (details, main): (Vec<Metric>, Vec<Metric>) =
        metrics(cells.iter().copied()).into_iter().partition(Metric::is_detail);
    let order = main.first().and_then(|metric| sort(&mut cells, metric)).unwrap_or_default();

    let words = |name: &str, numeric, of: &dyn Fn(&Cell) -> String| -> (Column, Vec<Entry>) {
        let entries = cells.iter().map(|cell| Entry { text: one_line(&of(cell)), note: None });
        (Column { name: name.to_owned(), numeric }, entries.collect())
    };
    let names = || words("contender", false, &|cell| cell.contender.clone());
    let mut columns = vec![names(), words("model", false, &|cell| model(export, &cell.contender).to_owned())];
    columns.extend(figures(&cells, &main));
    columns.push(words("trials", true, &|cell| cell.trials.to_string()));
    columns.push(words("marks", false, &|cell| marks(export, cell)));
    let details = (!details.is_empty())
        .then(|| Table::of([names()].into_iter().chain(figures(&cells, &details)).collect()));
    let source_lines = match export.run.kind.as_str() {
        "http" => cells.iter().filter_map(|cell| source_line(cell)).collect(),
        _ => Vec::new(),
    };
    PointTables { title: title(point), order, main: Table::of(columns), details, source_lines }
}

/// Best estimate first; what has none stays last. Says what the order is, where there is one.
fn sort(cells: &mut [&Cell], metric: &Metric) -> Option<String> {
    let better = metric.better()?;
    let value = |cell: &Cell| cell.metrics.get(&metric.name).map(|estimate| estimate.estimate);
    cells.sort_by(|a, b| match (value(a), value(b)) {
        (Some(a), Some(b)) if better == Better::Higher => b.total_cmp(&a),
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    let extreme = if better == Better::Higher { "highest" } else { "lowest" };
    Some(format!("by {}, {extreme} first", one_line(&metric.words())))
}

/// A column for each metric. That a cell has no interval is said once in its row.
fn figures(cells: &[&Cell], metrics: &[Metric]) -> Vec<(Column, Vec<Entry>)> {
    let estimate = |cell: &Cell, metric: &Metric| {
        let Some(estimate) = cell.metrics.get(&metric.name) else {
            return Entry { text: "–".to_owned(), note: None };
        };
        let (text, note) = metric.estimate(estimate);
        Entry { text, note }
    };
    let column = |(nth, metric): (usize, &Metric)| {
        let entries = cells.iter().map(|cell| {
            let mut entry = estimate(cell, metric);
            let has_interval = cell.metrics.get(&metric.name).is_some_and(|metric| metric.low.is_some());
            let said = nth > 0 && estimate(cell, &metrics[0]).note == entry.note;
            entry.note.take_if(|_| !has_interval && said);
            entry
        });
        (Column { name: one_line(&metric.label()), numeric: true }, entries.collect())
    };
    metrics.iter().enumerate().map(column).collect()
}

fn model<'a>(export: &'a Export, name: &str) -> &'a str {
    export.contenders.iter().find(|contender| contender.name == name).map_or("", |c| &c.model)
}

/// What a reader must know of a cell before its figures are believed.
fn marks(export: &Export, cell: &Cell) -> String {
    let of = |n: u32, what: &str| (n > 0).then(|| format!("{n} {what}"));
    let kinds: BTreeSet<&str> = export
        .trials
        .iter()
        .filter(|trial| trial.outcome == Outcome::Ok)
        .filter(|trial| trial.contender == cell.contender && trial.point == cell.point)
        .flat_map(|trial| trial.marks.iter().map(|mark| mark.as_str()))
        .collect();
    let marked = of(cell.marked, "marked").map(|marked| match kinds.is_empty() {
        true => marked,
        false => format!("{} {}", cell.marked, kinds.into_iter().collect::<Vec<_>>().join(", ")),
    });
    let marks = [of(cell.failed, "failed"), of(cell.disqualified, "disqualified"), marked];
    marks.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// `connections = 50, server_cores = 1`.
pub fn title(point: &Point) -> String {
    if point.0.is_empty() {
        return "all trials".to_owned();
    }
    let values: Vec<String> = point.0.iter().map(|(axis, value)| format!("{axis} = {value}")).collect();
    one_line(&values.join(", "))
}

/// `r: RECEIVED w: FINISHED e: FAILURES t: MEANms`, medians over blocks.
fn source_line(cell: &Cell) -> Option<String> {
    let value = |name: &str| cell.metrics.get(name).map(|metric| metric.estimate);
    let mean_ms = value("response_mean_us").map_or("–".to_owned(), |us| format!("{:.3}", us / 1e3));
    Some(format!(
        "{}: r: {:.0} w: {:.0} e: {:.0} t: {mean_ms}ms ({})",
        one_line(&cell.contender),
        value("received")?,
        value("finished")?,
        value("failures")?,
        plural(cell.metrics["received"].n, "block"),
    ))
}
