//! A figure with its interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Unit;

/// A metric of a cell with its confidence interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The median over blocks.
    pub estimate: f64,
    /// Lower end of the 95 % interval; none where there are too few blocks for one.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval.
    pub high: Option<f64>,
    /// The unit of the estimate and of both ends.
    pub unit: Unit,
    /// The number of blocks that the figure is the median of.
    pub n: usize,
    /// How many of them gave the least that the value can be: watching ended before it was known.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lower_bounds: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}
