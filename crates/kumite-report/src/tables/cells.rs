//! The tables of cells, for any metrics.

use std::collections::{BTreeMap, HashMap, HashSet};

use kumite_record::{Better, Cell, Metric, Outcome, Point};
use serde::Serialize;

use crate::metric::Named;
use crate::record::Record;
use crate::tables::group::{Group, Groups, at};
use crate::words::bound::Bound;
use crate::words::quantity::Measured;
use crate::words::steadiness::{needs, of_cell};
use crate::words::text::one_line;

/// The tables of one group of points.
#[derive(Debug, Serialize)]
pub struct GroupTables {
    pub title: String,
    /// The table of the first metric over all points; none if there is only one point.
    pub overview: Option<Overview>,
    pub points: Vec<PointTables>,
}

/// A table of one metric, contenders by points.
#[derive(Debug, Serialize)]
pub struct Overview {
    pub title: String,
    /// True if some cells are empty because they were not planned.
    pub sparse: bool,
    pub table: Table,
}

/// The tables of one point.
#[derive(Debug, Serialize)]
pub struct PointTables {
    /// The point, in the words that name it among all points.
    pub place: String,
    /// The order of the rows, in words; empty if there is none.
    pub order: String,
    pub main: Table,
    /// The table of metrics that the main table has no room for; none if there are no such metrics.
    pub details: Option<Table>,
    /// A line for each cell, in the format that the source of the experiment used; empty if it used none.
    pub source_lines: Vec<String>,
}

/// The columns and lines that only one kind of workload has.
pub struct OfKind<'a> {
    /// A column of the main table that is no metric.
    pub column: &'a dyn Fn(&[&Cell], &Point) -> Option<Filled>,
    /// The lines of cells in the format that the source of the experiment used.
    pub source_lines: &'a dyn Fn(&[&Cell]) -> Vec<String>,
}

/// Columns and rows of text.
#[derive(Debug, Serialize)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Entry>>,
    /// True if every figure keeps its interval in formats without small print; false if only the first one does.
    pub all_notes: bool,
}

/// A column's head and entries.
pub type Filled = (Column, Vec<Entry>);

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
    /// True if a figure, or a part of it, is missing because trials do not count or were not made.
    pub lost: bool,
}

impl Table {
    /// A table of columns that all have the same length.
    pub fn from_columns(columns: Vec<Filled>) -> Table {
        let length = columns.first().map_or(0, |(_, entries)| entries.len());
        let (columns, entries): (Vec<Column>, Vec<Vec<Entry>>) = columns.into_iter().unzip();
        let mut entries: Vec<_> = entries.into_iter().map(Vec::into_iter).collect();
        let rows = (0..length).map(|_| entries.iter_mut().filter_map(Iterator::next).collect()).collect();
        Table { columns, rows, all_notes: false }
    }

    /// The rows as text, for formats without small print: unless `all_notes` is set, only the first figure keeps its
    /// interval.
    pub fn rows_flat(&self) -> impl Iterator<Item = Vec<String>> {
        let first = self.columns.iter().position(|column| column.numeric);
        self.rows.iter().map(move |row| {
            let flat = |(index, entry): (usize, &Entry)| match &entry.note {
                Some(note) if self.all_notes || Some(index) == first => format!("{} ({note})", entry.text),
                _ => entry.text.clone(),
            };
            row.iter().enumerate().map(flat).collect()
        })
    }
}

impl Entry {
    pub fn plain(text: String) -> Entry {
        Entry { text, ..Entry::default() }
    }
}

/// A column with a text for each cell, each on one line.
pub fn text_column(cells: &[&Cell], name: &str, numeric: bool, of: impl Fn(&Cell) -> String) -> Filled {
    let entries = cells.iter().map(|cell| Entry::plain(one_line(&of(cell))));
    (Column { name: name.to_owned(), numeric }, entries.collect())
}

/// The tables of a group: an overview if there are several points, then those of each point.
pub fn group_tables(record: &Record, groups: &Groups, group: &Group, own: &OfKind) -> GroupTables {
    GroupTables {
        title: group.title(groups),
        overview: overview(record, groups, group),
        points: group.points.iter().map(|point| tables(record, groups, group, point, own)).collect(),
    }
}

