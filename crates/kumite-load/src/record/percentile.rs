//! Percentiles, and the number of requests that each needs.

use hdrhistogram::Histogram;

/// The number of requests that must lie beyond a percentile.
///
/// The share of all requests that is really beyond the k-th smallest of n independent ones is distributed as
/// beta(n − k + 1, k). With ten beyond it, what is called p99 lies between the true p98.2 and p99.5 in 95 % of samples;
/// with one, between p94.6 and p99.8, and it is no other than the second longest.
const BEYOND: u64 = 10;

/// The percentiles that are reported, each with its name and a number `n`: one request in `n` lies beyond it.
pub const PERCENTILES: [(&str, u64); 4] = [("p50", 2), ("p90", 10), ("p99", 100), ("p99_9", 1000)];

/// The least number of requests that a percentile needs, if one request in `one_in` lies beyond it.
pub fn requests_for(one_in: u64) -> u64 {
    BEYOND * one_in
}

/// Returns the percentile of `times` beyond which one time in `one_in` lies, in µs; `times` are in ns. The error is the
/// number of requests by which `times` has too few.
pub fn percentile(times: &Histogram<u64>, one_in: u64) -> Result<f64, u64> {
    match requests_for(one_in).saturating_sub(times.len()) {
        0 => Ok(times.value_at_quantile(1.0 - 1.0 / one_in as f64) as f64 / 1e3),
        missing => Err(missing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_has_ten_requests_beyond_it() {
        let times = |n: u64| {
            let mut times = Histogram::new(3).unwrap();
            for value in 1..=n {
                times.record(value).unwrap();
            }
            times
        };
        assert_eq!(percentile(&times(1000), 100), Ok(0.99));
        assert_eq!(percentile(&times(1000), 2), Ok(0.5));
        assert_eq!(percentile(&times(999), 100), Err(1));
        assert_eq!(percentile(&times(1000), 1000), Err(9000));
        assert_eq!(percentile(&times(0), 2), Err(20));
    }
}
