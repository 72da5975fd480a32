//! Properties that hold for any input.

use kumite_stats::{median_interval, sequential_ratio};
use proptest::collection::vec;
use proptest::prelude::*;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

proptest! {
    // An interval takes 10,000 resamples, each time.
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn the_estimate_lies_within_and_the_bounds_among_the_values(values in vec(-1e9..1e9, 6..40), seed: u64) {
        let interval = median_interval(&values, 0.95, seed).unwrap();
        prop_assert!(interval.low <= interval.estimate && interval.estimate <= interval.high);
        prop_assert!(values.iter().any(|&value| value <= interval.low) && values.iter().any(|&value| value >= interval.high));
        prop_assert_eq!(interval.n, values.len());
    }

    #[test]
    fn the_unit_does_not_matter(values in vec(1e-3..1e9, 6..40), seed: u64) {
        let interval = median_interval(&values, 0.95, seed).unwrap();
        let scaled: Vec<f64> = values.iter().map(|value| value * -1000.0).collect();
        let scaled = median_interval(&scaled, 0.95, seed).unwrap();
        prop_assert!(near(scaled.estimate, interval.estimate * -1000.0));
        prop_assert!(near(scaled.low, interval.high * -1000.0) && near(scaled.high, interval.low * -1000.0));
    }

    #[test]
    fn the_order_does_not_matter(values in vec(-1e9..1e9, 6..40), by in 1..5usize, seed: u64) {
        let mut turned = values.clone();
        turned.rotate_left(by);
        turned.swap(0, 3);
        prop_assert_eq!(median_interval(&values, 0.95, seed), median_interval(&turned, 0.95, seed));
    }

    #[test]
    fn what_slows_a_whole_block_down_cancels_out(pairs in vec((1.0..9.0, 1.0..9.0, 0.1..10.0), 6..30)) {
        let calm: Vec<(f64, f64)> = pairs.iter().map(|&(a, b, _)| (a, b)).collect();
        let disturbed: Vec<(f64, f64)> = pairs.iter().map(|&(a, b, slow)| (a * slow, b * slow)).collect();
        let (calm, disturbed) = (sequential_ratio(&calm, 0.05).unwrap(), sequential_ratio(&disturbed, 0.05).unwrap());
        prop_assert!(near(calm.estimate, disturbed.estimate) && near(calm.low, disturbed.low) && near(calm.high, disturbed.high));
    }

    #[test]
    fn more_confidence_is_no_narrower(values in vec(-1e9..1e9, 8..40), seed: u64) {
        let (wide, narrow) = (median_interval(&values, 0.99, seed).unwrap(), median_interval(&values, 0.9, seed).unwrap());
        prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
    }
}
