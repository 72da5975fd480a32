//! One trial over time, in a small chart that can be set beside others of its kind.

use serde::Serialize;

use super::Tick;
use super::scale::Scale;

/// One trial of each contender at a point.
#[derive(Debug, Serialize)]
pub struct Timelines {
    pub place: String,
    /// By which metric the trials are the median.
    pub by: String,
    pub charts: Vec<Timeline>,
}

/// The time series of a trial, its jobs, or its states.
#[derive(Debug, Serialize)]
pub struct Timeline {
    /// Unique in its page.
    pub id: String,
    pub title: String,
    pub description: String,
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    pub x_title: &'static str,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    pub shades: Vec<Shade>,
    pub color: usize,
    /// Right answers a second, the elapsed time of each job, or the errors of states as dots: a path.
    pub answers: String,
    /// Failures a second, as bars.
    pub failures: String,
    /// Where answers were steady again, or jobs became steady, if they did.
    pub recovered: Option<f64>,
    /// Where an error is as long as a frame, if errors are what it shows.
    pub frame: Option<f64>,
}

/// A part of the time that is not the window.
#[derive(Debug, Serialize)]
pub struct Shade {
    pub x: f64,
    pub width: f64,
    pub kind: &'static str,
    pub label: String,
}

pub const WIDTH: f64 = 360.0;
pub const HEIGHT: f64 = 168.0;
pub const LEFT: f64 = 52.0;
pub const RIGHT: f64 = 350.0;
pub const TOP: f64 = 22.0;
pub const BOTTOM: f64 = 126.0;

/// A line that is broken where a step has no value.
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
