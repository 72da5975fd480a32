//! Wealths, looked up instead of reckoned.

use kumite_stats::wealth;

/// The wealth for every number of rounds up to some.
pub struct Wealths {
    of_n: Vec<Vec<f64>>,
}

impl Wealths {
    pub fn new(rounds: usize) -> Wealths {
        Wealths { of_n: (0..=rounds).map(|n| (0..=n).map(|so| wealth(so, n)).collect()).collect() }
    }

    pub fn get(&self, so: usize, n: usize) -> f64 {
        self.of_n[n][so]
    }

    /// The least wealth of bets that won in so many of n rounds: that of the one that won least.
    pub fn least(&self, so: impl Iterator<Item = usize>, n: usize) -> f64 {
        self.get(so.min().unwrap_or(0), n)
    }

    /// The mean wealth of those who betted against them.
    pub fn mean_against(&self, so: impl ExactSizeIterator<Item = usize>, n: usize) -> f64 {
        let (bets, wealths) = (so.len() as f64, &self.of_n[n]);
        so.map(|so| wealths[n - so]).sum::<f64>() / bets
    }
}

#[test]
fn the_wealths_are_those_of_claim_rounds() {
    use kumite_stats::{ClaimRounds, Tally};

    let wealths = Wealths::new(30);
    for so in [vec![0], vec![5, 30], vec![29, 27, 3], vec![15; 4]] {
        let claimed = so.iter().map(|&so| Tally { so, not_so: 30 - so, n: 30 }).collect();
        let expected = ClaimRounds { claimed, ..ClaimRounds::default() }.wealth();
        assert_eq!(wealths.least(so.iter().copied(), 30), expected.holds);
        assert_eq!(wealths.mean_against(so.iter().copied(), 30), expected.fails);
    }
}
