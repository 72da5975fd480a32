//! A control: a contender that stands in each block twice, so that a run shows how far apart equal things seem in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Point, Ratio};

/// A contender that stands in each block twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// The contender.
    pub contender: String,
    /// The name of its second trials. It is no contender's: they are part of no claim, table or gate.
    pub twin: String,
    /// Its ratio to itself in the metric that the first claim compares, over all points; none where there are too few
    /// blocks for an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itself: Option<ControlRatio>,
    /// The metrics and points at which it is decided that it differs from itself. In a run of a true control there is
    /// one with a probability of at most 1 %.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<ControlRatio>,
}

/// A control's second trial in a block, divided by its first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlRatio {
    /// The metric.
    pub metric: String,
    /// The point; none where blocks of all points are taken together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// The ratio, with its 95 % confidence sequence.
    pub ratio: Ratio,
    /// How many blocks it is from.
    pub blocks: usize,
}

impl Control {
    /// This contender, before anything is measured.
    pub fn of(contender: &str) -> Control {
        // No contender's name has two dashes in a row.
        let twin = format!("{contender}--control");
        Control { contender: contender.to_owned(), twin, itself: None, off: Vec::new() }
    }

    /// The same before anything was measured.
    pub fn unmeasured(&self) -> Control {
        Control { itself: None, off: Vec::new(), ..self.clone() }
    }
}

impl ControlRatio {
    /// How far it is from 1, as the logarithm of a ratio.
    pub fn distance(&self) -> f64 {
        self.ratio.estimate.ln().abs()
    }
}
