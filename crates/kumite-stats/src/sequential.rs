//! Confidence sequences: intervals of a median or a ratio that may be looked at after every block.
//!
//! They rest on the signs of the blocks alone, so a few values that are far off move them little. The order of the
//! blocks does not matter.

use statrs::function::gamma::ln_gamma;

use crate::{Error, Interval};

/// The largest number of blocks that a forecast gives.
const MOST_BLOCKS: usize = 100_000;

/// The interval, after these blocks, of the confidence sequence for the median of the distribution that the blocks are
/// drawn from. The sequence ever misses the median with a probability of at most `alpha`, *however often one looks* and
/// whatever makes one stop.
///
/// `values` has one value for each block, in any order. An error if there are fewer than [`fewest_blocks`], if a
/// value is not finite, or if `alpha` is not between 0 and 1.
pub fn sequential_median(values: &[f64], alpha: f64) -> Result<Interval, Error> {
    let need = fewest_blocks(alpha)?;
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        return Err(Error::NotFinite { at });
    }
    let n = values.len();
    if n < need {
        return Err(Error::TooFew { have: n, need });
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let beyond = outside(n, alpha);
    let estimate = sorted[(n - 1) / 2].midpoint(sorted[n / 2]);
    Ok(Interval { estimate, low: sorted[beyond], high: sorted[n - 1 - beyond], n })
}

/// The ends of [`sequential_median`] for values of which only bounds are known, `(least, most)`. Bounds and ends may
/// be infinite. Whatever the true values are, their own interval lies within these ends. An error if there are fewer
/// values than [`fewest_blocks`], if a bound is not a number, or if `alpha` is not between 0 and 1.
pub fn sequential_median_between(values: &[(f64, f64)], alpha: f64) -> Result<(f64, f64), Error> {
    let need = fewest_blocks(alpha)?;
    if let Some(at) = values.iter().position(|(least, most)| least.is_nan() || most.is_nan()) {
        return Err(Error::NotFinite { at });
    }
    let n = values.len();
    if n < need {
        return Err(Error::TooFew { have: n, need });
    }
    let beyond = outside(n, alpha);
    let nth = |nth: usize, mut of: Vec<f64>| *of.select_nth_unstable_by(nth, f64::total_cmp).1;
    let low = nth(beyond, values.iter().map(|(least, _)| *least).collect());
    let high = nth(n - 1 - beyond, values.iter().map(|(_, most)| *most).collect());
    Ok((low, high))
}

/// The interval, after these pairs, of the confidence sequence for their ratio a/b: `exp` of [`sequential_median`] of
/// the logarithms. Swapping a and b gives the reciprocals. An error as for [`sequential_median`]; and if a value is not
/// above 0, or an end of the interval is 0 or infinite as an `f64`.
pub fn sequential_ratio(pairs: &[(f64, f64)], alpha: f64) -> Result<Interval, Error> {
    if let Some(at) = pairs.iter().position(|(a, b)| !(a.is_finite() && b.is_finite())) {
        return Err(Error::NotFinite { at });
    }
    if let Some(at) = pairs.iter().position(|&(a, b)| a <= 0.0 || b <= 0.0) {
        return Err(Error::NotPositive { at });
    }
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| a.ln() - b.ln()).collect();
    let Interval { estimate, low, high, n } = sequential_median(&logs, alpha)?;
    let ratio = Interval { estimate: estimate.exp(), low: low.exp(), high: high.exp(), n };
    match ratio.low > 0.0 && ratio.high.is_finite() {
        true => Ok(ratio),
        false => Err(Error::Undefined),
    }
}

/// The fewest blocks from which [`sequential_median`] gives an interval: enough to exclude a value if all of them lie
/// on one side of it. An error if `alpha` is not between 0 and 1.
pub fn fewest_blocks(alpha: f64) -> Result<usize, Error> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(Error::Confidence(1.0 - alpha));
    }
    Ok((1..).find(|&n| excludes(0, n, alpha)).expect("2^n grows beyond any 1/alpha"))
}

