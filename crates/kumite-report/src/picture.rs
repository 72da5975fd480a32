//! Pictures of a record, each in a file of its own: figures over an axis, with published ones dashed, or the events of
//! a job in lanes of threads. The caller chooses what is shown.

use std::collections::BTreeMap;

use kumite_record::{AxisValue, Cell, Export, Point};
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::charts::{Budget, LineChart, Theirs, line_chart};
use crate::kinds::{EVENTS_TEMPLATE, EventChart, event_charts};
use crate::page::page;
use crate::record::Record;
use crate::tables::published::middle;
use crate::words::text::one_line;

/// The choice of what a picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The title above the picture.
    pub title: String,
    /// The contenders that are shown, by name.
    pub contenders: Vec<String>,
    /// The values of axes, as text, that choose the cells; the key is the name of the axis. An axis that is not named
    /// here has its default; if it has none, all of its values are chosen.
    pub at: BTreeMap<String, String>,
    /// The form of the picture.
    pub drawn: Drawn,
}

/// The form of a picture: lines over an axis, or lanes over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// A chart for each of these metrics, with a line for each contender over an axis.
    Lines {
        /// The names of the metrics.
        metrics: Vec<String>,
        /// The name of the axis.
        over: String,
        /// True to draw the published figures too, dashed.
        published: bool,
    },
    /// The events of one job of each contender, with a lane for each thread.
    Lanes,
}

/// The reason why a picture of a run cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoPicture {
    /// The run has no contender of this name.
    #[error("the run has no contender {0}")]
    Contender(String),
    /// The run has no metric of this name.
    #[error("the run has no metric {0}")]
    Metric(String),
    /// Several points of a contender have the same place on the axis.
    #[error("{contender} has several points at {axis}: name more axes in `at`")]
    SeveralPoints {
        /// The name of the contender.
        contender: String,
        /// The name of the axis.
        axis: String,
    },
    /// A metric has figures at fewer than two values of the axis, which make no line.
    #[error("{metric} has figures at fewer than two values of {axis}")]
    NoLine {
        /// The name of the metric.
        metric: String,
        /// The name of the axis.
        axis: String,
    },
    /// A picture of lanes shows one point, and `at` fits this number of points: none, or several.
    #[error("{0} points of the run are meant by `at`, and one must be")]
    NotOnePoint(usize),
    /// No trial of these contenders has events at the point that `at` chooses.
    #[error("no trial there has events")]
    NoEvents,
}

/// Draws a picture as an SVG that stands alone: it has a light and a dark look, and needs no network. An error if the
/// record lacks a contender or a metric of the picture. Lines need figures at two values of the axis or more, and one
/// point for each contender and value; lanes need one point, and a trial with events there.
pub fn picture_svg(export: &Export, picture: &Picture) -> Result<String, NoPicture> {
    let record = Record::new(export);
    if let Some(unknown) =
        picture.contenders.iter().find(|name| export.contenders.iter().all(|of| of.name != **name))
    {
        return Err(NoPicture::Contender(unknown.clone()));
    }
    let (panels, foot) = match &picture.drawn {
        Drawn::Lines { metrics, over, published } => {
            let panel = |metric: &String| lines(&record, picture, metric, over, *published);
            let panels = metrics.iter().map(panel).collect::<Result<Vec<_>, _>>()?;
            (panels, published.then(|| format!("dashed: as published, {}", theirs_said(export))))
        }
        Drawn::Lanes => (lanes(&record, picture)?, None),
    };
    let mut y = HEAD;
    let panels: Vec<Panel> = panels
        .into_iter()
        .map(|panel| {
            let placed = Panel { y: y + LABEL, ..panel };
            y = placed.y + placed.height + GAP;
            placed
        })
        .collect();
    let drawn = Page {
        width: panels.iter().map(|panel| panel.width).fold(0.0, f64::max),
        height: y + if foot.is_some() { LABEL } else { 0.0 },
        title: one_line(&picture.title),
        description: panels.iter().map(Panel::description).collect::<Vec<_>>().join(" "),
        panels,
        foot,
    };
    let templates = [("picture.xml", include_str!("page/picture.svg")), EVENTS_TEMPLATE];
    Ok(page(&templates, context! { drawn => Serde(drawn) }))
}

/// The heights of the title, of the label above a chart, and below a chart.
const HEAD: f64 = 30.0;
const LABEL: f64 = 26.0;
const GAP: f64 = 8.0;

#[derive(Serialize)]
struct Page {
    width: f64,
    height: f64,
    title: String,
    description: String,
    panels: Vec<Panel>,
    foot: Option<String>,
}

/// A chart with its place. One of `lines` and `events` is there.
#[derive(Serialize)]
struct Panel {
    y: f64,
    width: f64,
    height: f64,
    head: String,
    lines: Option<LineChart>,
    events: Option<EventChart>,
}

impl Panel {
    fn description(&self) -> &str {
        let lines = self.lines.as_ref().map(|of| of.description.as_str());
        lines.or(self.events.as_ref().map(|of| of.description.as_str())).unwrap_or_default()
    }
}

