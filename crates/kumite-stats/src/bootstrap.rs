//! Percentile bootstrap intervals, expanded for few blocks. Resampling is seeded: the same values and seed give the
//! same interval.
//!
//! The intervals hold for one look at the data. Figures that are looked at after every block need a confidence
//! sequence.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::Error;

/// The number of resamples. The error that it causes in a bound is small beside that of the blocks themselves.
pub(crate) const RESAMPLES: usize = 10_000;

/// An estimate, and the interval in which the true value lies with the confidence that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The median of the blocks; for a ratio, `exp` of the median logarithm; for a
    /// [`proportion()`](crate::proportion()), the share of hits. `low <= estimate <= high`.
    pub estimate: f64,
    /// The lower end of the interval, in the unit of the values.
    pub low: f64,
    /// The upper end of the interval, in the unit of the values.
    pub high: f64,
    /// The number of blocks that the interval is from; for a [`proportion()`](crate::proportion()) it is the number
    /// of tries.
    pub n: usize,
}

/// The bounds that leave the share `tail` of the values below and above them, rounded outwards. Changes the order of
/// the values, of which there must be one.
pub(crate) fn bounds(values: &mut [f64], tail: f64) -> (f64, f64) {
    let last = values.len() - 1;
    let outside = ((values.len() as f64 * tail) as usize).min(last / 2);
    let low = *values.select_nth_unstable_by(outside, f64::total_cmp).1;
    let high = *values.select_nth_unstable_by(last - outside, f64::total_cmp).1;
    (low, high)
}

/// The share of resamples, from 0 to 1, to leave out on either side of the interval, by Hesterberg's expansion. An
/// error if there are too few blocks, or if the confidence is not between 0 and 1.
pub(crate) fn expanded_tail(n: usize, confidence: f64) -> Result<f64, Error> {
    let need = blocks_needed(confidence)?;
    if n < need {
        return Err(Error::TooFew { have: n, need });
    }
    let n = n as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).map_err(|_| Error::Confidence(confidence))?;
    let t = student.inverse_cdf(1.0 - (1.0 - confidence) / 2.0);
    Ok(Normal::standard().cdf(-(n / (n - 1.0)).sqrt() * t))
}

/// The fewest blocks for which the interval from the least to the greatest value covers the median of any
/// distribution with this confidence: 1 − 2^(1−n) >= confidence. At most 64; an error if the confidence is not
/// between 0 and 1.
fn blocks_needed(confidence: f64) -> Result<usize, Error> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(Error::Confidence(confidence));
    }
    Ok((2..64).find(|&n| 1.0 - 0.5_f64.powi(n - 1) >= confidence).unwrap_or(64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_blocks_are_needed_for_95_percent() {
        assert_eq!(blocks_needed(0.95), Ok(6));
        assert_eq!(
            [0.3, 0.5, 0.75, 0.9, 0.99, 0.999].map(|c| blocks_needed(c).unwrap()),
            [2, 2, 3, 5, 8, 11]
        );
        for bad in [0.0, 1.0, -0.1, 95.0, f64::NAN] {
            assert!(matches!(blocks_needed(bad), Err(Error::Confidence(_))), "{bad}");
        }
    }

    #[test]
    fn tails_are_those_of_scipy() {
        // norm.cdf(-sqrt(n / (n - 1)) * t.ppf(1 - (1 - c) / 2, n - 1)), scipy 1.17.1
        let tails = [
            (2, 0.5, 0.07864960352514251),
            (5, 0.9, 0.008574974191188755),
            (6, 0.95, 0.0024318031746115667),
            (7, 0.95, 0.004109153815637144),
            (8, 0.99, 9.160647305638535e-05),
            (10, 0.95, 0.008550639024406366),
            (30, 0.95, 0.01875390027822054),
            (100, 0.999, 0.00032646811358658546),
            (200, 0.95, 0.024026184770620417),
        ];
        for (n, confidence, tail) in tails {
            let ours = expanded_tail(n, confidence).unwrap();
            assert!((ours / tail - 1.0).abs() < 1e-6, "{n} {confidence}: {ours} for {tail}");
        }
    }
}
