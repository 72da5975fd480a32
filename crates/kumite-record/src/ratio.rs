//! The ratio of two things that were measured in the same blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ratio of pairs: the exponential of the median of their logarithms, with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The median ratio of the blocks that have both figures: above 0; 1 if no block has both. A figure that is only
    /// known to be below some value counts as that value. A block's ratio is 1 if that is so for both figures, or a
    /// figure is not known at all.
    pub estimate: f64,
    /// The lower end of the interval, which keeps its promise however often one has looked. `None` if there are too few
    /// blocks, or if nothing bounds the ratio from below.
    pub low: Option<f64>,
    /// The upper end of the interval. None if there are too few blocks, or if nothing bounds the ratio from above.
    pub high: Option<f64>,
}
