//! Small charts of single trials over time, or of a probe over all trials, made to be set side by side.

use serde::Serialize;

use super::frame::{Frame, Plot};
use super::scale::Scale;

/// Charts of a point, to be set side by side: one trial of each contender.
#[derive(Debug, Serialize)]
pub struct Timelines {
    pub place: String,
    /// The metric, in words, by which the trials were chosen: each is its contender's median trial in this metric.
    pub by: String,
    pub charts: Vec<Timeline>,
}

/// The chart of one trial: its time series, its jobs, or its states. The chart of a probe has the same form, over all
/// trials.
#[derive(Debug, Serialize)]
pub struct Timeline {
    /// The id of the chart, unique in its page.
    pub id: String,
    pub title: String,
    pub description: String,
    pub frame: Frame,
    pub shades: Vec<Shade>,
    pub color: usize,
    /// An SVG path: right answers a second, the elapsed time of each job, the figure of a probe before each trial, or
    /// the errors of states as dots.
    pub answers: String,
    /// An SVG path of bars: failures a second. Empty if there are none.
    pub failures: String,
    /// The x at which answers or jobs became steady, or answers were steady again; none if they were steady from the
    /// start or never, or if it is not known.
    pub recovered: Option<f64>,
    /// The y of an error that is one frame long; none if the chart shows no errors, or if the length of a frame is not
    /// known.
    pub one_frame: Option<f64>,
}

/// A shaded stretch of the x axis: the warm-up, or a disturbance.
#[derive(Debug, Serialize)]
pub struct Shade {
    pub x: f64,
    pub width: f64,
    pub kind: &'static str,
    pub label: String,
}

pub const PLOT: Plot = Plot { width: 360.0, left: 52.0, right: 350.0, top: 22.0, bottom: 126.0 };

/// An SVG path through the values, broken where a step has none.
pub fn path(values: &[Option<f64>], x: impl Fn(usize) -> f64, y: &Scale) -> String {
    let mut path = String::new();
    let mut pen = 'M';
    for (step, value) in values.iter().enumerate() {
        match value {
            Some(value) => {
                path += &format!("{pen}{},{}", x(step), y.at(*value));
                pen = 'L';
            }
            None => pen = 'M',
        }
    }
    path
}