/// The estimated number of blocks after which a value is excluded, if `beyond` of the `n` blocks until now lie on its
/// far side, and the same share of later blocks does. The `n` blocks are counted in; the result is at least `n + 1`.
/// None if half of the blocks or more lie on the far side, or if more than 100,000 blocks would be needed. An error if
/// `alpha` is not between 0 and 1.
pub fn blocks_to_exclude(beyond: usize, n: usize, alpha: f64) -> Result<Option<usize>, Error> {
    let fewest = fewest_blocks(alpha)?;
    let share = beyond as f64 / n.max(1) as f64;
    if share >= 0.5 {
        return Ok(None);
    }
    let will_do = |blocks: usize| excludes((share * blocks as f64).round() as usize, blocks, alpha);
    let mut enough = fewest.max(n + 1);
    while !will_do(enough) {
        enough += (enough / 50).max(1);
        if enough > MOST_BLOCKS {
            return Ok(None);
        }
    }
    Ok(Some(enough))
}

/// The most of n values that may lie on the far side of an excluded value. n must be at least `fewest_blocks`.
fn outside(n: usize, alpha: f64) -> usize {
    (0..n / 2).take_while(|&beyond| excludes(beyond, n, alpha)).last().unwrap_or(0)
}

/// True if a value with `beyond` of n values on its far side is excluded as the median at this level.
fn excludes(beyond: usize, n: usize, alpha: f64) -> bool {
    ln_evidence(beyond, n) >= -alpha.ln()
}

