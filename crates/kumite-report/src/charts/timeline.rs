//! One trial over time, in a small chart that can be set beside others of its kind.

use serde::Serialize;

use super::frame::{Frame, Plot};
use super::scale::Scale;

/// One trial of each contender at a point.
#[derive(Debug, Serialize)]
pub struct Timelines {
    pub place: String,
    /// The metric by which the trials shown are in the middle.
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
    pub frame: Frame,
    pub shades: Vec<Shade>,
    pub color: usize,
    /// Right answers a second, the elapsed time of each job, or the errors of states as dots: a path.
    pub answers: String,
    /// Failures a second, as bars.
    pub failures: String,
    /// Where answers were steady again, or jobs became steady, if they did.
    pub recovered: Option<f64>,
    /// Where an error is as long as a frame, if errors are what it shows.
    pub one_frame: Option<f64>,
}

/// A part of the time that is not the window.
#[derive(Debug, Serialize)]
pub struct Shade {
    pub x: f64,
    pub width: f64,
    pub kind: &'static str,
    pub label: String,
}

pub const PLOT: Plot = Plot { width: 360.0, left: 52.0, right: 350.0, top: 22.0, bottom: 126.0 };

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
