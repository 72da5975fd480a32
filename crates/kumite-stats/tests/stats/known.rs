//! Known answers. Where they come from a distribution, it is the exact bootstrap distribution of the median, computed
//! with scipy 1.17.1 and sharing nothing with our resampling. For n values sorted as x, and m = n div 2:
//!
//! - odd n: P(median <= x_k) = binom.sf(m, n, k/n)
//! - even n, i < j: P(median = (x_i + x_j)/2) = comb(n, m) ((i/n)^m - ((i-1)/n)^m) (((n-j+1)/n)^m - ((n-j)/n)^m),
//!   and P(median = x_i) = P(x_i is the m-th of the resample) less the sum of these over j > i
//!
//! and the bounds are its quantiles at norm.cdf(-sqrt(n/(n-1)) t.ppf(1 - (1-c)/2, n-1)) and 1 less that.

use kumite_stats::{Error, Interval, median, median_interval, sequential_ratio};

const FIFTEEN: [f64; 15] =
    [101.0, 99.0, 104.0, 97.0, 120.0, 103.0, 98.0, 100.0, 102.0, 111.0, 96.0, 105.0, 107.0, 95.0, 109.0];

fn thirty() -> Vec<f64> {
    (1..=30).map(|i| f64::from(i * 7919 % 1009) / 10.0).collect()
}

#[test]
fn the_median_of_usable_values_is_known_and_of_others_there_is_none() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0]), Some(3.0));
    assert_eq!(median(&[9.0, 1.0, 4.0]), Some(4.0));
    assert_eq!(median(&[9.0, 1.0, 4.0, 5.0]), Some(4.5));
    assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    assert_eq!(median(&[1.0, f64::NAN]), None);
    assert_eq!(median(&[1.0, f64::INFINITY]), None);
}

#[test]
fn bounds_are_those_of_the_exact_distribution() {
    let ten = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
    for (values, confidence, estimate, low, high) in [
        (&[3.1, 2.7, 9.4, 4.4, 3.9, 5.2][..], 0.95, 4.15, 2.7, 9.4),
        (&[12.0, 10.5, 11.2, 15.8, 10.9, 11.7, 13.1], 0.95, 11.7, 10.5, 15.8),
        (&ten, 0.95, 24.0, 3.0, 192.0),
        (&FIFTEEN, 0.95, 102.0, 98.0, 107.0),
    ] {
        for seed in 0..5 {
            let interval = median_interval(values, confidence, seed).unwrap();
            assert_eq!(interval, Interval { estimate, low, high, n: values.len() });
        }
    }
    // So many different medians that a quantile of 10,000 of them may be a neighbour of the exact one.
    for (confidence, low, high) in [(0.95, 36.4, 70.3), (0.99, 30.4, 74.65)] {
        let interval = median_interval(&thirty(), confidence, 1).unwrap();
        assert_eq!(interval.estimate, 53.35);
        assert!((interval.low - low).abs() <= 1.55 && (interval.high - high).abs() <= 1.55, "{interval:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let bits = |seed| {
        let interval = median_interval(&thirty(), 0.95, seed).unwrap();
        [interval.low.to_bits(), interval.high.to_bits()]
    };
    assert_eq!(bits(7), bits(7));
    assert_ne!(bits(7), bits(8), "and another seed others");
}

#[test]
fn too_few_says_how_many_are_needed() {
    assert_eq!(median_interval(&[1.0; 5], 0.95, 1), Err(Error::TooFew { have: 5, need: 6 }));
    assert_eq!(median_interval(&[], 0.99, 1), Err(Error::TooFew { have: 0, need: 8 }));
    let message = Error::TooFew { have: 4, need: 6 }.to_string();
    assert_eq!(message, "4 blocks are too few for this confidence; 6 are needed");
}

#[test]
fn unusable_input_is_an_error() {
    let mut values = [1.0; 8];
    values[3] = f64::NAN;
    assert_eq!(median_interval(&values, 0.95, 1), Err(Error::NotFinite { at: 3 }));
    let mut pairs = [(1.0, 1.0); 8];
    pairs[2].1 = f64::NEG_INFINITY;
    assert_eq!(sequential_ratio(&pairs, 0.05), Err(Error::NotFinite { at: 2 }));
    pairs[2].1 = 0.0;
    assert_eq!(sequential_ratio(&pairs, 0.05), Err(Error::NotPositive { at: 2 }));
    pairs[2].1 = -1.0;
    assert_eq!(sequential_ratio(&pairs, 0.05), Err(Error::NotPositive { at: 2 }));
    assert_eq!(sequential_ratio(&[(f64::MAX, f64::MIN_POSITIVE); 8], 0.05), Err(Error::Undefined));
    assert_eq!(median_interval(&[1.0; 8], 95.0, 1), Err(Error::Confidence(95.0)));
}
