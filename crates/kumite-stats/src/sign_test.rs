//! The sign test, for one look.

/// The p-value of the exact one-sided sign test: the probability that a thing is true in `so` or more of `n` rounds, if
/// it is true in half of all rounds.
///
/// # Panics
///
/// If `so` is more than `n`.
pub fn sign_test(so: usize, n: usize) -> f64 {
    assert!(so <= n, "{so} of {n} rounds");
    // The chance of exactly k is that of k − 1 times (n − k + 1) / k; from n down, so that the small terms come first.
    let mut term = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut tail = term;
    for k in (so + 1..=n).rev() {
        term *= k as f64 / (n + 1 - k) as f64;
        tail += term;
    }
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_tail_of_the_binomial_distribution() {
        assert_eq!((sign_test(0, 0), sign_test(0, 9), sign_test(6, 6)), (1.0, 1.0, 1.0 / 64.0));
        for ((so, n), expected) in
            [((8, 9), 10.0 / 512.0), ((9, 10), 11.0 / 1024.0), ((10, 12), 79.0 / 4096.0)]
        {
            assert!((sign_test(so, n) - expected).abs() < 1e-15, "{so} of {n}");
        }
    }

    #[test]
    fn one_sitting_of_three_is_clear_by_these_counts() {
        // 5 % shared by the two others: https://en.wikipedia.org/wiki/Sign_test has the method.
        let clear = |so, n| sign_test(so, n) <= 0.05 / 2.0;
        let fewest: Vec<Option<usize>> = (5..=12).map(|n| (0..=n).find(|so| clear(*so, n))).collect();
        assert_eq!(fewest, [None, Some(6), Some(7), Some(8), Some(8), Some(9), Some(10), Some(10)]);
    }
}