fn overview(record: &Record, groups: &Groups, group: &Group) -> Option<Overview> {
    let over = groups.over()?;
    if group.points.len() < 2 {
        return None;
    }
    let cells = group.cells(record);
    let metric = record.metrics_of(&cells).into_iter().next()?;
    let title = format!("{} over {over}", metric.label());
    let value =
        |point: &Point| groups.x.and_then(|x| point.get(x)).map_or(String::new(), ToString::to_string);
    let contenders =
        |cells: &[&Cell]| cells.iter().map(|cell| cell.contender.clone()).collect::<HashSet<_>>();
    let all = contenders(&cells).len();
    let sparse = group.points.iter().any(|point| contenders(&record.at(point).cells).len() < all);
    Some(Overview {
        sparse,
        title: at(&one_line(&title), &group.label, ", at "),
        table: matrix(&cells, &group.points, metric, value),
    })
}

/// The table of one metric, contenders by points. `value` gives the head of a point's column.
pub fn matrix(
    cells: &[&Cell],
    points: &[&Point],
    metric: &Metric,
    value: impl Fn(&Point) -> String,
) -> Table {
    let mut rows: Vec<Entry> = Vec::new();
    let mut row_of: HashMap<&str, usize> = HashMap::new();
    let mut cell_of: HashMap<(usize, &Point), &Cell> = HashMap::new();
    for cell in cells {
        let row = *row_of.entry(&cell.contender).or_insert(rows.len());
        if row == rows.len() {
            rows.push(Entry::plain(one_line(&cell.contender)));
        }
        cell_of.entry((row, &cell.point)).or_insert(cell);
    }
    let entry = |cell: &Cell| Entry {
        lost: cell.metrics.is_empty() && cell.needs.is_empty(),
        ..Entry::plain(match cell.metrics.get(&metric.name) {
            Some(estimate) => metric.text(estimate.estimate),
            None => cell.needs.get(&metric.name).map_or(lost(cell).to_owned(), |missing| needs(*missing)),
        })
    };
    let column = |point: &&Point| {
        let entries = (0..rows.len())
            .map(|row| cell_of.get(&(row, point)).map_or_else(Entry::default, |cell| entry(cell)));
        (Column { name: one_line(&value(point)), numeric: true }, entries.collect())
    };
    let columns: Vec<Filled> = points.iter().map(column).collect();
    let first = (Column { name: "contender".to_owned(), numeric: false }, rows);
    Table::from_columns(std::iter::once(first).chain(columns).collect())
}

/// The word in place of the figures of a planned cell that has none: `failed`, `disqualified` or `not measured`.
pub fn lost(cell: &Cell) -> &'static str {
    match (cell.failed, cell.disqualified) {
        (0, 0) => "not measured",
        (failed, disqualified) if failed >= disqualified => "failed",
        _ => "disqualified",
    }
}

fn tables(record: &Record, groups: &Groups, group: &Group, point: &Point, own: &OfKind) -> PointTables {
    let mut cells = record.at(point).cells.clone();
    let (details, main): (Vec<&Metric>, Vec<&Metric>) =
        record.metrics_of(&cells).into_iter().partition(|metric| metric.is_detail);
    let order = main.first().and_then(|metric| sort(&mut cells, metric)).unwrap_or_default();

    let names = || text_column(&cells, "contender", false, |cell| cell.contender.clone());
    let mut columns =
        vec![names(), text_column(&cells, "model", false, |cell| model(record, &cell.contender).to_owned())];
    columns.extend(figures(record, &cells, &main));
    if cells.iter().any(|cell| cell.steadiness.is_some()) {
        let column = Column { name: "over time".to_owned(), numeric: false };
        let entry = |cell: &&Cell| {
            let (text, note) = of_cell(record, cell).unwrap_or_default();
            Entry { text, note, lost: false }
        };
        columns.push((column, cells.iter().map(entry).collect()));
    }
    columns.extend((own.column)(&cells, point));
    columns.push(text_column(&cells, "trials", true, |cell| cell.trials.to_string()));
    let (head, mut entries) = text_column(&cells, "marks", false, |cell| marks(record, cell));
    for (entry, cell) in entries.iter_mut().zip(&cells) {
        entry.lost = cell.failed + cell.disqualified > 0;
    }
    columns.push((head, entries));
    let details = (!details.is_empty()).then(|| {
        Table::from_columns([names()].into_iter().chain(figures(record, &cells, &details)).collect())
    });
    // Where nobody has published anything, there is no form of a source's own.
    let has_source = record.export.run.question.source.is_some();
    let source_lines = if has_source { (own.source_lines)(&cells) } else { Vec::new() };
    PointTables {
        place: groups.full_place(group, point),
        order,
        main: Table::from_columns(columns),
        details,
        source_lines,
    }
}

