//! The comparison of counts. There is no probability here: two counts are the same, or are not, in all runs that were
//! made. All functions are pure.

use std::collections::BTreeMap;

use kumite_record::{CountRatio, CountState, FunctionCounts};

/// The most functions that are named.
const MOST_NAMED: usize = 5;

/// True if all counts differ by no more than this share.
pub(super) fn is_within(counts: &[u64], share: f64) -> bool {
    let (least, most) = ends(counts);
    most <= least * (1.0 + share)
}

/// The finding on the counts of `a` and `b`, with the range of b / a over all pairs of runs. No ratio if one of the
/// two has no counts, or a count of 0.
pub(super) fn compared(a: &[u64], b: &[u64], margin: f64) -> (CountState, Option<CountRatio>) {
    let ((least_a, most_a), (least_b, most_b)) = (ends(a), ends(b));
    if a.is_empty() || b.is_empty() || least_a == 0.0 || least_b == 0.0 {
        return (CountState::CannotTell, None);
    }
    let ratio = CountRatio { low: least_b / most_a, high: most_b / least_a };
    let (lower, upper) = (1.0 / (1.0 + margin), 1.0 + margin);
    let state = match ratio {
        CountRatio { low, high } if low >= lower && high <= upper => CountState::Same,
        CountRatio { low, high } if low > upper || high < lower => CountState::Changed,
        _ => CountState::CannotTell,
    };
    (state, Some(ratio))
}

fn ends(counts: &[u64]) -> (f64, f64) {
    let least = counts.iter().min().copied().unwrap_or(0);
    (least as f64, counts.iter().max().copied().unwrap_or(0) as f64)
}

/// The functions whose instructions differ most between `a` and `b`, those with the largest difference first.
pub(super) fn most_changed(a: &BTreeMap<String, u64>, b: &BTreeMap<String, u64>) -> Vec<FunctionCounts> {
    let only_b = b.keys().filter(|name| !a.contains_key(*name));
    let count = |of: &BTreeMap<String, u64>, name: &String| of.get(name).copied().unwrap_or(0);
    let mut all: Vec<FunctionCounts> = a
        .keys()
        .chain(only_b)
        .map(|name| FunctionCounts { name: name.clone(), a: count(a, name), b: count(b, name) })
        .filter(|function| function.a != function.b)
        .collect();
    all.sort_by_key(|function| std::cmp::Reverse(function.a.abs_diff(function.b)));
    all.truncate(MOST_NAMED);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use CountState::{CannotTell, Changed, Same};

    #[test]
    fn counts_are_changed_only_if_their_ranges_are_further_apart_than_the_margin() {
        let state = |a: &[u64], b: &[u64]| compared(a, b, 0.001).0;
        assert_eq!(state(&[1_000_000; 3], &[1_000_000; 3]), Same);
        assert_eq!(state(&[1_000_000; 3], &[1_001_000; 3]), Same, "at the margin they are not beyond it");
        assert_eq!(state(&[1_000_000; 3], &[1_001_001; 3]), Changed);
        assert_eq!(state(&[1_001_001; 3], &[1_000_000; 3]), Changed, "less is a change, too");
        // The ranges touch, or are closer than the margin.
        assert_eq!(state(&[1_000_000, 1_003_000], &[1_003_000, 1_006_000]), CannotTell);
        assert_eq!(state(&[1_000_000, 1_003_000], &[1_003_900, 1_006_000]), CannotTell);
        assert_eq!(state(&[1_000_000, 1_003_000], &[1_004_100, 1_006_000]), Changed);
        // Unsteady, but for a range within the margin.
        assert_eq!(state(&[1_000_000, 1_002_000], &[1_000_000, 1_002_000]), CannotTell);
        assert_eq!(state(&[1_000_000, 1_000_500], &[1_000_000, 1_000_500]), Same);
        assert_eq!(compared(&[], &[1], 0.001), (CannotTell, None));
        assert_eq!(compared(&[0], &[1], 0.001), (CannotTell, None));
    }

    #[test]
    fn the_range_of_the_ratio_is_that_of_all_pairs_of_runs() {
        let (_, ratio) = compared(&[100, 200], &[300, 400], 0.001);
        assert_eq!(ratio, Some(CountRatio { low: 1.5, high: 4.0 }));
    }

    #[test]
    fn counts_are_steady_within_a_ten_thousandth() {
        assert!(is_within(&[1_000_000, 1_000_100], 1e-4));
        assert!(!is_within(&[1_000_000, 1_000_101], 1e-4));
        assert!(is_within(&[], 1e-4));
    }

    #[test]
    fn the_functions_that_changed_most_come_first_and_those_that_did_not_are_left_out() {
        let of = |counts: &[(&str, u64)]| counts.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        let a = of(&[("grew", 10), ("same", 500), ("gone", 40)]);
        let b = of(&[("grew", 30), ("same", 500), ("new", 100)]);
        let found: Vec<_> = most_changed(&a, &b).into_iter().map(|it| (it.name, it.a, it.b)).collect();
        let named = |name: &str, a, b| (name.to_owned(), a, b);
        assert_eq!(found, [named("new", 0, 100), named("gone", 40, 0), named("grew", 10, 30)]);
    }
}
