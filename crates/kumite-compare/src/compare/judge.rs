//! Judging a pair: from the values of two in the same blocks to a verdict. All functions here are pure.

use kumite_record::{Ratio, Remaining, Speed, Thrift};
use kumite_stats::{blocks_to_exclude, median, sequential_median_between};

use super::reading::Log;

/// The position of a ratio's interval: above 1, below 1, within the margin around 1, or not known.
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

/// The bar for a verdict: its probability of being wrong, and the ratios that are no difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    pub alpha: f64,
    /// The margin as a logarithm: ln(1 + margin).
    pub margin: f64,
}

/// The logarithms of reference / other, one for each block. `None` if a value is not above 0.
pub(crate) fn log_ratios(other: &[f64], reference: &[f64]) -> Option<Vec<f64>> {
    let pairs = other.iter().zip(reference);
    pairs.map(|(a, b)| (*a > 0.0 && *b > 0.0).then(|| b.ln() - a.ln())).collect()
}

/// The ends of the confidence interval of the median logarithm; `None` if there are too few blocks for one.
pub(crate) fn between(logs: &[Log], alpha: f64) -> Option<(f64, f64)> {
    let bounds: Vec<(f64, f64)> = logs.iter().map(|log| (log.least, log.most)).collect();
    sequential_median_between(&bounds, alpha).ok()
}

/// The side of a ratio, with its estimate and interval. The side is within the margin if the whole interval is, else
/// above or below 1 if the whole interval is, else unknown.
pub(crate) fn judge(logs: &[Log], bar: Bar) -> (Side, Ratio) {
    let known: Vec<f64> = logs.iter().map(|log| log.estimate()).collect();
    let estimate = median(&known).unwrap_or(0.0).exp();
    let Some((low, high)) = between(logs, bar.alpha) else {
        return (Side::Unknown, Ratio { estimate, low: None, high: None });
    };
    let side = match (low, high) {
        (low, high) if low >= -bar.margin && high <= bar.margin => Side::Within,
        (low, _) if low > 0.0 => Side::Above,
        (_, high) if high < 0.0 => Side::Below,
        _ => Side::Unknown,
    };
    let end = |end: f64| end.is_finite().then(|| end.exp());
    (side, Ratio { estimate, low: end(low), high: end(high) })
}

/// About how many more blocks and seconds the nearest verdict takes, if the ratios go on like this. `None` if no
/// verdict is in reach.
pub(crate) fn remaining(logs: &[Log], bar: Bar, seconds: f64) -> Option<Remaining> {
    let n = logs.len();
    let beyond = |is: &dyn Fn(&Log) -> bool| logs.iter().filter(|log| is(log)).count();
    let blocks = |beyond| blocks_to_exclude(beyond, n, bar.alpha).ok().flatten();
    let a_side = blocks(beyond(&|log| log.least <= 0.0).min(beyond(&|log| log.most >= 0.0)));
    let outside = beyond(&|log| log.most > bar.margin).max(beyond(&|log| log.least < -bar.margin));
    let enough = [a_side, blocks(outside)].into_iter().flatten().min()?;
    let blocks = enough.saturating_sub(n).max(1);
    Some(Remaining { blocks, seconds: seconds / n.max(1) as f64 * blocks as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAR: Bar = Bar { alpha: 0.05, margin: 0.0025 };

    fn exact(logs: &[f64]) -> Vec<Log> {
        logs.iter().copied().map(Log::from).collect()
    }

    fn side(logs: &[f64]) -> Side {
        judge(&exact(logs), BAR).0
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
        let (one, ratio) = judge(&exact(&log_ratios(&a, &b).unwrap()), BAR);
        let (other, reciprocal) = judge(&exact(&log_ratios(&b, &a).unwrap()), BAR);
        assert_eq!((one, other), (Side::Above, Side::Below));
        assert!((ratio.estimate * reciprocal.estimate - 1.0).abs() < 1e-12);
        assert!((ratio.low.unwrap() * reciprocal.high.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(log_ratios(&[0.0], &[1.0]), None);
    }

    #[test]
    fn an_undecided_pair_has_what_remains_to_the_nearest_verdict() {
        let few = remaining(&exact(&[0.02; 4]), BAR, 4.0).unwrap();
        assert_eq!((few.blocks, few.seconds), (2, 2.0));
        // Half of them on either side, but nearly all within the margin: no difference is in reach.
        let same: Vec<f64> = (0..20).map(|nth| f64::from(nth - 10) * 0.00027 + 0.0001).collect();
        assert!(remaining(&exact(&same), BAR, 1.0).unwrap().blocks < 30);
        // On either side, and far out: nothing is.
        let apart: Vec<f64> = (0..20).map(|nth| if nth % 2 == 0 { 0.1 } else { -0.1 }).collect();
        assert_eq!(remaining(&exact(&apart), BAR, 1.0), None);
    }

    /// Values that are the same in all runs decide after six blocks, however large or small they are.
    #[test]
    fn what_is_the_same_in_all_runs_takes_as_many_blocks_as_anything_else() {
        for (value, is) in [(0.0, Side::Within), (9.0, Side::Above), (-9.0, Side::Below)] {
            assert_eq!((side(&[value; 5]), side(&[value; 6])), (Side::Unknown, is), "{value}");
        }
        let (_, ratio) = judge(&exact(&[0.0; 6]), BAR);
        assert_eq!(ratio, Ratio { estimate: 1.0, low: Some(1.0), high: Some(1.0) });
    }

    #[test]
    fn what_is_known_only_to_be_small_is_less_than_what_is_large_and_never_no_difference() {
        let all = Log { least: f64::NEG_INFINITY, most: f64::INFINITY };
        assert_eq!(judge(&[all; 50], BAR), (Side::Unknown, Ratio { estimate: 1.0, low: None, high: None }));
        assert_eq!(remaining(&[all; 50], BAR, 1.0), None);
        let at_least = Log { least: 50_f64.ln(), most: f64::INFINITY };
        let (side, ratio) = judge(&[at_least; 6], BAR);
        assert!(side == Side::Above && ratio.high.is_none() && (ratio.low.unwrap() - 50.0).abs() < 1e-9);
        assert_eq!(judge(&[at_least; 5], BAR).0, Side::Unknown);
        // One time is below a tick, and the other is less than a tick.
        let hidden = Log { least: 0.4_f64.ln(), most: f64::INFINITY };
        assert_eq!(judge(&[hidden; 50], BAR).0, Side::Unknown);
    }
}