/// Sorts cells by a metric, the best estimate first and those without one last, and returns the order in words. None,
/// and cells stay as they are, if neither direction of the metric is better.
pub fn sort(cells: &mut [&Cell], metric: &Metric) -> Option<String> {
    let better = metric.better?;
    let value = |cell: &Cell| cell.metrics.get(&metric.name).map(|estimate| estimate.estimate);
    cells.sort_by(|a, b| match (value(a), value(b)) {
        (Some(a), Some(b)) if better == Better::Higher => b.total_cmp(&a),
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    let extreme = if better == Better::Higher { "highest" } else { "lowest" };
    Some(format!("by {}, {extreme} first", one_line(&metric.words())))
}

/// The figure of a cell with its interval, marked if it is a lower bound. Without a figure, the entry says how many
/// more values a trial needs, or `–`.
pub fn figure(record: &Record, cell: &Cell, metric: &Metric) -> Entry {
    match cell.metrics.get(&metric.name) {
        Some(estimate) => {
            let (text, note) = metric.bounded(estimate, Bound::new(record, cell, &metric.name));
            Entry { text, note, lost: false }
        }
        None => Entry::plain(cell.needs.get(&metric.name).map_or("–".to_owned(), |missing| needs(*missing))),
    }
}

/// A column for each metric. A remark that a cell has no interval stands only once in its row.
pub fn figures(record: &Record, cells: &[&Cell], metrics: &[&Metric]) -> Vec<Filled> {
    let firsts: Vec<Option<String>> = metrics
        .first()
        .map_or_else(Vec::new, |first| cells.iter().map(|cell| figure(record, cell, first).note).collect());
    let column = |(nth, metric): (usize, &&Metric)| {
        let entries = cells.iter().zip(&firsts).map(|(cell, first)| {
            let mut entry = figure(record, cell, metric);
            let has_interval = cell.metrics.get(&metric.name).is_some_and(|metric| metric.low.is_some());
            let said = nth > 0 && *first == entry.note;
            entry.note.take_if(|_| !has_interval && said);
            // Once in its row, where a reader looks first.
            if nth == 0 && cell.metrics.is_empty() && cell.needs.is_empty() {
                (entry.text, entry.lost) = (lost(cell).to_owned(), true);
            }
            entry
        });
        (Column { name: one_line(&metric.label()), numeric: true }, entries.collect())
    };
    metrics.iter().enumerate().map(column).collect()
}

pub fn model<'a>(record: &Record<'a>, name: &str) -> &'a str {
    record.export.contenders.iter().find(|contender| contender.name == name).map_or("", |c| &c.model)
}

/// The marks, failures and disqualifications of a cell's trials, with their numbers; empty if there are none.
pub fn marks(record: &Record, cell: &Cell) -> String {
    let of = |n: u32, what: &str| (n > 0).then(|| format!("{n} {what}"));
    let mut kinds = BTreeMap::<&str, u32>::new();
    let all = record
        .trials_of(cell)
        .filter(|trial| trial.outcome == Outcome::Ok)
        .flat_map(|trial| trial.marks.iter().map(|mark| mark.as_str()));
    for kind in all {
        *kinds.entry(kind).or_default() += 1;
    }
    let marked = of(cell.marked, "marked").map(|marked| match kinds.is_empty() {
        true => marked,
        false => kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect::<Vec<_>>().join(", "),
    });
    let none = (cell.trials == 0).then(|| "not measured".to_owned());
    let marks = [none, of(cell.failed, "failed"), of(cell.disqualified, "disqualified"), marked];
    marks.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The points of these cells, each once.
pub fn distinct_points<'a>(cells: &[&'a Cell]) -> Vec<&'a Point> {
    let mut seen: HashSet<&Point> = HashSet::new();
    cells.iter().map(|cell| &cell.point).filter(|point| seen.insert(point)).collect()
}
