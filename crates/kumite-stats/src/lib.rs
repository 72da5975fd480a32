//! Pure, seeded statistics: intervals and paired ratios. No clock, no file, no colour.
//!
//! Everything is made of *blocks*: one value, or one pair, for each block of trials. The same input and seed give the
//! same output, bit for bit; the order of the blocks does not matter to [`median_interval`] and [`paired_ratio`].
//! Input that cannot be used is an [`Error`]; nothing is dropped.
//!
//! # Method
//!
//! Intervals are percentile bootstrap intervals with the percentiles expanded for few blocks: instead of α/2 on either
//! side, Φ(−√(n/(n−1)) · t), where t is the 1−α/2 quantile of Student's t with n−1 degrees of freedom (T. Hesterberg,
//! "What Teachers Should Know About the Bootstrap", The American Statistician 69(4), 2015, section 5.3). The plain
//! percentile interval is too narrow for few blocks: for means by about √((n−1)/n) and by normal for Student quantiles.

mod bootstrap;
#[cfg(test)]
mod coverage;
mod error;
mod median;

pub use bootstrap::{Interval, bootstrap};
pub use error::Error;
pub use median::{median, median_interval, paired_ratio};
