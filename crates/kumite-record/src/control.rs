//! A control: a contender, or in a comparison a command or server, that is measured twice in each block. A run with a
//! control shows how far apart two equal things seem in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Point, Ratio};

/// A contender, or in a comparison a command or server, that stands in each block twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// The name of the contender, or of the command or server.
    pub contender: String,
    /// The name that the contender's second trials have in the record. No contender has this name, so these trials are
    /// part of no claim, table or gate.
    pub twin: String,
    /// The ratio of the second trials to the first, over all points. In a run its metric is the one that the first
    /// claim compares, or else the run's first; in a comparison it is the first metric that is judged. `None` if too
    /// few blocks have both figures for an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itself: Option<ControlRatio>,
    /// The metrics and points at which the control is shown to differ from itself. A run in which both are really the
    /// same finds any such difference with a probability of at most 1 %.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<ControlRatio>,
}

/// The ratio of a control's second trials to its first trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlRatio {
    /// The name of the metric.
    pub metric: String,
    /// The point that the ratio is from. None if the blocks of all points are taken together, and in a comparison,
    /// which has no points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// The ratio, second over first, with its 95 % confidence sequence.
    pub ratio: Ratio,
    /// The number of blocks that the ratio is from.
    pub blocks: usize,
}

impl Control {
    /// Makes a control of the contender with this name. It has no ratio yet.
    pub fn of(contender: &str) -> Control {
        // No contender's name has two dashes in a row.
        let twin = format!("{contender}--control");
        Control { contender: contender.to_owned(), twin, itself: None, off: Vec::new() }
    }

    /// A copy without the ratios, as before anything was measured.
    pub fn unmeasured(&self) -> Control {
        Control { itself: None, off: Vec::new(), ..self.clone() }
    }
}

impl ControlRatio {
    /// The distance of the ratio from 1: the absolute value of its natural logarithm, 0 or more.
    pub fn distance(&self) -> f64 {
        self.ratio.estimate.ln().abs()
    }
}
