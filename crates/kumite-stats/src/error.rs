//! The reasons why an input has no interval. They lie in the input; nothing here fails by chance.

use thiserror::Error;

/// The reason why an input has no interval.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// There are too few blocks for this confidence; or, for a proportion, no tries, or fewer tries than hits. (Even
    /// the widest interval of a median, from the least to the greatest value, misses it with a probability of 2^(1−n).)
    #[error("{have} blocks are too few for this confidence; {need} are needed")]
    TooFew {
        /// The number of blocks that were given; for a proportion, of tries.
        have: usize,
        /// The number of blocks, or of tries, that is enough.
        need: usize,
    },

    /// A value is not a number, or is infinite where infinite values are not allowed.
    #[error("value {at} of the input is not finite")]
    NotFinite {
        /// The index of the value, or of its pair, from 0.
        at: usize,
    },

    /// A value of a pair is zero or negative, so that the pair has no ratio.
    #[error("pair {at} of the input is not positive; a ratio needs two positive values")]
    NotPositive {
        /// The index of the pair, from 0.
        at: usize,
    },

    /// An end of a ratio's interval is 0 or infinite as an `f64`; or, for a proportion, an end could not be computed.
    #[error("a ratio of these pairs is not finite, or 0")]
    Undefined,

    /// The confidence is not above 0 and below 1.
    #[error("a confidence of {0} makes no sense; it lies between 0 and 1, such as 0.95")]
    Confidence(f64),
}
