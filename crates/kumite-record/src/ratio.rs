//! The ratio of two things that were measured in the same blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The median ratio of two things over blocks, with its interval. The median is that of the ratios' logarithms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The median ratio of the blocks that have both figures: above 0; 1 if no block has both. A figure that is only
    /// known to be below some value counts as that value. A block's ratio counts as 1 if both of its figures are only
    /// known to be below some value, or if one of them is not known at all.
    pub estimate: f64,
    /// The lower end of the interval. The interval keeps its level however often the ratio was looked at in between.
    /// `None` if there are too few blocks, or if nothing bounds the ratio from below.
    pub low: Option<f64>,
    /// The upper end of the interval. None if there are too few blocks, or if nothing bounds the ratio from above.
    pub high: Option<f64>,
}
