//! Published figures beside those of a run, with the ratio of ours to theirs. No verdict rests on this ratio, because
//! the published figures are of another machine.

use std::collections::BTreeSet;

use kumite_record::{AxisValue, Cell, ContenderStatus, Metric, Point, Published, PublishedRow};
use serde::Serialize;

use crate::metric::Named;
use crate::record::Record;
use crate::tables::cells::{Column, Entry, Filled, Table, figure};
use crate::tables::group::{Groups, title};
use crate::words::bound::Bound;
use crate::words::number::significant;
use crate::words::quantity::Measured;
use crate::words::text::{clean, one_line};

/// Published figures and those of the run, in words and tables.
#[derive(Debug, Serialize)]
pub struct PublishedText {
    /// The sentence on the values of the run's points that no table names; none if there are no such values.
    pub ours: Option<String>,
    /// The note on how the published figures came about, by paragraph.
    pub note: Vec<String>,
    /// The sentence that names the published metrics that this run did not measure; none if it measured all of them.
    pub alone: Option<String>,
    /// A table for each metric that was both published and measured.
    pub metrics: Vec<Beside>,
    /// The published rows of other series than the main ones; none if there are no such rows.
    pub others: Option<Table>,
}

/// The table of one metric, as published and as measured.
#[derive(Debug, Serialize)]
pub struct Beside {
    pub title: String,
    pub table: Table,
    /// True if the source's series disagree on the order of two contenders at some point.
    pub disagree: bool,
}

pub fn published(record: &Record, groups: &Groups) -> Option<PublishedText> {
    let published = record.export.run.published.as_ref()?;
    let is_main = |row: &&PublishedRow| published.main.is_empty() || published.main.contains(&row.series);
    let (main, others): (Vec<&PublishedRow>, Vec<&PublishedRow>) = published.rows.iter().partition(is_main);
    let parts: &[Cell] = if has_parts(record, published) { &record.export.parts } else { &[] };
    let ours: BTreeSet<&str> = record
        .export
        .cells
        .iter()
        .chain(parts)
        .flat_map(|cell| cell.metrics.keys())
        .map(String::as_str)
        .collect();
    let all = metrics(record, &main);
    let (both, theirs): (Vec<Metric>, Vec<Metric>) =
        all.into_iter().partition(|metric| ours.contains(&*metric.name));
    Some(PublishedText {
        ours: groups.defaults().map(|defaults| format!("Ours, unless another value is named: {defaults}.")),
        note: clean(&published.note)
            .split("\n\n")
            .map(one_line)
            .filter(|paragraph| !paragraph.is_empty())
            .collect(),
        alone: (!theirs.is_empty()).then(|| {
            let names: Vec<String> = theirs.iter().map(|metric| one_line(&metric.label())).collect();
            format!("Published, and not measured in this run: {}.", names.join(", "))
        }),
        metrics: both.iter().map(|metric| beside(record, groups, published, &main, metric)).collect(),
        others: (!others.is_empty()).then(|| rows_table(record, &others)),
    })
}

fn beside(
    record: &Record,
    groups: &Groups,
    published: &Published,
    main: &[&PublishedRow],
    metric: &Metric,
) -> Beside {
    let mut series: Vec<&str> = Vec::new();
    let mut keys: Vec<(&Point, &str)> = Vec::new();
    for row in main.iter().filter(|row| row.metrics.contains_key(&metric.name)) {
        if !series.contains(&row.series.as_str()) {
            series.push(&row.series);
        }
        if !keys.contains(&(&row.point, &row.contender)) {
            keys.push((&row.point, &row.contender));
        }
    }
    let value = |series: &str, point: &Point, contender: &str| {
        main.iter()
            .find(|row| row.series == series && row.point == *point && row.contender == contender)
            .and_then(|row| row.metrics.get(&metric.name).copied())
    };
    let disagree = |(point, contender): &(&Point, &str)| {
        keys.iter().filter(|(other, _)| other == point).any(|(_, rival)| {
            let ahead = series.iter().filter_map(|series| {
                let (ours, theirs) = (value(series, point, contender)?, value(series, point, rival)?);
                ours.partial_cmp(&theirs).filter(|order| order.is_ne())
            });
            ahead.collect::<BTreeSet<_>>().len() > 1
        })
    };
    let entry = |value: Option<f64>| {
        Entry::plain(value.map_or(String::new(), |value| one_line(&metric.as_given(value))))
    };
    let text = |text: String| Entry::plain(one_line(&text));

    let names = keys.iter().map(|(point, name)| text(format!("{name}, {}", title(point))));
    let mut columns: Vec<Filled> = vec![(head("contender", false), names.collect())];
    for series in &series {
        let entries = keys.iter().map(|(point, name)| entry(value(series, point, name)));
        columns.push((head(&format!("published, {series}"), true), entries.collect()));
    }
    let remarks: Vec<&str> =
        keys.iter().map(|key| if disagree(key) { "its runs disagree" } else { "" }).collect();
    let disagree = remarks.iter().any(|remark| !remark.is_empty());
    if disagree {
        columns.push((head("remark", false), remarks.into_iter().map(|r| text(r.to_owned())).collect()));
    }
    let theirs = |(point, contender): &(&Point, &str)| {
        middle(series.iter().filter_map(|series| value(series, point, contender)).collect())
    };
    let theirs: Vec<Option<f64>> = keys.iter().map(theirs).collect();
    let of = if series.len() > 1 { "median published" } else { "published" };
    columns.extend(ours(record, groups, published, &keys, metric, (of, &theirs)));
    let table = Table { all_notes: true, ..Table::from_columns(columns) };
    Beside { title: one_line(&metric.label()), table, disagree }
}

