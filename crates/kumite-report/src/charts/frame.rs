//! The frame of a chart: where its plot lies in its picture, and the ticks along it. Every chart with an axis has
//! one, except the forest. `frame.html` draws it, so that margins, rules and labels are alike in all charts. Lengths
//! are in the picture's units.

use kumite_record::Unit;
use serde::Serialize;

use super::scale::Scale;
use crate::words::quantity::Measured;

/// A label and its place on an axis.
#[derive(Clone, Debug, Serialize)]
pub struct Tick {
    pub at: f64,
    pub label: String,
}

/// The place of a plot within its picture. The height of the picture follows from the frame.
#[derive(Clone, Copy, Debug)]
pub struct Plot {
    pub width: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// A plot with its ticks and the size of its picture.
#[derive(Clone, Debug, Serialize)]
pub struct Frame {
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    pub x_title: Option<String>,
    /// The y at which the rules of `x_ticks` begin: the top if values are read off along x, else the bottom.
    rules_from: f64,
}

/// The height below the plot for the labels of the x ticks. `X_TITLE` is that for the name of the axis.
const LABELS: f64 = 26.0;
const X_TITLE: f64 = 20.0;

impl Plot {
    /// The left and the right end, for a scale along x.
    pub fn x(&self) -> (f64, f64) {
        (self.left, self.right)
    }

    /// The bottom and the top, for a scale along y: its values grow upwards.
    pub fn y(&self) -> (f64, f64) {
        (self.bottom, self.top)
    }

    fn frame(&self, x_ticks: Vec<Tick>, y_ticks: Vec<Tick>, rules_from: f64) -> Frame {
        let Plot { width, left, right, top, bottom } = *self;
        let height = bottom + LABELS;
        Frame { width, height, left, right, top, bottom, x_ticks, y_ticks, x_title: None, rules_from }
    }

    /// A frame for a chart whose values grow upwards, along y.
    pub fn upright(&self, x_ticks: Vec<Tick>, y_ticks: Vec<Tick>) -> Frame {
        self.frame(x_ticks, y_ticks, self.bottom)
    }

    /// A frame for a chart of rows, whose values grow to the right, along x. It has no ticks along y.
    pub fn rows(&self, x_ticks: Vec<Tick>) -> Frame {
        self.frame(x_ticks, Vec::new(), self.top)
    }
}

impl Frame {
    /// The frame with a name below its x axis, and higher by the room for the name.
    pub fn titled(self, x_title: &str) -> Frame {
        Frame { x_title: Some(x_title.to_owned()), height: self.height + X_TITLE, ..self }
    }

    /// The frame with `foot` more room below.
    pub fn with_foot(self, foot: f64) -> Frame {
        Frame { height: self.height + foot, ..self }
    }
}

/// A tick for each round value of a scale.
pub fn ticks(scale: &Scale, label: impl Fn(f64) -> String) -> Vec<Tick> {
    scale.ticks().into_iter().map(|value| Tick { at: scale.at(value), label: label(value) }).collect()
}

/// The ticks for zero and for the upper end of a scale, for an axis with no room for more.
pub fn end_ticks(scale: &Scale, label: impl Fn(f64) -> String) -> Vec<Tick> {
    [0.0, scale.high].map(|value| Tick { at: scale.at(value), label: label(value) }).into()
}

/// The ticks of a horizontal axis: all of `scale`, or every second, every third and so on, so that no label touches
/// the next.
pub fn ticks_apart(scale: &Scale, label: impl Fn(f64) -> String) -> Vec<Tick> {
    let all = ticks(scale, label);
    let some = |each: usize| -> Vec<Tick> { all.iter().step_by(each).cloned().collect() };
    let have_room = |ticks: &[Tick]| {
        ticks.windows(2).all(|pair| {
            let letters = (pair[0].label.chars().count() + pair[1].label.chars().count()) as f64;
            pair[1].at - pair[0].at > 4.5 * letters + 6.0
        })
    };
    (1..=all.len()).map(some).find(|ticks| have_room(ticks)).unwrap_or_default()
}

/// Makes the labels of an axis that begins at zero and whose values are in `unit`. Zero is written without a unit.
pub fn time_from_zero(unit: Unit) -> impl Fn(f64) -> String {
    move |value| if value == 0.0 { "0".to_owned() } else { unit.tick(value) }
}
