use thiserror::Error;

/// Why there is no interval.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// With so few blocks no interval of a median reaches the confidence, whatever the distribution: the widest, from
    /// the least to the greatest value, misses the median with a probability of 2^(1−n).
    #[error("{have} blocks are too few for this confidence; {need} are needed")]
    TooFew {
        /// Blocks there are (of the smallest group).
        have: usize,
        /// Blocks that would do.
        need: usize,
    },

    /// A value is infinite or not a number.
    #[error("value {at} of the input is not finite")]
    NotFinite {
        /// Its index.
        at: usize,
    },

    /// A value of a pair is zero or negative: there is no ratio to speak of.
    #[error("pair {at} of the input is not positive; a ratio needs two positive values")]
    NotPositive {
        /// The index of the pair.
        at: usize,
    },

    /// The statistic, or a ratio, cannot be computed or is not finite, for the blocks as they are or for a resample.
    #[error("the statistic is undefined for these blocks or for a resample of them")]
    Undefined,

    /// A confidence that is not above 0 and below 1.
    #[error("a confidence of {0} makes no sense; it lies between 0 and 1, such as 0.95")]
    Confidence(f64),
}
