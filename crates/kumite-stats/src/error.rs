//! Why an input has no interval. These are errors of the input; nothing here fails by chance.

use thiserror::Error;

/// The reason that there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// With so few blocks no interval of a median reaches the confidence, whatever the distribution: the widest, from
    /// the least to the greatest value, misses the median with a probability of 2^(1−n), for one look.
    #[error("{have} blocks are too few for this confidence; {need} are needed")]
    TooFew {
        /// The number of blocks that were given.
        have: usize,
        /// Blocks that would do.
        need: usize,
    },

    /// A value is infinite or not a number.
    #[error("value {at} of the input is not finite")]
    NotFinite {
        /// The index of that value, from 0.
        at: usize,
    },

    /// A value of a pair is zero or negative: there is no ratio to speak of.
    #[error("pair {at} of the input is not positive; a ratio needs two positive values")]
    NotPositive {
        /// The index of the pair.
        at: usize,
    },

    /// A ratio is too large or too small for a number.
    #[error("a ratio of these pairs is not finite, or 0")]
    Undefined,

    /// A confidence that is not above 0 and below 1.
    #[error("a confidence of {0} makes no sense; it lies between 0 and 1, such as 0.95")]
    Confidence(f64),
}
