//! Line charts as plain geometry; `chart.html` draws them. Estimates over a numeric axis, one line a contender.

use std::collections::BTreeMap;

use kumite_record::{AxisValue, Cell, Export, Point};
use serde::Serialize;

use crate::metric::Metric;
use crate::table::{metrics, title};
use crate::text::one_line;

/// Charts over one axis, all other axes fixed.
#[derive(Debug, Serialize)]
pub struct ChartGroup {
    pub title: String,
    pub charts: Vec<Chart>,
}

/// One metric over an axis. Lengths are in the chart's own units.
#[derive(Debug, Serialize)]
pub struct Chart {
    /// Unique in its page.
    pub id: String,
    pub title: String,
    pub description: String,
    pub x_title: String,
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    pub lines: Vec<Line>,
}

/// A mark on an axis.
#[derive(Debug, Serialize)]
pub struct Tick {
    pub at: f64,
    pub label: String,
}

/// A contender's line.
#[derive(Debug, Serialize)]
pub struct Line {
    pub name: String,
    /// The name, cut to the room there is.
    pub label: String,
    /// Where the label is; labels that would cover each other are moved apart.
    pub label_y: f64,
    /// Where the line ends.
    pub end: (f64, f64),
    pub color: usize,
    /// Outline of the marker, around the origin.
    pub marker: &'static str,
    pub path: String,
    pub dots: Vec<Dot>,
}

/// An estimate.
#[derive(Debug, Serialize)]
pub struct Dot {
    pub x: f64,
    pub y: f64,
    /// Both ends of the interval, where there is one.
    pub whisker: Option<(f64, f64)>,
    pub text: String,
}

const WIDTH: f64 = 500.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 318.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 268.0;
const LABEL_HEIGHT: f64 = 17.0;
const LABEL_CHARS: usize = 20;
/// From this factor between the ends on, an axis is logarithmic.
const DECADES: f64 = 30.0;

/// As many colours as the style sheet has. With one marker more than colours, 42 contenders differ in one or the other.
const COLORS: usize = 6;
const MARKERS: [&str; COLORS + 1] = [
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "M-3.6,-3.6h7.2v7.2h-7.2z",
    "M0,-4.8L4.6,3.4H-4.6z",
    "M0,-5L5,0L0,5L-5,0z",
    "M0,4.8L4.6,-3.4H-4.6z",
    "M-1.6,-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",
    "M0,-4.8L4.6,-1.5L2.8,3.9H-2.8L-4.6,-1.5z",
];

/// What is drawn over each axis where it was measured; where none of these was, the first metric of the table is.
const DRAWN: &[&str] = &["throughput_rps", "response_mean_us", "response_p99_us"];

/// One group for each numeric axis with at least two values and each combination of the other axes.
pub fn chart_groups(export: &Export) -> Vec<ChartGroup> {
    let mut axes: Vec<&str> =
        export.cells.iter().flat_map(|cell| cell.point.0.keys()).map(String::as_str).collect();
    axes.sort_unstable();
    axes.dedup();
    let mut groups = Vec::new();
    for axis in axes {
        let mut rests: Vec<(Point, Vec<&Cell>)> = Vec::new();
        for cell in &export.cells {
            if cell.point.get(axis).and_then(AxisValue::number).is_none() {
                continue;
            }
            let mut rest = cell.point.clone();
            rest.0.remove(axis);
            match rests.iter_mut().find(|(known, _)| *known == rest) {
                Some((_, cells)) => cells.push(cell),
                None => rests.push((rest, vec![cell])),
            }
        }
        for (rest, cells) in rests {
            let known = metrics(cells.iter().copied());
            let drawn: Vec<&Metric> = known.iter().filter(|metric| DRAWN.contains(&&*metric.name)).collect();
            let drawn = if drawn.is_empty() { known.iter().take(1).collect() } else { drawn };
            let id = groups.len();
            let charts: Vec<Chart> = drawn
                .into_iter()
                .enumerate()
                .filter_map(|(nth, metric)| chart(export, format!("chart-{id}-{nth}"), axis, &cells, metric))
                .collect();
            let over = one_line(&axis.replace('_', " "));
            let title = if rest.0.is_empty() {
                format!("Over {over}")
            } else {
                format!("Over {over}, at {}", title(&rest))
            };
            if !charts.is_empty() {
                groups.push(ChartGroup { title, charts });
            }
        }
    }
    groups
}

