//! Charts of the wall time of calls and of their bills, with up to three bars for each contender.

use kumite_record::{Cell, Metric, Unit};
use serde::Serialize;

use crate::charts::frame::{Frame, Plot, ticks_apart, time_from_zero};
use crate::charts::scale::Scale;
use crate::charts::{shortened, tenth};
use crate::metric::Named;
use crate::tables::cells::lost;
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// A chart of the wall time and both billings of calls.
#[derive(Debug, Serialize)]
pub struct BillingChart {
    /// The id of the chart, unique in its page.
    pub id: String,
    pub title: String,
    pub description: String,
    pub frame: Frame,
    pub rows: Vec<Row>,
}

/// The bars of one contender, one for each figure.
#[derive(Debug, Serialize)]
pub struct Row {
    pub label: String,
    /// The y of the middle of the bars.
    pub y: f64,
    pub bars: Vec<Bar>,
    /// The reason why the contender has no bar; none if it has any.
    pub lost: Option<&'static str>,
}

/// One figure as a bar, with its value at the bar's end.
#[derive(Debug, Serialize)]
pub struct Bar {
    pub class: &'static str,
    pub y: f64,
    pub width: f64,
    /// Both ends of the interval; none if it is not known or too short to be seen.
    pub whisker: Option<(f64, f64)>,
    /// The x behind which the value is written: the end of the bar or of its interval.
    pub end: f64,
    pub value: String,
    pub text: String,
}

/// The styles of a contender's bars, from top to bottom. They are the roles of the figures of single calls, too.
pub const BARS: [&str; 3] = ["wall", "billed-2016", "billed-2025"];

/// The plot without bars: its bottom is set by their number, and the room at its right is for their values.
const PLOT: Plot = Plot { width: 532.0, left: 170.0, right: 425.0, top: 8.0, bottom: 8.0 };
const STEP: f64 = 16.0;
const GAP: f64 = 12.0;
const LABEL_CHARS: usize = 20;
/// The least width of a bar whose value is above 0, so that it is seen.
const LEAST: f64 = 1.5;

/// A chart with a row for each cell that has one of the metrics, or has no figure at all, in the order of the cells;
/// none if no cell has one of the metrics. `metrics` are in the order of `BARS`, with a none for each that the record
/// lacks.
pub fn billing_chart(
    id: String,
    title: &str,
    cells: &[&Cell],
    metrics: [Option<&Metric>; BARS.len()],
) -> Option<BillingChart> {
    let metrics: Vec<(&Metric, &str)> =
        metrics.into_iter().zip(BARS).filter_map(|(metric, class)| Some((metric?, class))).collect();
    let shown: Vec<&&Cell> = cells
        .iter()
        .filter(|cell| {
            cell.metrics.is_empty() || metrics.iter().any(|(of, _)| cell.metrics.contains_key(&of.name))
        })
        .collect();
    let most = shown
        .iter()
        .flat_map(|cell| metrics.iter().filter_map(|(of, _)| cell.metrics.get(&of.name)))
        .map(|of| of.high.unwrap_or(of.estimate).max(of.estimate))
        .filter(|value| value.is_finite())
        .reduce(f64::max)?;
    let scale = Scale::linear(0.0, most, PLOT.x());
    let height = GAP + metrics.len() as f64 * STEP;
    let row = |(nth, cell): (usize, &&&Cell)| {
        let top = PLOT.top + nth as f64 * height + GAP / 2.0;
        let bars: Vec<Bar> = metrics
            .iter()
            .enumerate()
            .filter_map(|(nth, of)| bar(cell, of, &scale, top + nth as f64 * STEP))
            .collect();
        Row {
            label: shortened(&one_line(&cell.contender), LABEL_CHARS),
            y: top + metrics.len() as f64 * STEP / 2.0,
            lost: bars.is_empty().then(|| lost(cell)),
            bars,
        }
    };
    let rows: Vec<Row> = shown.iter().enumerate().map(row).collect();
    let bottom = PLOT.top + rows.len() as f64 * height;
    let texts = rows.iter().map(|row| {
        let bars: Vec<&str> = row.bars.iter().map(|bar| &*bar.text).collect();
        row.lost.map_or_else(|| bars.join("; ") + ".", |lost| format!("{}: {lost}.", row.label))
    });
    Some(BillingChart {
        id,
        title: one_line(title),
        description: one_line(&format!(
            "Chart with three bars for each contender. {}",
            texts.collect::<Vec<_>>().join(" ")
        )),
        frame: Plot { bottom, ..PLOT }.rows(ticks_apart(&scale, time_from_zero(Unit::Milliseconds))),
        rows,
    })
}

fn bar(cell: &Cell, (metric, class): &(&Metric, &'static str), scale: &Scale, y: f64) -> Option<Bar> {
    let of = cell.metrics.get(&metric.name).filter(|of| of.estimate.is_finite())?;
    let (value, note) = metric.estimate(of);
    let note = note.map_or(String::new(), |note| format!(" ({note})"));
    let least = if of.estimate > 0.0 { LEAST } else { 0.0 };
    let width = tenth((scale.at(of.estimate) - PLOT.left).max(least));
    let whisker = of.low.zip(of.high).filter(|(low, high)| low != high);
    let whisker = whisker.map(|(low, high)| (scale.at(low), scale.at(high)));
    Some(Bar {
        class,
        y,
        width,
        end: whisker.map_or(PLOT.left + width, |(_, high)| high.max(PLOT.left + width)),
        whisker: whisker.filter(|(low, high)| high - low >= 2.0),
        value: metric.text(of.estimate),
        text: one_line(&format!("{}, {}: {value}{note}", cell.contender, metric.words())),
    })
}