fn lines(
    record: &Record,
    picture: &Picture,
    metric: &str,
    over: &str,
    published: bool,
) -> Result<Panel, NoPicture> {
    let name = metric;
    let metric = record
        .metrics
        .iter()
        .find(|metric| metric.name == name)
        .ok_or_else(|| NoPicture::Metric(name.to_owned()))?;
    let is_meant = |cell: &&Cell| {
        picture.contenders.contains(&cell.contender) && is_at(record, &cell.point, &picture.at, over)
    };
    let cells: Vec<&Cell> = record.export.cells.iter().filter(is_meant).collect();
    let twice = cells.iter().enumerate().find_map(|(nth, cell)| {
        let same = |other: &&&Cell| {
            other.contender == cell.contender && other.point.get(over) == cell.point.get(over)
        };
        cells[..nth].iter().find(same)
    });
    if let Some(cell) = twice {
        return Err(NoPicture::SeveralPoints { contender: cell.contender.clone(), axis: over.to_owned() });
    }
    let theirs = if published { theirs(record.export, picture, name, over) } else { Vec::new() };
    let words = over.replace('_', " ");
    let id = format!("over-{name}");
    let chart = line_chart(record, id, (over, &words), "", &cells, metric, &theirs)
        .ok_or_else(|| NoPicture::NoLine { metric: name.to_owned(), axis: over.to_owned() })?;
    let (width, height, head) = (chart.frame.width, chart.frame.height, chart.title.clone());
    Ok(Panel { y: 0.0, width, height, head, lines: Some(chart), events: None })
}

/// True if a point has these values, beside that of `over`, which is free. An axis that `at` does not name has its
/// default.
fn is_at(record: &Record, point: &Point, at: &BTreeMap<String, String>, over: &str) -> bool {
    let workload = &record.export.run.workload;
    let has_asked = at.iter().filter(|(axis, _)| *axis != over).all(|(axis, value)| {
        let of = point.get(axis).or_else(|| workload.get(axis));
        of.is_some_and(|of| of.to_string() == *value)
    });
    let others = point.0.iter().filter(|(axis, _)| *axis != over && !at.contains_key(*axis));
    let mut others = others.filter_map(|(axis, value)| Some((value, workload.get(axis)?)));
    has_asked && others.all(|(value, default)| value == default)
}

/// The published figures of a metric: at each value of the axis the one in the middle of the source's main series.
fn theirs(export: &Export, picture: &Picture, metric: &str, over: &str) -> Vec<Theirs> {
    let Some(published) = &export.run.published else { return Vec::new() };
    let is_main = |series: &String| published.main.is_empty() || published.main.contains(series);
    let has = |axis: &String, value: &String, point: &Point| {
        axis == over || point.get(axis).is_none_or(|of| of.to_string() == *value)
    };
    let of = |contender: &String| {
        let mut by_x: Vec<(f64, Vec<f64>)> = Vec::new();
        for row in published.rows.iter().filter(|row| row.contender == *contender && is_main(&row.series)) {
            let x = row.point.get(over).and_then(AxisValue::number);
            let (Some(x), Some(y)) = (x, row.metrics.get(metric)) else { continue };
            if !picture.at.iter().all(|(axis, value)| has(axis, value, &row.point)) {
                continue;
            }
            match by_x.iter_mut().find(|(other, _)| *other == x) {
                Some((_, values)) => values.push(*y),
                None => by_x.push((x, vec![*y])),
            }
        }
        by_x.sort_by(|a, b| a.0.total_cmp(&b.0));
        let points = by_x.into_iter().filter_map(|(x, values)| Some((x, middle(values)?))).collect();
        Theirs { contender: contender.clone(), points }
    };
    picture.contenders.iter().map(of).filter(|of| !of.points.is_empty()).collect()
}

fn theirs_said(export: &Export) -> String {
    let main = export.run.published.as_ref().map_or(&[][..], |published| &published.main);
    match main {
        [] | [_] => "on the source's machine".to_owned(),
        several => format!("on the source's machine, the median of {} series", several.len()),
    }
}

fn lanes(record: &Record, picture: &Picture) -> Result<Vec<Panel>, NoPicture> {
    let points: Vec<&Point> =
        record.export.run.points.iter().filter(|point| is_at(record, point, &picture.at, "")).collect();
    let [point] = points.as_slice() else {
        return Err(NoPicture::NotOnePoint(points.len()));
    };
    let charts = event_charts(record, point, &picture.contenders, Budget::new(picture.contenders.len()));
    if charts.is_empty() {
        return Err(NoPicture::NoEvents);
    }
    let panel = |chart: EventChart| {
        let (width, height, head) = (chart.frame.width, chart.frame.height, chart.title.clone());
        Panel { y: 0.0, width, height, head, lines: None, events: Some(chart) }
    };
    Ok(charts.into_iter().map(panel).collect())
}

#[cfg(test)]
mod tests;
