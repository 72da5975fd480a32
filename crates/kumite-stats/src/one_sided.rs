//! One-sided bets that a thing is so in more than half of all rounds.

use crate::Error;

/// The largest number of rounds that a forecast gives.
const MOST_ROUNDS: usize = 500;

/// The wealth of a gambler who began with 1 and bet, round after round, that a thing is true in more than half of all
/// rounds, after it was true in `so` of `n` rounds. If it is true in half of all rounds or less, the game is fair or a
/// losing one.
///
/// Half of the money is spread evenly over every share above ½, half is on "in all". The wealth never falls when the
/// thing is true in one more round.
///
/// # Panics
///
/// If `so` is more than `n`.
pub fn wealth(so: usize, n: usize) -> f64 {
    assert!(so <= n, "{so} of {n} rounds");
    // 2 ∫ (2p)^so (2 − 2p)^(n − so) dp over ½ to 1, integrated by parts: each term is a fraction of the one before.
    let mut term = 1.0 / (n + 1 - so) as f64;
    let mut mixture = term;
    for nth in (1..=so).rev() {
        term *= nth as f64 / (n + 2 - nth) as f64;
        mixture += term;
    }
    let all = if so == n { 2_f64.powi(i32::try_from(n).unwrap_or(i32::MAX)) } else { 0.0 };
    f64::midpoint(mixture, all)
}

/// The fewest of n rounds in which a thing must be so for the wealth to reach the threshold. None if even n are not
/// enough.
fn rounds_so(n: usize, threshold: f64) -> Option<usize> {
    let reaches = |so: usize| wealth(so, n) >= threshold;
    if !reaches(n) {
        return None;
    }
    let (mut least, mut enough) = (0, n);
    while least < enough {
        let middle = usize::midpoint(least, enough);
        if reaches(middle) { enough = middle } else { least = middle + 1 }
    }
    Some(enough)
}

/// The wealth after `more` rounds beyond the given `(so, n)`, if the thing is true in this share of them, rounded down.
pub fn wealth_after((so, n): (usize, usize), share: f64, more: usize) -> f64 {
    let so_of_more = (share * more as f64 + 1e-9).floor() as usize;
    wealth(so + so_of_more.min(more), n + more)
}

/// The fewest rounds, from 0 on, for which `is_reached` is true. From 100 rounds on it is asked in steps of 2 %, so the
/// result may be that much too large. None if more than 500 rounds are needed.
pub fn fewest_rounds(is_reached: impl Fn(usize) -> bool) -> Option<usize> {
    let mut rounds = 0;
    while !is_reached(rounds) {
        rounds += (rounds / 50).max(1);
        if rounds > MOST_ROUNDS {
            return None;
        }
    }
    Some(rounds)
}

/// The highest lower bound of the median of the values' distribution that is shown by a bet whose wealth reached
/// `threshold`. `values` has one value for each round, in any order; infinite values are allowed, so the bound may be
/// infinite, too. None if there are too few values; an error if one is not a number.
pub fn at_least(values: &[f64], threshold: f64) -> Result<Option<f64>, Error> {
    let sorted = sorted(values)?;
    Ok(rounds_so(sorted.len(), threshold).map(|so| sorted[sorted.len() - so]))
}

/// The lowest upper bound of the median of the values' distribution that is shown by a bet whose wealth reached
/// `threshold`. `values` has one value for each round, in any order; infinite values are allowed, so the bound may be
/// infinite, too. None if there are too few values; an error if one is not a number.
pub fn at_most(values: &[f64], threshold: f64) -> Result<Option<f64>, Error> {
    let sorted = sorted(values)?;
    Ok(rounds_so(sorted.len(), threshold).map(|so| sorted[so - 1]))
}