/// The median: the value in the middle, or the mean of the middle two. None if there is no value.
pub fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some((values[last / 2] + values[last.div_ceil(2)]) / 2.0)
}

/// The measured figures: a column for each group that has any of `keys` (a point and a contender), and after it one
/// with their ratios to `theirs`, which `of` names.
fn ours(
    record: &Record,
    groups: &Groups,
    published: &Published,
    keys: &[(&Point, &str)],
    metric: &Metric,
    (of, theirs): (&str, &[Option<f64>]),
) -> Vec<Filled> {
    let mut columns = Vec::new();
    for group in groups.calm() {
        let mut cells = group.cells(record);
        if has_parts(record, published) {
            cells.extend(group.points.iter().flat_map(|point| record.at(point).parts.iter().copied()));
        }
        let ours = |(point, contender): &(&Point, &str)| {
            let fits = |cell: &&&Cell| {
                cell.contender == *contender
                    && published.beside.iter().all(|axis| same(value_of(record, cell, axis), point.get(axis)))
            };
            cells.iter().find(fits).copied()
        };
        let cells: Vec<Option<&Cell>> = keys.iter().map(ours).collect();
        if cells.iter().any(Option::is_some) {
            let label = if group.is_default { "ours".to_owned() } else { format!("ours, {}", group.label) };
            let figure =
                |cell: &Option<&Cell>| cell.map(|cell| figure(record, cell, metric)).unwrap_or_default();
            columns.push((head(&label, true), cells.iter().map(figure).collect()));
            let ratios = cells.iter().zip(theirs).zip(keys).map(|((cell, theirs), (_, contender))| {
                Entry::plain(one_line(&ratio(record, *cell, *theirs, contender, metric)))
            });
            columns.push((head(&format!("{label} / {of}"), true), ratios.collect()));
        }
    }
    columns
}

/// The ratio of our figure to theirs, or the reason why there is none.
fn ratio(
    record: &Record,
    ours: Option<&Cell>,
    theirs: Option<f64>,
    contender: &str,
    metric: &Metric,
) -> String {
    let Some(cell) = ours else {
        let known = record.export.contenders.iter().find(|known| known.name == contender);
        return match known {
            None => "no such contender".to_owned(),
            Some(known) if known.status != ContenderStatus::Ran => known.status.as_str().to_owned(),
            Some(_) => "not measured".to_owned(),
        };
    };
    match (cell.metrics.get(&metric.name), theirs) {
        (None, _) => "no figure".to_owned(),
        (_, None) => "not published".to_owned(),
        (_, Some(0.0)) => "published as 0".to_owned(),
        (Some(ours), Some(theirs)) => {
            let least = if Bound::new(record, cell, &metric.name).estimate { "≥ " } else { "" };
            format!("{least}{} ×", significant(ours.estimate / theirs, 3))
        }
    }
}

/// True if the figures were published for parts of trials, such as single calls.
fn has_parts(record: &Record, published: &Published) -> bool {
    record.export.run.within.as_ref().is_some_and(|within| published.beside.contains(&within.axis))
}

/// A table of published rows, with all their figures.
fn rows_table(record: &Record, rows: &[&PublishedRow]) -> Table {
    let column = |name: &str, of: &dyn Fn(&PublishedRow) -> String| -> Filled {
        (head(name, false), rows.iter().map(|row| Entry::plain(one_line(&of(row)))).collect())
    };
    let mut columns = vec![
        column("series", &|row| row.series.clone()),
        column("contender", &|row| row.contender.clone()),
        column("at", &|row| title(&row.point)),
    ];
    for metric in metrics(record, rows) {
        let value = |row: &&PublishedRow| {
            let value = row.metrics.get(&metric.name).map(|value| metric.as_given(*value));
            Entry::plain(value.unwrap_or_default())
        };
        columns.push((head(&metric.label(), true), rows.iter().map(value).collect()));
    }
    Table::from_columns(columns)
}

/// The metrics of the rows: those of the record in its order, then the source's own by name.
fn metrics(record: &Record, rows: &[&PublishedRow]) -> Vec<Metric> {
    let mut names: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.metrics.keys()).map(String::as_str).collect();
    let ours = record.metrics.iter().chain(&record.part_metrics);
    let mut metrics: Vec<Metric> = ours.filter(|metric| names.remove(&*metric.name)).cloned().collect();
    metrics.extend(names.into_iter().map(Metric::named));
    metrics
}

fn head(name: &str, numeric: bool) -> Column {
    Column { name: one_line(name), numeric }
}

fn value_of<'a>(record: &Record<'a>, cell: &'a Cell, axis: &str) -> Option<&'a AxisValue> {
    cell.point.get(axis).or_else(|| record.export.run.workload.get(axis))
}

fn same(a: Option<&AxisValue>, b: Option<&AxisValue>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || a.number().is_some_and(|number| Some(number) == b.number()),
        _ => false,
    }
}
