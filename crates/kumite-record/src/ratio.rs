//! The ratio of two things that were measured in the same blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ratio of pairs: the exponential of the median of their logarithms, with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The estimate from the blocks that have both figures; 1 if there is none. A side that is only known to be below
    /// some figure counts as that figure; if that is so of both, or a side is not known at all, the block's ratio is
    /// 1.
    pub estimate: f64,
    /// The lower end of the interval, which holds however often one has looked. None if there are too few blocks, or
    /// if nothing bounds the ratio from below.
    pub low: Option<f64>,
    /// The upper end of the interval. None if there are too few blocks, or if nothing bounds the ratio from above.
    pub high: Option<f64>,
}
