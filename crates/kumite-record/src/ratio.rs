//! The ratio of two commands or servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ratio of pairs: exp of the median of the logarithms, and its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// From all blocks. Where one of the two is known only to be below some figure, the ratio of these figures counts; where
    /// both are, 1.
    pub estimate: f64,
    /// Lower end of the interval, which holds however often one has looked; none where there are too few blocks for one, or
    /// nothing is known of what it is at least.
    pub low: Option<f64>,
    /// The upper end of the interval; none where no upper end is known.
    pub high: Option<f64>,
}
