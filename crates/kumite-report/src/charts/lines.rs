//! Estimates over the x axis, with one line for each contender.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{Cell, Metric, Unit};
use serde::Serialize;

use super::frame::{Frame, Plot, Tick, ticks};
use super::scale::Scale;
use super::{Look, shortened};
use crate::metric::Named;
use crate::record::Record;
use crate::tables::cells::lost;
use crate::tables::group::{Group, Groups, at, x_value};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The chart of one metric over an axis.
#[derive(Debug, Serialize)]
pub struct LineChart {
    /// The id of the chart, unique in its page.
    pub id: String,
    pub title: String,
    pub description: String,
    pub frame: Frame,
    pub lines: Vec<Line>,
    /// The lines of published figures; empty in a report, which has them in tables.
    pub theirs: Vec<TheirLine>,
    /// The contenders that have no figure, each with the reason; none if all have one.
    pub without: Option<String>,
}

/// The line of one contender, from the first value of the axis to the last.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The contender's name, cut to 20 characters.
    pub label: String,
    /// The height of the label, in pixels from the top. Labels that would cover each other are moved apart.
    pub label_y: f64,
    /// The x and y of the last dot.
    pub end: (f64, f64),
    pub look: Look,
    /// The line as an SVG path, broken where a cell has no figure.
    pub path: String,
    pub dots: Vec<Dot>,
}

/// Published figures of a contender, to be drawn beside its estimates. Each point is a value of the axis, from first to
/// last, and its figure.
pub struct Theirs {
    pub contender: String,
    pub points: Vec<(f64, f64)>,
}

/// The line of a contender's published figures.
#[derive(Debug, Serialize)]
pub struct TheirLine {
    pub look: Look,
    /// The line as an SVG path.
    pub path: String,
    pub dots: Vec<Dot>,
}

/// An estimate on a line.
#[derive(Debug, Serialize)]
pub struct Dot {
    pub x: f64,
    pub y: f64,
    /// Both ends of the interval; none if it is not known.
    pub whisker: Option<(f64, f64)>,
    pub text: String,
}

/// The least plot. With many lines it is higher, so that each has room for its label at the right.
const PLOT: Plot = Plot { width: 500.0, left: 74.0, right: 318.0, top: 12.0, bottom: 268.0 };
/// The distance of the first and the last dot from the sides of the plot.
const INDENT: f64 = 10.0;
const LABEL_HEIGHT: f64 = 17.0;
const LABEL_CHARS: usize = 20;

/// The most charts of a group: more would hide the first ones.
const MOST_CHARTS: usize = 8;

/// Charts of a group over the x axis: of the metrics that `is_drawn` picks, at most eight, or of the first metric if it
/// picks none. Empty if there is no x axis, or if it has only one value with figures.
pub fn line_charts(
    record: &Record,
    groups: &Groups,
    group: &Group,
    id: &str,
    is_drawn: impl Fn(&Metric) -> bool,
) -> Vec<LineChart> {
    let Some(x) = groups.x else { return Vec::new() };
    let cells = group.cells(record);
    let known = record.metrics_of(&cells);
    let drawn: Vec<&Metric> =
        known.iter().filter(|metric| is_drawn(metric)).take(MOST_CHARTS).copied().collect();
    let drawn = if drawn.is_empty() { known.into_iter().take(1).collect() } else { drawn };
    let over = x.replace('_', " ");
    let chart = |(nth, metric)| {
        line_chart(record, format!("{id}-{nth}"), (x, &over), &group.label, &cells, metric, &[])
    };
    drawn.into_iter().enumerate().filter_map(chart).collect()
}