fn sorted(values: &[f64]) -> Result<Vec<f64>, Error> {
    if let Some(at) = values.iter().position(|value| value.is_nan()) {
        return Err(Error::NotFinite { at });
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::coin;

    /// The wealth of [`wealth`], computed by playing the game with 4,000 gamblers for the shares above ½.
    fn played(sides: &[bool]) -> f64 {
        let gamblers = 4_000;
        let mut wealth = vec![0.5 / f64::from(gamblers); gamblers as usize];
        let mut all = 0.5;
        for &is_so in sides {
            for (nth, wealth) in wealth.iter_mut().enumerate() {
                let share = f64::midpoint(1.0, (nth as f64 + 0.5) / f64::from(gamblers));
                *wealth *= 2.0 * if is_so { share } else { 1.0 - share };
            }
            all *= if is_so { 2.0 } else { 0.0 };
        }
        wealth.iter().sum::<f64>() + all
    }

    #[test]
    fn the_wealth_is_what_the_gamblers_have() {
        for (so, n) in [(0, 0), (0, 1), (1, 1), (0, 6), (6, 6), (5, 6), (3, 10), (12, 40), (110, 200)] {
            let sides: Vec<bool> = (0..n).map(|nth| nth < so).collect();
            let (ours, theirs) = (wealth(so, n), played(&sides));
            assert!((ours / theirs - 1.0).abs() < 1e-3, "{so} of {n}: {ours} and {theirs}");
        }
    }

    #[test]
    fn the_wealth_is_that_of_exact_fractions() {
        // 2^n · B(k + 1, n − k + 1) · P(Binomial(n + 1, ½) ≤ k), and 2^n / 2 if k = n, in Python's `fractions`.
        let known = [
            ((0, 10), 0.045_454_545_454_545_456),
            ((5, 10), 0.184_704_184_704_184_7),
            ((9, 10), 9.254_545_454_545_454),
            ((10, 10), 605.045_454_545_454_5),
            ((140, 200), 1_135_531.722_019_285_4),
        ];
        for ((so, n), expected) in known {
            let ours = wealth(so, n);
            assert!((ours / expected - 1.0_f64).abs() < 1e-6, "{so} of {n}: {ours}");
        }
    }

    #[test]
    fn a_fair_coin_brings_it_to_the_threshold_no_more_often_than_one_in_threshold() {
        for threshold in [5.0, 20.0, 120.0] {
            let reached = coin::ever(400, |heads, n| wealth(heads, n) >= threshold);
            println!("threshold {threshold}: {reached:.4} in 400 looks");
            assert!(reached <= 1.0 / threshold && reached > 0.3 / threshold, "{threshold}: {reached}");
        }
    }

    fn fewest(share: f64, threshold: f64) -> Option<usize> {
        fewest_rounds(|more| wealth_after((0, 0), share, more) >= threshold)
    }

    #[test]
    fn five_rounds_decide_one_claim_alone_and_each_of_six_that_are_all_clear() {
        let found = [20.0, 40.0, 120.0, 720.0].map(|threshold| fewest(1.0, threshold));
        assert_eq!(found, [Some(5), Some(6), Some(8), Some(11)]);
        assert_eq!((rounds_so(4, 20.0), rounds_so(5, 20.0), rounds_so(20, 20.0)), (None, Some(5), Some(17)));
    }

    #[test]
    fn what_it_takes_grows_as_the_share_nears_a_half() {
        let needs = [1.0, 0.95, 0.9, 0.8, 0.6].map(|share| fewest(share, 20.0).unwrap());
        assert!(needs.is_sorted() && needs[0] < needs[4], "{needs:?}");
        assert_eq!(fewest(0.5, 20.0), None);
        assert_eq!(fewest_rounds(|_| true), Some(0));
        assert_eq!(wealth_after((4, 5), 0.9, 10), wealth(13, 15));
    }

    #[test]
    fn a_bound_is_the_value_that_enough_rounds_are_beyond() {
        let six: Vec<f64> = (1..=6).map(f64::from).collect();
        assert_eq!((at_least(&six, 20.0), at_most(&six, 20.0)), (Ok(Some(1.0)), Ok(Some(6.0))));
        assert_eq!((at_least(&six[..4], 20.0), at_most(&six[..4], 20.0)), (Ok(None), Ok(None)));
        let twenty: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!((at_least(&twenty, 20.0), at_most(&twenty, 20.0)), (Ok(Some(4.0)), Ok(Some(17.0))));
        assert_eq!(at_most(&[f64::INFINITY; 6], 20.0), Ok(Some(f64::INFINITY)));
        assert_eq!(at_least(&[1.0, f64::NAN], 20.0), Err(Error::NotFinite { at: 1 }));
    }

    proptest! {
        #[test]
        fn one_more_round_that_is_so_never_costs(n in 0usize..300, share in 0.0f64..=1.0) {
            let so = (share * n as f64) as usize;
            let now = wealth(so, n);
            prop_assert!(wealth(so + 1, n + 1) >= now);
            prop_assert!(wealth(so, n + 1) <= now);
            prop_assert!(so == n || wealth(so + 1, n) >= now);
        }

        #[test]
        fn a_bound_and_the_bet_agree(
            values in prop::collection::vec(-10i32..10, 5..40), border in -10i32..10, threshold in 5.0f64..200.0
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let border = f64::from(border);
            let above = values.iter().filter(|value| **value > border).count();
            let is_shown = at_least(&values, threshold).unwrap().is_some_and(|bound| bound > border);
            prop_assert_eq!(is_shown, wealth(above, values.len()) >= threshold);
            let below = values.iter().filter(|value| **value <= border).count();
            let is_shown = at_most(&values, threshold).unwrap().is_some_and(|bound| bound <= border);
            prop_assert_eq!(is_shown, wealth(below, values.len()) >= threshold);
        }
    }
}
