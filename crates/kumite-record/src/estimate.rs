//! An estimate: a figure with its interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Unit;

/// The median of a metric over a cell's blocks, or over the blocks of a comparison, with its confidence interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The median over blocks, in `unit`.
    pub estimate: f64,
    /// The lower end of the 95 % interval. None if there are too few blocks for an interval.
    pub low: Option<f64>,
    /// The upper end of the 95 % interval. None if there are too few blocks for an interval.
    pub high: Option<f64>,
    /// The unit of the estimate and of both ends.
    pub unit: Unit,
    /// The number of blocks that the estimate rests on.
    pub n: usize,
    /// The number of blocks whose figure is a lower bound, because watching ended before the value was known.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lower_bounds: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}
