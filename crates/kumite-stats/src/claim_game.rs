//! The bets on a claim that has several comparisons.

use crate::one_sided::wealth_after;

/// Counts of the rounds in which a comparison was true, and of those in which it was not. In the rest of the `n` rounds
/// it is not known whether the comparison was true; these rounds count against both bets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of rounds in which the comparison was true.
    pub so: usize,
    /// The number of rounds in which the comparison was not true.
    pub not_so: usize,
    /// The number of all rounds of the comparison; at least `so + not_so`.
    pub n: usize,
}

impl Tally {
    /// Counts one more round: `Some(true)` if the comparison was true in it, `Some(false)` if not, `None` if it is not
    /// known.
    pub fn count(&mut self, is_so: Option<bool>) {
        self.n += 1;
        self.so += usize::from(is_so == Some(true));
        self.not_so += usize::from(is_so == Some(false));
    }
}

/// The tallies of a claim's comparisons for three places of the border, with one tally for each bet on a comparison.
/// The claim holds if all its comparisons do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimRounds {
    /// The tallies with the border that the claim has.
    pub claimed: Vec<Tally>,
    /// The tallies with a border that the margin makes easier to meet.
    pub loosened: Vec<Tally>,
    /// The tallies with a border that the margin makes harder to meet.
    pub tightened: Vec<Tally>,
}

/// The wealth of the bets on each verdict, as a multiple of the stake.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClaimWealth {
    /// The wealth of the bet that the claim holds: the smallest wealth of the bets on its comparisons. 0 without a
    /// comparison; never below 0.
    pub holds: f64,
    /// The wealth of the bet that the claim fails: the mean wealth of the bets against its comparisons. If all
    /// comparisons are true, this is still a fair or losing game. 0 without a comparison; never below 0.
    pub fails: f64,
    /// The wealth of the bet on no difference: the smaller wealth of two bets, that the claim holds with loosened
    /// borders, and that it fails with tightened borders. 0 without a comparison; never below 0.
    pub no_difference: f64,
}

impl ClaimRounds {
    /// The tallies as they would be if each comparison was true (or, if `is_so` is false, not true) in all rounds in
    /// which it is not known whether it was.
    pub fn with_open_rounds(&self, is_so: bool) -> ClaimRounds {
        let told = |tallies: &Vec<Tally>| {
            let tell = |tally: &Tally| match is_so {
                true => Tally { so: tally.n - tally.not_so, ..*tally },
                false => Tally { not_so: tally.n - tally.so, ..*tally },
            };
            tallies.iter().map(tell).collect()
        };
        ClaimRounds {
            claimed: told(&self.claimed),
            loosened: told(&self.loosened),
            tightened: told(&self.tightened),
        }
    }

    /// The wealth of the bets on each verdict after these rounds.
    pub fn wealth(&self) -> ClaimWealth {
        self.wealth_after(0)
    }

    /// The wealth of the bets on each verdict after `more` further rounds, if each comparison is true, and not true, in
    /// the same share of them as in these rounds, rounded down to whole rounds.
    pub fn wealth_after(&self, more: usize) -> ClaimWealth {
        let least = |tallies: &[Tally]| {
            let so = tallies.iter().map(|tally| continued(tally.so, tally.n, more));
            so.reduce(f64::min).unwrap_or(0.0)
        };
        let mean = |tallies: &[Tally]| {
            let not_so = tallies.iter().map(|tally| continued(tally.not_so, tally.n, more));
            not_so.sum::<f64>() / tallies.len().max(1) as f64
        };
        ClaimWealth {
            holds: least(&self.claimed),
            fails: mean(&self.claimed),
            no_difference: least(&self.loosened).min(mean(&self.tightened)),
        }
    }
}

impl ClaimWealth {
    /// The largest of the three wealths.
    pub fn most(&self) -> f64 {
        self.holds.max(self.fails).max(self.no_difference)
    }
}

fn continued(some: usize, n: usize, more: usize) -> f64 {
    wealth_after((some, n), some as f64 / n.max(1) as f64, more)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::one_sided::wealth;

    fn tally(so: usize, n: usize) -> Tally {
        Tally { so, not_so: n - so, n }
    }

    #[test]
    fn a_claim_holds_by_its_least_bet_and_fails_by_their_mean() {
        let claimed = vec![tally(6, 6), tally(5, 6), tally(0, 6)];
        let rounds = ClaimRounds { claimed, ..ClaimRounds::default() };
        let found = rounds.wealth();
        assert_eq!(found.holds, wealth(0, 6));
        let sum = wealth(0, 6) + wealth(1, 6) + wealth(6, 6);
        assert!((found.fails - sum / 3.0).abs() < 1e-12);
        assert_eq!(found.no_difference, 0.0, "nothing is betted on it");
        assert_eq!(found.most(), found.fails);
    }

    #[test]
    fn a_round_that_cannot_be_told_counts_against_both() {
        let mut tally = Tally::default();
        [Some(true), None, Some(true)].into_iter().for_each(|round| tally.count(round));
        assert_eq!(tally, Tally { so: 2, not_so: 0, n: 3 });
        let found = ClaimRounds { claimed: vec![tally], ..ClaimRounds::default() }.wealth();
        assert_eq!((found.holds, found.fails), (wealth(2, 3), wealth(0, 3)));
        let rounds = ClaimRounds { claimed: vec![tally], ..ClaimRounds::default() };
        assert_eq!(rounds.with_open_rounds(true).wealth().holds, wealth(3, 3));
        assert_eq!(rounds.with_open_rounds(false).wealth().fails, wealth(1, 3));
    }

    #[test]
    fn no_difference_takes_both() {
        let found = |loosened, tightened| {
            let rounds = ClaimRounds {
                claimed: vec![tally(3, 6)],
                loosened: vec![loosened],
                tightened: vec![tightened],
            };
            rounds.wealth().no_difference
        };
        assert_eq!(found(tally(6, 6), tally(0, 6)), wealth(6, 6));
        assert_eq!(found(tally(6, 6), tally(1, 6)), wealth(5, 6));
        assert_eq!(found(tally(4, 6), tally(0, 6)), wealth(4, 6));
    }

    proptest! {
        /// All false verdicts of a claim come from one and the same bet, whatever is true.
        #[test]
        fn a_false_verdict_is_that_of_one_game(
            rounds in prop::collection::vec(prop::collection::vec(0.5f64..2.0, 1..5), 1..30), margin in 0.0f64..0.3
        ) {
            let k = rounds.iter().map(Vec::len).min().unwrap();
            let tallies = |border: f64| -> Vec<Tally> {
                (0..k)
                    .map(|nth| {
                        let mut tally = Tally::default();
                        rounds.iter().for_each(|ratios| tally.count(Some(ratios[nth] > border)));
                        tally
                    })
                    .collect()
            };
            let claim = ClaimRounds {
                claimed: tallies(1.0),
                loosened: tallies(1.0 / (1.0 + margin)),
                tightened: tallies(1.0 + margin),
            };
            let found = claim.wealth();
            // Tightened it is true: "fails" and "no difference" are false.
            let of = |claimed: &Vec<Tally>| ClaimRounds { claimed: claimed.clone(), ..ClaimRounds::default() }.wealth();
            prop_assert!(found.fails.max(found.no_difference) <= of(&claim.tightened).fails);
            // Loosened it is false: "holds" and "no difference" are.
            prop_assert!(found.holds.max(found.no_difference) <= of(&claim.loosened).holds);
        }
    }
}
