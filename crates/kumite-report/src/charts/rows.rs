//! Charts of estimates along a horizontal axis, a row for each contender, command or server. They serve where there
//! is no x axis, and for several figures of one cell.

use kumite_record::{Cell, Metric};
use serde::Serialize;

use super::frame::{Frame, Plot, ticks_apart};
use super::scale::Scale;
use super::{Look, MARKERS, shortened};
use crate::metric::Named;
use crate::record::Record;
use crate::tables::cells::lost;
use crate::words::bound::Bound;
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// A chart with a row for each contender, command or server.
#[derive(Debug, Serialize)]
pub struct RowChart {
    /// The id of the chart, unique in its page.
    pub id: String,
    pub title: String,
    pub description: String,
    pub frame: Frame,
    pub rows: Vec<Row>,
    /// The x of the value that rows are compared with, such as a ratio of 1; none if they are compared with none.
    pub border: Option<f64>,
    /// The markers and their names; empty if a row has only one figure.
    pub key: Vec<Key>,
}

/// The figures of one contender, command or server, on the common axis.
#[derive(Debug, Serialize)]
pub struct Row {
    pub label: String,
    pub y: f64,
    pub color: usize,
    /// The x of the first and of the last mark; none if the row has no mark, or if no line joins them.
    pub span: Option<(f64, f64)>,
    pub marks: Vec<RowMark>,
    /// The reason why the row has no mark; none if it has one.
    pub lost: Option<&'static str>,
}

/// A figure in a row.
#[derive(Debug, Serialize)]
pub struct RowMark {
    pub x: f64,
    pub whisker: Option<(f64, f64)>,
    pub marker: &'static str,
    /// True if the figure, or the upper end of its interval, is a lower bound; the chart shows an arrow.
    pub open: bool,
    pub text: String,
}

/// A marker and its name, below the chart.
#[derive(Debug, Serialize)]
pub struct Key {
    pub x: f64,
    pub marker: &'static str,
    pub label: String,
}

/// A metric that is drawn in each row, and its name in the key.
pub struct Figure<'m> {
    pub metric: &'m Metric,
    pub label: &'static str,
}

/// The plot without rows: its bottom is set by their number.
pub const PLOT: Plot = Plot { width: 532.0, left: 190.0, right: 506.0, top: 4.0, bottom: 4.0 };
/// The distance from the top of the plot to the middle of the first row; `ROW` is that between two rows.
const FIRST: f64 = 16.0;
const ROW: f64 = 23.0;
/// The most characters of a row's label: as many fit on a telephone, where letters are larger.
pub const LABEL_CHARS: usize = 21;
const KEY_WIDTH: f64 = 72.0;
const KEY_HEIGHT: f64 = 26.0;

/// A chart of the figures of cells, in the order of the cells; none if no cell has any of them. If `figures` is a
/// single one, a cell of which no trial counts keeps a row that says so.
pub fn row_chart(
    record: &Record,
    id: String,
    title: String,
    cells: &[&Cell],
    figures: &[Figure],
) -> Option<RowChart> {
    let is_lost = |cell: &Cell| figures.len() == 1 && cell.metrics.is_empty() && cell.needs.is_empty();
    let shown: Vec<&Cell> = cells
        .iter()
        .filter(|cell| figures.iter().any(|of| cell.metrics.contains_key(&of.metric.name)) || is_lost(cell))
        .copied()
        .collect();
    let values = shown.iter().flat_map(|cell| {
        let estimates = figures.iter().filter_map(|figure| cell.metrics.get(&figure.metric.name));
        estimates.flat_map(|of| [Some(of.estimate), of.low, of.high]).flatten()
    });
    // Percentiles of one distribution spread over decades by nature.
    let scale = match figures.len() {
        1 => Scale::rounded(figures[0].metric, values, PLOT.x())?,
        _ => Scale::logarithmic(values, PLOT.x())?,
    };
    let rows = shown.iter().enumerate().map(|(nth, cell)| row(record, cell, figures, &scale, row_y(nth)));
    let labels: Vec<&str> = figures.iter().filter(|_| figures.len() > 1).map(|figure| figure.label).collect();
    Some(chart(id, title, rows.collect(), &scale, figures.first()?.metric, &labels))
}

/// The y of the middle of row `nth`, counted from 0.
pub fn row_y(nth: usize) -> f64 {
    PLOT.top + FIRST + nth as f64 * ROW
}

/// A chart of these rows, with ticks in the units of `values`. `labels` are the names of the markers, in their order;
/// empty if there is only one marker, and then the chart has no key.
pub fn chart(
    id: String,
    title: String,
    rows: Vec<Row>,
    scale: &Scale,
    values: &impl Measured,
    labels: &[&str],
) -> RowChart {
    let bottom = row_y(rows.len()) - ROW / 2.0 + 4.0;
    let lost = rows.iter().filter_map(|row| Some(format!("{}: {}.", row.label, row.lost?)));
    let texts: Vec<String> =
        rows.iter().flat_map(|row| &row.marks).map(|mark| format!("{}.", mark.text)).chain(lost).collect();
    let key = labels.iter().enumerate().map(|(nth, label)| Key {
        x: PLOT.left + nth as f64 * KEY_WIDTH,
        marker: MARKERS[nth % MARKERS.len()],
        label: (*label).to_owned(),
    });
    RowChart {
        id,
        title: one_line(&format!("{title}{}", if scale.log { ", log scale" } else { "" })),
        description: one_line(&format!("Chart with a row for each contender. {}", texts.join(" "))),
        frame: Plot { bottom, ..PLOT }
            .rows(ticks_apart(scale, |value| values.tick(value)))
            .with_foot(if labels.is_empty() { 0.0 } else { KEY_HEIGHT }),
        rows,
        border: None,
        key: key.collect(),
    }
}

fn row(record: &Record, cell: &Cell, figures: &[Figure], scale: &Scale, y: f64) -> Row {
    let look = Look::of_contender(record.export, &cell.contender);
    let mark = |(nth, figure): (usize, &Figure)| {
        let of = cell.metrics.get(&figure.metric.name).filter(|of| of.estimate.is_finite())?;
        let bound = Bound::new(record, cell, &figure.metric.name);
        let (text, note) = figure.metric.bounded(of, bound);
        let note = note.map_or(String::new(), |note| format!(" ({note})"));
        Some(RowMark {
            x: scale.at(of.estimate),
            // Where the upper end is not known the arrow is all there is of it.
            whisker: of.low.zip(of.high).map(|(low, high)| {
                let end = if bound.high { of.estimate } else { high };
                (scale.at(low), scale.at(end))
            }),
            marker: if figures.len() > 1 { MARKERS[nth % MARKERS.len()] } else { look.marker },
            open: bound.estimate || bound.high,
            text: one_line(&format!("{}, {}: {text}{note}", cell.contender, figure.metric.words())),
        })
    };
    let marks: Vec<RowMark> = figures.iter().enumerate().filter_map(mark).collect();
    let span = marks.first().zip(marks.last()).map(|(first, last)| (first.x, last.x));
    let lost = span.is_none().then(|| lost(cell));
    Row { label: shortened(&one_line(&cell.contender), LABEL_CHARS), y, color: look.color, span, marks, lost }
}
