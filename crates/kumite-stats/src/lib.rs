//! Pure, seeded statistics: intervals and paired ratios. No clock, no file, no colour.
//!
//! Everything is made of *blocks*: one value, or one pair, for each block of trials. The same input and seed give the
//! same output, bit for bit; the order of the blocks does not matter to [`median_interval`] and [`paired_ratio`].
//! Input that cannot be used is an [`Error`]; nothing is dropped.
//!
//! # Method
//!
//! Intervals are percentile bootstrap intervals with the percentiles expanded for few blocks: instead of α/2 on either
//! side, Φ(−√(n/(n−1)) · t), where t is the 1−α/2 quantile of Student's t with n−1 degrees of freedom: the expanded
//! percentile interval of T. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician
//! 69(4), 2015. The plain percentile interval is too narrow for few blocks: for means by about √((n−1)/n) and by normal
//! for Student quantiles.
//!
//! The true median lies in a 95 % interval from n blocks as often as this, in 20,000 simulated sequences of each kind
//! (the test `coverage` repeats it, smaller): never less than asked for, and sometimes more, because the median of few
//! values takes few values.
//!
//! | noise | n = 6 | 7 | 8 | 9 | 10 | 12 | 15 | 20 | 30 |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | normal | 97.0 % | 98.4 % | 98.5 % | 95.9 % | 96.4 % | 96.2 % | 96.4 % | 95.8 % | 95.8 % |
//! | lognormal | 97.0 % | 98.4 % | 98.4 % | 95.9 % | 96.3 % | 96.2 % | 96.4 % | 95.8 % | 95.8 % |
//! | two modes, skewed | 96.8 % | 98.5 % | 98.2 % | 96.0 % | 96.0 % | 95.9 % | 96.4 % | 96.0 % | 95.7 % |
//!
//! It holds for one look. Whoever looks after every block and stops when an interval is to their liking is wrong more
//! often than 1 − confidence.

mod bootstrap;
#[cfg(test)]
mod coverage;
mod error;
mod median;
#[cfg(test)]
mod peeking;
mod sequential;

pub use bootstrap::{Interval, bootstrap};
pub use error::Error;
pub use median::{median, median_interval, paired_ratio};
pub use sequential::{blocks_to_exclude, fewest_blocks, sequential_median, sequential_ratio};
