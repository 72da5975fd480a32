//! From the values of two in the same blocks to a verdict. Pure.

use kumite_record::{Ratio, Remaining, Speed, Thrift};
use kumite_stats::{blocks_to_exclude, median, sequential_median};

/// Where the whole interval of a ratio lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Above,
    Below,
    Within,
    Unknown,
}

impl From<Side> for Speed {
    fn from(side: Side) -> Speed {
        match side {
            Side::Above => Speed::Faster,
            Side::Below => Speed::Slower,
            Side::Within => Speed::NoDifference,
            Side::Unknown => Speed::Undecided,
        }
    }
}

impl From<Side> for Thrift {
    fn from(side: Side) -> Thrift {
        match side {
            Side::Above => Thrift::Less,
            Side::Below => Thrift::More,
            Side::Within => Thrift::NoDifference,
            Side::Unknown => Thrift::Undecided,
        }
    }
}

/// How sure, and how near to 1 is no difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub alpha: f64,
    /// On the scale of logarithms: ln(1 + margin).
    pub margin: f64,
}

/// The logarithms of reference / other, one for each block, in any order. `None` if a value has no logarithm.
pub(crate) fn log_ratios(other: &[f64], reference: &[f64]) -> Option<Vec<f64>> {
    let pairs = other.iter().zip(reference);
    pairs.map(|(a, b)| (*a > 0.0 && *b > 0.0).then(|| b.ln() - a.ln())).collect()
}

/// The interval first, then the verdict: within the margin, else on a side of 1, else unknown.
pub(crate) fn judge(logs: &[f64], bar: Bar) -> (Side, Ratio) {
    let Ok(interval) = sequential_median(logs, bar.alpha) else {
        let estimate = median(logs).unwrap_or(0.0).exp();
        return (Side::Unknown, Ratio { estimate, low: None, high: None });
    };
    let side = match (interval.low, interval.high) {
        (low, high) if low >= -bar.margin && high <= bar.margin => Side::Within,
        (low, _) if low > 0.0 => Side::Above,
        (_, high) if high < 0.0 => Side::Below,
        _ => Side::Unknown,
    };
    let ratio = Ratio {
        estimate: interval.estimate.exp(),
        low: Some(interval.low.exp()),
        high: Some(interval.high.exp()),
    };
    (side, ratio)
}

/// About how many more blocks, and seconds, it takes to the verdict that is nearest. `None` if none is in reach.
pub(crate) fn remaining(logs: &[f64], bar: Bar, seconds: f64) -> Option<Remaining> {
    let n = logs.len();
    let beyond = |is: &dyn Fn(f64) -> bool| logs.iter().filter(|log| is(**log)).count();
    let blocks = |beyond| blocks_to_exclude(beyond, n, bar.alpha).ok().flatten();
    let a_side = blocks(beyond(&|log| log <= 0.0).min(beyond(&|log| log >= 0.0)));
    let outside = beyond(&|log| log > bar.margin).max(beyond(&|log| log < -bar.margin));
    let enough = [a_side, blocks(outside)].into_iter().flatten().min()?;
    let blocks = enough.saturating_sub(n).max(1);
    Some(Remaining { blocks, seconds: seconds / n.max(1) as f64 * blocks as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAR: Bar = Bar { alpha: 0.05, margin: 0.0025 };

    fn side(logs: &[f64]) -> Side {
        judge(logs, BAR).0
    }

    #[test]
    fn six_blocks_on_one_side_decide_and_five_do_not() {
        assert_eq!(side(&[0.02; 6]), Side::Above);
        assert_eq!(side(&[-0.02; 6]), Side::Below);
        assert_eq!(side(&[0.02; 5]), Side::Unknown);
        assert_eq!(side(&[]), Side::Unknown);
    }

    #[test]
    fn within_the_margin_is_no_difference_even_if_one_is_excluded() {
        assert_eq!(side(&[0.001; 6]), Side::Within);
        assert_eq!(side(&[0.0; 6]), Side::Within);
        assert_eq!(side(&[0.001, 0.001, 0.001, 0.001, 0.001, 0.003]), Side::Above);
        assert_eq!(side(&[-0.003, 0.001, 0.001, 0.001, 0.001, 0.001]), Side::Unknown);
    }

    #[test]
    fn swapping_the_two_swaps_the_verdict() {
        let (a, b) = ([1.0, 1.1, 1.2, 1.0, 1.3, 1.1], [2.0, 2.1, 1.9, 2.0, 2.2, 2.1]);
        let (one, ratio) = judge(&log_ratios(&a, &b).unwrap(), BAR);
        let (other, reciprocal) = judge(&log_ratios(&b, &a).unwrap(), BAR);
        assert_eq!((one, other), (Side::Above, Side::Below));
        assert!((ratio.estimate * reciprocal.estimate - 1.0).abs() < 1e-12);
        assert!((ratio.low.unwrap() * reciprocal.high.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(log_ratios(&[0.0], &[1.0]), None);
    }

    #[test]
    fn an_undecided_pair_has_what_remains_to_the_nearest_verdict() {
        let few = remaining(&[0.02; 4], BAR, 4.0).unwrap();
        assert_eq!((few.blocks, few.seconds), (2, 2.0));
        // Half of them on either side, but nearly all within the margin: no difference is in reach.
        let same: Vec<f64> = (0..20).map(|nth| f64::from(nth - 10) * 0.00027 + 0.0001).collect();
        assert!(remaining(&same, BAR, 1.0).unwrap().blocks < 30);
        // On either side, and far out: nothing is.
        let apart: Vec<f64> = (0..20).map(|nth| if nth % 2 == 0 { 0.1 } else { -0.1 }).collect();
        assert_eq!(remaining(&apart, BAR, 1.0), None);
    }
}