/// None where there are fewer than two values to draw a line between.
fn chart(export: &Export, id: String, axis: &str, cells: &[&Cell], metric: &Metric) -> Option<Chart> {
    let found: Vec<(f64, &Cell)> = cells
        .iter()
        .filter(|cell| cell.metrics.get(&metric.name).is_some_and(|metric| metric.estimate.is_finite()))
        .filter_map(|cell| Some((cell.point.get(axis)?.number().filter(|x| x.is_finite())?, *cell)))
        .collect();
    let estimate = |cell: &Cell| cell.metrics[&metric.name].clone();
    let mut xs: Vec<f64> = found.iter().map(|(x, _)| *x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    if xs.len() < 2 {
        return None;
    }
    let ys = found.iter().flat_map(|(_, cell)| {
        let of = estimate(cell);
        [Some(of.estimate), of.low, of.high].into_iter().flatten().filter(|y| y.is_finite())
    });
    let x_scale = Scale::new(xs.iter().copied(), false, LEFT + 10.0, RIGHT - 10.0)?;
    let y_scale = Scale::new(ys, true, BOTTOM, TOP)?;

    let mut by_name: BTreeMap<&str, Vec<(f64, &Cell)>> = BTreeMap::new();
    for (x, cell) in found {
        by_name.entry(&cell.contender).or_default().push((x, cell));
    }
    let mut lines: Vec<Line> = Vec::new();
    for (name, mut cells) in by_name {
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let dots: Vec<Dot> = cells
            .into_iter()
            .map(|(x, cell)| {
                let of = estimate(cell);
                let (text, note) = metric.estimate(&of);
                let note = note.map_or(String::new(), |note| format!(" ({note})"));
                let point = title(&cell.point);
                Dot {
                    x: x_scale.at(x),
                    y: y_scale.at(of.estimate),
                    whisker: of
                        .low
                        .zip(of.high)
                        .filter(|(low, high)| low.is_finite() && high.is_finite())
                        .map(|(low, high)| (y_scale.at(low), y_scale.at(high))),
                    text: one_line(&format!("{name}, {point}: {text}{note}")),
                }
            })
            .collect();
        let path: Vec<String> = dots.iter().map(|dot| format!("{:.1},{:.1}", dot.x, dot.y)).collect();
        let Some(end) = dots.last().map(|dot| (dot.x, dot.y)) else { continue };
        // A contender keeps its colour in every chart of the page, whoever else is in it.
        let nth =
            export.contenders.iter().position(|contender| contender.name == name).unwrap_or(lines.len());
        let name = one_line(name);
        lines.push(Line {
            label: shortened(&name),
            name,
            label_y: end.1,
            end,
            color: nth % COLORS,
            marker: MARKERS[nth % MARKERS.len()],
            path: path.join(" "),
            dots,
        });
    }
    move_labels_apart(&mut lines);

    let name = metric.words();
    let over = axis.replace('_', " ");
    let sentences: Vec<String> = lines
        .iter()
        .filter_map(|line| Some(format!("{}; {}.", line.dots.first()?.text, line.dots.last()?.text)))
        .collect();
    Some(Chart {
        id,
        title: one_line(&format!("{}{}", metric.label(), if y_scale.log { ", log scale" } else { "" })),
        description: one_line(&format!(
            "Line chart of {name} over {over}{}, from first to last: {} All figures are in the tables.",
            if y_scale.log { ", both as logarithms where they span decades" } else { "" },
            sentences.join(" ")
        )),
        x_title: one_line(&over),
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        right: RIGHT,
        top: TOP,
        bottom: BOTTOM,
        x_ticks: x_ticks(&xs, &x_scale),
        y_ticks: y_scale
            .ticks()
            .into_iter()
            .map(|value| Tick { at: y_scale.at(value), label: metric.tick(value) })
            .collect(),
        lines,
    })
}

/// The measured values themselves, without those that would cover the one before.
fn x_ticks(xs: &[f64], scale: &Scale) -> Vec<Tick> {
    let plain = Metric::new("");
    let mut ticks: Vec<Tick> = Vec::new();
    for x in xs {
        let tick = Tick { at: scale.at(*x), label: plain.tick(*x) };
        let room = |last: &Tick| tick.at - last.at > 5.0 * (last.label.len() + tick.label.len()) as f64;
        if ticks.last().is_none_or(room) {
            ticks.push(tick);
        }
    }
    ticks
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LABEL_CHARS {
        return name.to_owned();
    }
    name.chars().take(LABEL_CHARS - 1).chain(['…']).collect()
}

/// From top to bottom, each label at least its height below the one before; then up again, from the last, as far as they
/// overflow. Very many labels overlap rather than leave the chart.
fn move_labels_apart(lines: &mut [Line]) {
    lines.sort_by(|a, b| a.label_y.total_cmp(&b.label_y));
    let height = LABEL_HEIGHT.min((BOTTOM - TOP) / lines.len().max(1) as f64);
    let mut free = f64::NEG_INFINITY;
    for line in lines.iter_mut() {
        line.label_y = line.label_y.max(free);
        free = line.label_y + height;
    }
    let mut limit = BOTTOM;
    for line in lines.iter_mut().rev() {
        line.label_y = line.label_y.min(limit);
        limit = line.label_y - height;
    }
}

/// Places values between two ends.
struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale for these values; `rounded` ends it at a tick and, unless it is logarithmic, begins it at zero.
    fn new(values: impl Iterator<Item = f64>, rounded: bool, from: f64, to: f64) -> Option<Scale> {
        let (low, high) = values.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        })?;
        let log = low > 0.0 && high / low >= DECADES;
        let (low, high) = match (rounded, log) {
            (false, _) => (low, high),
            (true, true) => (round_below(low), round_above(high)),
            (true, false) => {
                let (low, high) = (low.min(0.0), high.max(0.0));
                let step = step(high - low);
                ((low / step).floor() * step, (high / step).ceil() * step)
            }
        };
        let high = if high > low { high } else { low + 1.0 };
        Some(Scale { log, low, high, from, to })
    }

    fn at(&self, value: f64) -> f64 {
        let place = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let at = self.from + place.clamp(0.0, 1.0) * (self.to - self.from);
        (at * 10.0).round() / 10.0
    }

    /// About four to twelve round values.
    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let mut ticks: Vec<f64> = Vec::new();
            let mut tick = self.low;
            while tick <= self.high * 1.001 {
                ticks.push(tick);
                tick = round_above(tick * 1.001);
            }
            // Powers of ten alone where 1, 2 and 5 of each are too many.
            let each = if ticks.len() <= 8 { 1 } else { 3 * (ticks.len() / 36 + 1) };
            let first = ticks.iter().position(|tick| (tick.log10() - tick.log10().round()).abs() < 1e-6);
            return ticks
                .into_iter()
                .skip(if each == 1 { 0 } else { first.unwrap_or(0) })
                .step_by(each)
                .collect();
        }
        let step = step(self.high - self.low);
        let count = ((self.high - self.low) / step).round().min(12.0) as usize;
        (0..=count).map(|nth| self.low + nth as f64 * step).collect()
    }
}

const ROUND: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

/// The smallest of 1, 2 or 5 times a power of ten that is not below a positive value, but for rounding.
fn round_above(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    power * ROUND.into_iter().find(|round| round * power >= value * 0.9999).unwrap_or(10.0)
}

/// The largest that is not above it.
fn round_below(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    power * ROUND.into_iter().rev().find(|round| round * power <= value * 1.0001).unwrap_or(1.0)
}

/// A round step (1, 2 or 5 times a power of ten) that divides the range into about five.
fn step(range: f64) -> f64 {
    if range <= 0.0 || !range.is_finite() {
        return 1.0;
    }
    round_above(range / 5.0)
}
