//! Known answers of the bets on one side. Wealths are exact fractions, reckoned by Python's `fractions` from the
//! integral that is in the documentation; the examples of e-BH by hand.

use kumite_stats::{ClaimRounds, Decisions, ErrorRate, Tally, at_least, at_most, wealth};
use proptest::collection::vec;
use proptest::prelude::*;

fn tally(so: usize, n: usize) -> Tally {
    Tally { so, not_so: n - so, n }
}

fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} and {expected}");
}

#[test]
fn wealths_of_few_rounds_are_known_fractions() {
    let known = [
        ((0, 0), 1.0),
        ((0, 1), 1.0 / 4.0),
        ((1, 1), 7.0 / 4.0),
        ((1, 2), 1.0 / 3.0),
        ((2, 2), 19.0 / 6.0),
        ((4, 5), 19.0 / 20.0),
        ((5, 5), 85.0 / 4.0),
        ((5, 6), 10.0 / 7.0),
        ((6, 6), 575.0 / 14.0),
        ((7, 8), 251.0 / 72.0),
        ((8, 8), 2_815.0 / 18.0),
    ];
    for ((so, n), expected) in known {
        assert_near(wealth(so, n), expected);
    }
}

#[test]
fn a_claim_of_three_of_which_one_never_is_so_fails_by_a_known_fraction() {
    let claimed = vec![tally(6, 6), tally(6, 6), tally(0, 6)];
    let found = ClaimRounds { claimed, ..ClaimRounds::default() }.wealth();
    assert_near(found.holds, 1.0 / 14.0);
    assert_near(found.fails, (1.0 / 14.0 + 1.0 / 14.0 + 575.0 / 14.0) / 3.0);
}

#[test]
fn bounds_of_eight_rounds_are_the_outermost_values() {
    let eight = [1.3, 1.1, 1.7, 1.2, 1.4, 1.6, 1.9, 1.5];
    assert_eq!((at_least(&eight, 120.0), at_most(&eight, 120.0)), (Ok(Some(1.1)), Ok(Some(1.9))));
    assert_eq!(at_least(&eight, 157.0), Ok(None));
    assert_eq!(at_least(&eight, 3.0), Ok(Some(1.2)), "seven of eight are enough");
}

/// Of ten claims at 5 %: 200 for one verdict, 100 for two, 66.7, 50, 40, 33.3.
#[test]
fn as_many_verdicts_are_given_as_have_enough_for_so_many() {
    let threshold = |wealths: &[f64]| Decisions::new(ErrorRate::FalseDiscovery, 0.05, 10).threshold(wealths);
    assert_near(threshold(&[39.0, 110.0, 5.0, 500.0, 30.0, 52.0, 70.0, 0.1]), 50.0);
    // Five would not do, six do.
    assert_near(threshold(&[39.0, 110.0, 5.0, 500.0, 34.0, 52.0, 70.0, 0.1]), 200.0 / 6.0);
    assert_near(threshold(&[190.0, 99.0, 66.0, 49.0]), 200.0);
}

/// How many verdicts e-BH gives.
fn given(wealths: &[f64], alpha: f64) -> usize {
    let enough = |d: usize| {
        let need = wealths.len() as f64 / (alpha * d as f64);
        wealths.iter().filter(|wealth| **wealth >= need).count() >= d
    };
    (1..=wealths.len()).rev().find(|d| enough(*d)).unwrap_or(0)
}

proptest! {
    #[test]
    fn claims_decided_round_by_round_are_those_that_all_wealths_give_at_the_end(
        rounds in vec(vec(0.3f64..3.0, 6), 1..30)
    ) {
        let mut decisions = Decisions::new(ErrorRate::FalseDiscovery, 0.05, 6);
        let (mut wealths, mut decided) = ([1.0; 6], [false; 6]);
        for factors in &rounds {
            let undecided: Vec<usize> = (0..6).filter(|claim| !decided[*claim]).collect();
            undecided.iter().for_each(|&claim| wealths[claim] *= factors[claim]);
            let now: Vec<f64> = undecided.iter().map(|&claim| wealths[claim]).collect();
            let threshold = decisions.threshold(&now);
            for claim in undecided {
                if wealths[claim] >= threshold {
                    decided[claim] = true;
                    decisions.decide(wealths[claim]);
                }
            }
            let number = given(&wealths, 0.05);
            prop_assert_eq!(decided.iter().filter(|is_decided| **is_decided).count(), number);
            let threshold = 120.0 / number.max(1) as f64;
            for (wealth, is_decided) in wealths.iter().zip(decided) {
                prop_assert_eq!(*wealth >= threshold, is_decided);
            }
        }
    }
}
