//! The exact interval of a probability, from the number of times that something happened.

use statrs::distribution::{Beta, ContinuousCDF};

use crate::{Error, Interval};

/// The exact interval of the probability of something that happened `hits` times in `n`: C. J. Clopper and E. S.
/// Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial", Biometrika 26(4),
/// 1934. It holds the true probability at least as often as `confidence` says, whatever that probability is. An error
/// if `n` is 0 or less than `hits`, or if the confidence is not between 0 and 1.
pub fn proportion(hits: usize, n: usize, confidence: f64) -> Result<Interval, Error> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(Error::Confidence(confidence));
    }
    if n == 0 || hits > n {
        return Err(Error::TooFew { have: n, need: hits.max(1) });
    }
    let tail = (1.0 - confidence) / 2.0;
    let (hit, missed) = (hits as f64, (n - hits) as f64);
    // Both parameters are positive wherever they are asked for.
    let quantile = |a: f64, b: f64, share: f64| Beta::new(a, b).map(|beta| beta.inverse_cdf(share));
    let low = if hits == 0 { Ok(0.0) } else { quantile(hit, missed + 1.0, tail) };
    let high = if hits == n { Ok(1.0) } else { quantile(hit + 1.0, missed, 1.0 - tail) };
    match (low, high) {
        (Ok(low), Ok(high)) => Ok(Interval { estimate: hit / n as f64, low, high, n }),
        _ => Err(Error::Undefined),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability of at least `hits` successes in `n` tries, if each has the probability `p`.
    fn at_least(hits: usize, n: usize, p: f64) -> f64 {
        let choose = |k: usize| (0..k).fold(1.0, |all, i| all * (n - i) as f64 / (i + 1) as f64);
        (hits..=n).map(|k| choose(k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)).sum()
    }

    #[test]
    fn beyond_its_ends_lie_two_and_a_half_percent() {
        for (hits, n) in [(0, 10), (1, 10), (5, 40), (6, 40), (16, 200), (199, 200), (10, 10)] {
            let interval = proportion(hits, n, 0.95).unwrap();
            if hits > 0 {
                assert!((at_least(hits, n, interval.low) - 0.025).abs() < 1e-6, "{hits}/{n}: {interval:?}");
            }
            if hits < n {
                let most = 1.0 - at_least(hits + 1, n, interval.high);
                assert!((most - 0.025).abs() < 1e-6, "{hits}/{n}: {interval:?}");
            }
        }
    }

    #[test]
    fn an_interval_is_that_of_r() {
        // binom.test(5, 40)$conf.int
        let interval = proportion(5, 40, 0.95).unwrap();
        assert!((interval.low - 0.041_859_92).abs() < 1e-5, "{interval:?}");
        assert!((interval.high - 0.268_037_7).abs() < 1e-5, "{interval:?}");
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        assert!(proportion(0, 0, 0.95).is_err() && proportion(3, 2, 0.95).is_err());
        assert!(proportion(1, 2, 1.0).is_err());
    }
}
