//! Spearman's rank correlation of two variables, tested by permutations.
//!
//! Ranks, because nobody knows the form in which one follows the other. Permutations, because a run has as few as a
//! dozen rounds, of which many may be tied. The same values and seed give the same p.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The number of permutations that are drawn. The smallest possible p is 1 / (PERMUTATIONS + 1).
const PERMUTATIONS: usize = 10_000;
/// The tolerance for equal sums. Sums of halves of small numbers are exact to less than this.
const EXACT: f64 = 1e-6;

/// The rank correlation of two variables, with its p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correlation {
    /// Spearman's rank correlation, from −1 to 1. Tied values share their mean rank.
    pub rho: f64,
    /// The probability that unrelated variables are correlated as strongly or more, in either direction. It is
    /// counted over 10,000 seeded permutations and the actual order.
    pub p: f64,
}

/// The correlation of the ranks of `x` and `y`. None for fewer than two values, or if all values of one variable are
/// the same.
///
/// # Panics
///
/// If one variable has more values than the other.
pub fn spearman(x: &[f64], y: &[f64], seed: u64) -> Option<Correlation> {
    assert_eq!(x.len(), y.len(), "values come in pairs");
    let (x, mut y) = (centred_ranks(x), centred_ranks(y));
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let scale = (product(&x, &x) * product(&y, &y)).sqrt();
    if scale == 0.0 {
        return None;
    }
    let seen = product(&x, &y);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let as_far = (0..PERMUTATIONS).filter(|_| {
        y.shuffle(&mut random);
        product(&x, &y).abs() >= seen.abs() - EXACT
    });
    let p = (as_far.count() + 1) as f64 / (PERMUTATIONS + 1) as f64;
    Some(Correlation { rho: seen / scale, p })
}

/// The ranks of the values, less their mean. Tied values share the mean of their ranks.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| other.total_cmp(value).is_lt()).count();
        let tied = values.iter().filter(|other| other.total_cmp(value).is_eq()).count();
        below as f64 + (tied as f64 - 1.0) / 2.0 - middle
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rho(x: &[f64], y: &[f64]) -> f64 {
        spearman(x, y, 1).unwrap().rho
    }

    #[test]
    fn rho_is_that_of_known_answers() {
        // IQ and hours of television: https://en.wikipedia.org/wiki/Spearman%27s_rank_correlation_coefficient, −29/165.
        let iq = [106.0, 100.0, 86.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0];
        let hours = [7.0, 27.0, 2.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0];
        assert!((rho(&iq, &hours) + 29.0 / 165.0).abs() < 1e-12);
        // Whatever rises with it, by any curve.
        assert_eq!(rho(&[1.0, 2.0, 3.0, 4.0], &[1.0, 8.0, 27.0, 1e9]), 1.0);
        assert_eq!(rho(&[1.0, 2.0, 3.0, 4.0], &[4.0, 3.0, 0.0, -1.0]), -1.0);
        // Ties share a rank: ranks 1.5, 1.5, 3, 4 against 1, 2, 3, 4 come to 4.5 / √(4.5 · 5).
        assert!((rho(&[5.0, 5.0, 6.0, 7.0], &[1.0, 2.0, 3.0, 4.0]) - 4.5 / 22.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn p_is_the_share_of_orders_that_go_together_as_far() {
        // Of the 120 orders of five, two are as far as their own.
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        let p = spearman(&five, &five, 1).unwrap().p;
        assert!((p - 2.0 / 120.0).abs() < 0.005, "{p}");
        // |ρ| ≥ 0.9 has the pairs one transposition away, too: 10 of 120, of the exact table for n = 5.
        let p = spearman(&five, &[1.0, 2.0, 3.0, 5.0, 4.0], 1).unwrap().p;
        assert!((p - 10.0 / 120.0).abs() < 0.01, "{p}");
        assert_eq!(
            spearman(&five, &[3.0, 1.0, 5.0, 2.0, 4.0], 7),
            spearman(&five, &[3.0, 1.0, 5.0, 2.0, 4.0], 7)
        );
        // Of twenty in order, none of 10,000.
        let twenty: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(spearman(&twenty, &twenty, 1).unwrap().p, 1.0 / 10_001.0);
    }

    #[test]
    fn what_does_not_vary_goes_with_nothing() {
        assert_eq!(spearman(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0], 1), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[0.0, 0.0, 0.0], 1), None);
        assert_eq!((spearman(&[1.0], &[2.0], 1), spearman(&[], &[], 1)), (None, None));
    }
}
