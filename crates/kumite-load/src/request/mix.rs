//! Turns among sessions with weights.
//!
//! Each connection has turns of its own, so that each has its share of every session: were there one row of turns for
//! all, two sessions on an even number of connections would have connections of their own. Connections begin at
//! different turns, so that they do not all begin the same session at once.

use std::sync::Arc;

/// The most turns of a cycle.
pub(crate) const LONGEST_CYCLE: u64 = 1_000_000;
/// The golden ratio's part after the point: its multiples, without what is before the point, are spread evenly however
/// many there are.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The order in which a connection begins sessions, over and over.
#[derive(Debug, Clone)]
pub(crate) struct Turns(Arc<[u32]>);

impl Turns {
    /// Turns by these weights. A session of weight 0 gets no turn. `None` if the weights, divided by their greatest
    /// common divisor, add up to more than [`LONGEST_CYCLE`], or to 0.
    pub fn new(weights: &[u32]) -> Option<Turns> {
        let common = weights.iter().fold(0, |common, &weight| divisor(common, weight)).max(1);
        let total = weights.iter().map(|&weight| u64::from(weight / common)).sum::<u64>();
        if !(1..=LONGEST_CYCLE).contains(&total) {
            return None;
        }
        let mut mix = Mix::new(weights.iter().map(|weight| weight / common));
        Some(Turns((0..total).map(|_| mix.next()).collect()))
    }

    /// The first turn of the connection of this number.
    pub fn first(&self, connection: u64) -> u32 {
        let share = (connection as f64 * GOLDEN).fract();
        (share * self.0.len() as f64) as u32 % self.0.len() as u32
    }

    /// Returns the index of the session whose turn it is, and moves `turn` on to the next one.
    #[inline]
    pub fn next(&self, turn: &mut u32) -> usize {
        let index = self.0[*turn as usize] as usize;
        *turn += 1;
        if *turn as usize == self.0.len() {
            *turn = 0;
        }
        index
    }
}

fn divisor(mut a: u32, mut b: u32) -> u32 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// One cycle of turns, such that at every moment each session has had its share of them to within less than one. The
/// next turn goes to the session whose turn is due the earliest, among those that have had less than their share.
/// (This is scheduling by earliest deadline, which for unit jobs on one processor misses none. The well-known smooth
/// weighted round robin is simpler but may fall behind by more than a turn with eight sessions.)
struct Mix {
    /// The weight of each session, and the turns that it has had.
    sessions: Vec<(u64, u64)>,
    total: u64,
    turn: u64,
}

impl Mix {
    fn new(weights: impl Iterator<Item = u32>) -> Mix {
        let sessions: Vec<_> = weights.map(|weight| (u64::from(weight), 0)).collect();
        let total = sessions.iter().map(|(weight, _)| weight).sum();
        Mix { sessions, total, turn: 0 }
    }

    /// The index of the session whose turn it is.
    fn next(&mut self) -> u32 {
        self.turn += 1;
        let due = |&(weight, had): &(u64, u64)| {
            (self.turn * weight > self.total * had).then(|| ((had + 1) * self.total).div_ceil(weight))
        };
        let waiting =
            self.sessions.iter().enumerate().filter_map(|(index, session)| Some((due(session)?, index)));
        let index = waiting.min().map_or(0, |(_, index)| index);
        self.sessions[index].1 += 1;
        index as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The sessions of the first `count` turns from the beginning of a cycle.
    fn begun(weights: &[u32], count: usize) -> Vec<usize> {
        let (turns, mut turn) = (Turns::new(weights).unwrap(), 0);
        (0..count).map(|_| turns.next(&mut turn)).collect()
    }

    #[test]
    fn turns_follow_the_weights() {
        assert_eq!(begun(&[1], 3), [0, 0, 0]);
        assert_eq!(begun(&[1, 1], 4), [0, 1, 0, 1]);
        assert_eq!(begun(&[2, 1], 6), [0, 0, 1, 0, 0, 1]);
        assert_eq!(begun(&[0, 1, 0], 3), [1, 1, 1]);
        assert_eq!(begun(&[u32::MAX; 3], 4), [0, 1, 2, 0]);
        assert_eq!(begun(&[600_000_000, 400_000_000], 5), begun(&[3, 2], 5));
        for none in [&[0, 0][..], &[], &[u32::MAX, 1], &[1_000_000, 1]] {
            assert!(Turns::new(none).is_none(), "{none:?}");
        }
        assert!(Turns::new(&[999_999, 1]).is_some());
    }

    #[test]
    fn connections_begin_at_turns_that_are_spread_over_the_cycle() {
        let turns = Turns::new(&[999, 1]).unwrap();
        for connections in [10, 100, 1_000] {
            let mut first: Vec<u32> = (0..connections).map(|connection| turns.first(connection)).collect();
            first.sort_unstable();
            let gap = first.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            assert!(u64::from(gap) <= 3 * 1_000 / connections, "{gap} of {connections}");
        }
        let two = Turns::new(&[1, 1]).unwrap();
        assert_eq!([0, 1, 2, 3].map(|connection| two.first(connection)), [0, 1, 0, 1]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn shares_are_exact_at_every_moment(weights in prop::collection::vec(0..200_u32, 2..12)) {
            let total: u32 = weights.iter().sum();
            prop_assume!(total > 0);
            let mut had = vec![0_u64; weights.len()];
            for (turn, index) in (1_u64..).zip(begun(&weights, 2 * total as usize + 3)) {
                had[index] += 1;
                for (&had, &weight) in had.iter().zip(&weights) {
                    let share = turn * u64::from(weight);
                    prop_assert!((had * u64::from(total)).abs_diff(share) < u64::from(total));
                }
            }
        }
    }
}
