use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::Error;

/// The error of a bound from so few resamples is small beside that of the blocks themselves.
pub(crate) const RESAMPLES: usize = 10_000;

/// An estimate, and the bounds between which the true value lies with the confidence asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// From the blocks as they are; `low <= estimate <= high`.
    pub estimate: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// Blocks it rests on: of the smallest group, if there are several.
    pub n: usize,
}

/// The interval of any statistic of one or several independent groups of blocks.
///
/// `groups[g]` is the number of blocks of group g. In each of 10,000 resamples, `statistic` gets for each group as many
/// indices of blocks as it has, drawn with replacement; a block stays whole, and so do the pairs in it. The percentiles
/// are expanded for the smallest group. `None` or a value that is not finite is [`Error::Undefined`].
///
/// The coverage depends on the statistic: for medians see [`median_interval`]; for a maximum or another extreme of the
/// blocks no bootstrap is right.
///
/// [`median_interval`]: crate::median_interval
pub fn bootstrap(
    groups: &[usize],
    confidence: f64,
    seed: u64,
    statistic: impl Fn(&[Vec<usize>]) -> Option<f64>,
) -> Result<Interval, Error> {
    let n = groups.iter().copied().min().unwrap_or(0);
    let tail = expanded_tail(n, confidence)?;
    let defined =
        |chosen: &[Vec<usize>]| statistic(chosen).filter(|value| value.is_finite()).ok_or(Error::Undefined);

    let mut chosen: Vec<Vec<usize>> = groups.iter().map(|&blocks| (0..blocks).collect()).collect();
    let estimate = defined(&chosen)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut resampled = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        for group in &mut chosen {
            let blocks = group.len();
            group.fill_with(|| rng.random_range(0..blocks));
        }
        resampled.push(defined(&chosen)?);
    }
    let (low, high) = bounds(&mut resampled, tail);
    // A statistic that is far from linear may have all its resamples on one side.
    Ok(Interval { estimate, low: low.min(estimate), high: high.max(estimate), n })
}

/// The values that `tail` of all lie below and above, rounded outwards.
pub(crate) fn bounds(values: &mut [f64], tail: f64) -> (f64, f64) {
    let last = values.len() - 1;
    let outside = ((values.len() as f64 * tail) as usize).min(last / 2);
    let low = *values.select_nth_unstable_by(outside, f64::total_cmp).1;
    let high = *values.select_nth_unstable_by(last - outside, f64::total_cmp).1;
    (low, high)
}

/// The share of resamples to leave out on either side of the interval: Hesterberg's.
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
/// distribution with this confidence: 1 − 2^(1−n) >= confidence.
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