/// The logarithm of the wealth of a gambler who began with 1 and betted, value after value, that more than half lie
/// on one side. It depends on the counts alone. Half of the money goes on every share alike (Robbins' beta-binomial
/// mixture with the uniform prior), a quarter on "all below" and a quarter on "all above".
fn ln_evidence(beyond: usize, n: usize) -> f64 {
    let (k, all) = (beyond as f64, n as f64);
    let fair = all * std::f64::consts::LN_2;
    let mixture = fair + ln_gamma(k + 1.0) + ln_gamma(all - k + 1.0) - ln_gamma(all + 2.0);
    let one_sided =
        if beyond == 0 || beyond == n { fair - 2.0 * std::f64::consts::LN_2 } else { f64::NEG_INFINITY };
    let half = mixture - std::f64::consts::LN_2;
    let most = half.max(one_sided);
    most + ((half - most).exp() + (one_sided - most).exp()).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::coin;

    /// The wealth of [`ln_evidence`], computed by playing the game with 2,000 gamblers for the prior.
    fn played(sides: &[bool]) -> f64 {
        let gamblers = 2_000;
        let mut wealth: Vec<f64> = vec![0.5 / f64::from(gamblers); gamblers as usize];
        let (mut below, mut above) = (0.25, 0.25);
        for &is_beyond in sides {
            for (nth, wealth) in wealth.iter_mut().enumerate() {
                let share = (nth as f64 + 0.5) / f64::from(gamblers);
                *wealth *= 2.0 * if is_beyond { share } else { 1.0 - share };
            }
            below *= if is_beyond { 2.0 } else { 0.0 };
            above *= if is_beyond { 0.0 } else { 2.0 };
        }
        wealth.iter().sum::<f64>() + below + above
    }

    #[test]
    fn the_evidence_is_what_the_gamblers_have() {
        for (beyond, n) in [(0, 1), (0, 6), (6, 6), (1, 6), (3, 10), (12, 40), (90, 200)] {
            let sides: Vec<bool> = (0..n).map(|nth| nth < beyond).collect();
            let (ours, theirs) = (ln_evidence(beyond, n), played(&sides).ln());
            assert!((ours - theirs).abs() < 1e-3, "{beyond} of {n}: {ours} and {theirs}");
        }
    }

    #[test]
    fn the_mixture_is_that_of_scipy() {
        // n * log(2) + betaln(k + 1, n - k + 1), scipy 1.17.1, without the bets on "all": so only k > 0.
        let known =
            [(1, 10, 2.230_991_4), (3, 20, 3.779_637_6), (60, 200, 13.942_611_6), (499, 1000, -3.226_837_8)];
        for (beyond, n, mixture) in known {
            let ours = ln_evidence(beyond, n) + std::f64::consts::LN_2;
            assert!((ours - mixture).abs() < 1e-6, "{beyond} of {n}: {ours} and {mixture}");
        }
    }

    #[test]
    fn looking_after_every_block_excludes_the_truth_no_more_often_than_alpha() {
        for alpha in [0.2, 0.05, 0.01, 0.05 / 6.0] {
            let excluded = coin::ever(1_000, |heads, n| excludes(heads.min(n - heads), n, alpha));
            println!("alpha {alpha:.4}: {excluded:.4} in 1,000 looks");
            assert!(excluded <= alpha && excluded > alpha / 3.0, "{alpha}: {excluded}");
        }
    }

    #[test]
    fn six_blocks_decide_one_claim_and_nine_one_of_six() {
        assert_eq!([0.05, 0.02, 0.01, 0.05 / 6.0].map(|alpha| fewest_blocks(alpha).unwrap()), [6, 8, 9, 9]);
        let six: Vec<f64> = (1..=6).map(f64::from).collect();
        let interval = sequential_median(&six, 0.05).unwrap();
        assert_eq!((interval.low, interval.estimate, interval.high), (1.0, 3.5, 6.0));
        assert_eq!(sequential_median(&six[..5], 0.05), Err(Error::TooFew { have: 5, need: 6 }));
        for bad in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(matches!(fewest_blocks(bad), Err(Error::Confidence(_))), "{bad}");
        }
    }

    #[test]
    fn equal_values_have_an_interval_without_width() {
        let interval = sequential_ratio(&[(3.0, 2.0); 10], 0.05).unwrap();
        assert_eq!((interval.low, interval.high), (interval.estimate, interval.estimate));
        assert!((interval.estimate - 1.5).abs() < 1e-12);
    }

    #[test]
    fn what_is_known_only_in_part_makes_the_interval_wider_and_never_narrower() {
        let known: Vec<(f64, f64)> = (1..=20).map(|nth| (f64::from(nth), f64::from(nth))).collect();
        let exact =
            sequential_median(&known.iter().map(|(value, _)| *value).collect::<Vec<_>>(), 0.05).unwrap();
        let of = |values: &[(f64, f64)]| sequential_median_between(values, 0.05).unwrap();
        assert_eq!(of(&known), (exact.low, exact.high));
        assert_eq!(of(&known), (4.0, 17.0), "three of twenty may lie beyond");
        let all = (f64::NEG_INFINITY, f64::INFINITY);
        let without = |unknown: usize| [&vec![all; unknown], &known[unknown..]].concat();
        assert_eq!(of(&without(1)), (4.0, 18.0), "each that is unknown counts against both ends");
        assert_eq!(of(&without(3)), (4.0, 20.0));
        assert_eq!(of(&without(4)), all);
        assert_eq!(of(&[(3.0, f64::INFINITY); 6]), (3.0, f64::INFINITY), "at least");
        assert!(sequential_median_between(&[(f64::NAN, 1.0); 6], 0.05).is_err());
        assert_eq!(sequential_median_between(&known[..5], 0.05), Err(Error::TooFew { have: 5, need: 6 }));
    }

    #[test]
    fn what_it_would_take_grows_as_the_border_nears() {
        let expected = [(0, 4), (1, 10), (8, 20), (45, 100), (10, 20)];
        let found = expected.map(|(beyond, n)| blocks_to_exclude(beyond, n, 0.05).unwrap());
        assert_eq!(found[0], Some(6));
        assert!(found[1].unwrap() < found[2].unwrap() && found[2].unwrap() < found[3].unwrap(), "{found:?}");
        assert_eq!(found[4], None, "half of them on either side");
    }

    proptest! {
        #[test]
        fn swapping_gives_reciprocals(pairs in prop::collection::vec((0.1f64..10.0, 0.1f64..10.0), 6..40)) {
            let swapped: Vec<(f64, f64)> = pairs.iter().map(|&(a, b)| (b, a)).collect();
            let (one, other) = (sequential_ratio(&pairs, 0.05).unwrap(), sequential_ratio(&swapped, 0.05).unwrap());
            prop_assert!((one.low * other.high - 1.0).abs() < 1e-9);
            prop_assert!((one.estimate * other.estimate - 1.0).abs() < 1e-9);
            prop_assert!(one.low <= one.estimate && one.estimate <= one.high);
        }
    }
}