/// The chart of a metric over `axis`; none if fewer than two of the axis's values are numbers with a figure. `over` is
/// the axis in words. `label` names the values of the other axes, for the description; it may be empty. `theirs` are
/// drawn beside the estimates.
pub fn line_chart(
    record: &Record,
    id: String,
    (axis, over): (&str, &str),
    label: &str,
    cells: &[&Cell],
    metric: &Metric,
    theirs: &[Theirs],
) -> Option<LineChart> {
    let found: Vec<(f64, &Cell)> = cells
        .iter()
        .filter(|cell| has_figure(cell, metric))
        .filter_map(|cell| Some((x_value(&cell.point, axis)?, *cell)))
        .collect();
    let published = || theirs.iter().flat_map(|of| of.points.iter().copied());
    let mut xs: Vec<f64> = found.iter().map(|(x, _)| *x).chain(published().map(|(x, _)| x)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    if xs.len() < 2 {
        return None;
    }
    let ys = found.iter().flat_map(|(_, cell)| {
        let of = &cell.metrics[&metric.name];
        [Some(of.estimate), of.low, of.high].into_iter().flatten()
    });
    let x_scale = Scale::exact(xs.iter().copied(), (PLOT.left + INDENT, PLOT.right - INDENT))?;
    let names: BTreeSet<&str> = found.iter().map(|(_, cell)| &*cell.contender).collect();
    let bottom = PLOT.bottom.max(PLOT.top + LABEL_HEIGHT * names.len() as f64);
    let plot = Plot { bottom, ..PLOT };
    let y_scale = Scale::rounded(metric, ys.chain(published().map(|(_, y)| y)), plot.y())?;
    let x_title = one_line(&format!("{over}{}", if x_scale.log { ", log scale" } else { "" }));

    let LineSet { mut lines, gaps, without } = line_set(record, axis, cells, metric, (&x_scale, &y_scale));
    move_labels_apart(&mut lines, bottom);

    let their_line = |theirs: &Theirs| {
        let dot = |(x, y): &(f64, f64)| Dot {
            x: x_scale.at(*x),
            y: y_scale.at(*y),
            whisker: None,
            text: one_line(&format!(
                "{}, {axis} = {x}: {}, as published",
                theirs.contender,
                metric.as_given(*y)
            )),
        };
        let dots: Vec<Dot> = theirs.points.iter().map(dot).collect();
        let steps = dots
            .iter()
            .enumerate()
            .map(|(nth, dot)| format!("{}{:.1},{:.1}", if nth == 0 { 'M' } else { 'L' }, dot.x, dot.y));
        TheirLine { look: Look::of_contender(record.export, &theirs.contender), path: steps.collect(), dots }
    };

    Some(LineChart {
        id,
        title: one_line(&format!("{}{}", metric.label(), if y_scale.log { ", log scale" } else { "" })),
        description: one_line(&format!(
            "Line chart of {} over {}, from first to last: {} All figures are in the tables.",
            metric.words(),
            at(over, label, ", at "),
            described(&lines, gaps)
        )),
        frame: plot
            .upright(x_ticks(&xs, &x_scale), ticks(&y_scale, |value| metric.tick(value)))
            .titled(&x_title),
        lines,
        theirs: theirs.iter().map(their_line).collect(),
        without: (!without.is_empty()).then(|| one_line(&without.join(", "))),
    })
}

/// The lines of a chart, before their labels are moved apart.
struct LineSet {
    lines: Vec<Line>,
    /// The contenders and values without a figure, each with the reason.
    gaps: Vec<String>,
    /// The contenders that have no figure, each with the reason.
    without: Vec<String>,
}

fn line_set(
    record: &Record,
    axis: &str,
    cells: &[&Cell],
    metric: &Metric,
    (x_scale, y_scale): (&Scale, &Scale),
) -> LineSet {
    let mut by_name: BTreeMap<&str, Vec<(f64, &Cell)>> = BTreeMap::new();
    for cell in cells {
        by_name.entry(&cell.contender).or_default().extend(x_value(&cell.point, axis).map(|x| (x, *cell)));
    }
    let mut set = LineSet { lines: Vec::new(), gaps: Vec::new(), without: Vec::new() };
    for (name, mut cells) in by_name {
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut dots: Vec<Dot> = Vec::new();
        let mut path = String::new();
        let mut pen = 'M';
        let mut why = None;
        for (x, cell) in cells {
            if !has_figure(cell, metric) {
                let value = cell.point.get(axis).map_or(String::new(), ToString::to_string);
                why = Some(lost(cell));
                set.gaps.push(format!("{name}, {axis} = {value}: {}.", lost(cell)));
                pen = 'M';
                continue;
            }
            let dot = dot(cell, metric, axis, x_scale.at(x), y_scale);
            path += &format!("{pen}{:.1},{:.1}", dot.x, dot.y);
            pen = 'L';
            dots.push(dot);
        }
        let Some(end) = dots.last().map(|dot| (dot.x, dot.y)) else {
            set.without.extend(why.map(|why| format!("{name} ({why})")));
            continue;
        };
        set.lines.push(Line {
            label: shortened(&one_line(name), LABEL_CHARS),
            label_y: end.1,
            end,
            look: Look::of_contender(record.export, name),
            path,
            dots,
        });
    }
    set
}

/// The first and the last dot of each line in words, then the gaps, for readers who do not see the chart.
fn described(lines: &[Line], gaps: Vec<String>) -> String {
    let line = |line: &Line| Some(format!("{}; {}.", line.dots.first()?.text, line.dots.last()?.text));
    lines.iter().filter_map(line).chain(gaps).collect::<Vec<_>>().join(" ")
}

fn has_figure(cell: &Cell, metric: &Metric) -> bool {
    cell.metrics.get(&metric.name).is_some_and(|metric| metric.estimate.is_finite())
}

fn dot(cell: &Cell, metric: &Metric, axis: &str, x: f64, y_scale: &Scale) -> Dot {
    let of = &cell.metrics[&metric.name];
    let (text, note) = metric.estimate(of);
    let note = note.map_or(String::new(), |note| format!(" ({note})"));
    let value = cell.point.get(axis).map_or(String::new(), ToString::to_string);
    Dot {
        x,
        y: y_scale.at(of.estimate),
        whisker: of
            .low
            .zip(of.high)
            .filter(|(low, high)| low.is_finite() && high.is_finite())
            .map(|(low, high)| (y_scale.at(low), y_scale.at(high))),
        text: one_line(&format!("{}, {axis} = {value}: {text}{note}", cell.contender)),
    }
}

/// A tick for each measured value, without those whose label would cover the one before.
fn x_ticks(xs: &[f64], scale: &Scale) -> Vec<Tick> {
    let mut ticks: Vec<Tick> = Vec::new();
    for x in xs {
        let tick = Tick { at: scale.at(*x), label: Unit::Number.as_given(*x) };
        let room = |last: &Tick| tick.at - last.at > 5.0 * (last.label.len() + tick.label.len()) as f64;
        if ticks.last().is_none_or(room) {
            ticks.push(tick);
        }
    }
    ticks
}

/// Moves labels down, from the top on, so that each is at least a label's height below the one before; then up again
/// from `bottom`, where they overflow.
fn move_labels_apart(lines: &mut [Line], bottom: f64) {
    lines.sort_by(|a, b| a.label_y.total_cmp(&b.label_y));
    let mut free = f64::NEG_INFINITY;
    for line in lines.iter_mut() {
        line.label_y = line.label_y.max(free);
        free = line.label_y + LABEL_HEIGHT;
    }
    let mut limit = bottom;
    for line in lines.iter_mut().rev() {
        line.label_y = line.label_y.min(limit);
        limit = line.label_y - LABEL_HEIGHT;
    }
}
