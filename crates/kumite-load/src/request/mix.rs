//! Turns among several targets with weights.

/// Hands out turns so that at every moment each target has had its share of them to within less than one. The next
/// turn goes to the target whose turn is due the earliest, among those that have had less than their share. (This is
/// scheduling by earliest deadline, which for unit jobs on one processor misses none. The well-known smooth weighted
/// round robin is simpler but may fall behind by more than a turn with eight targets.)
#[derive(Debug, Clone)]
pub(crate) struct Mix {
    /// The weight of each target, and its turns in this cycle.
    targets: Vec<(u64, u64)>,
    total: u64,
    /// The number of turns in this cycle, of `total`. At the end of a cycle all shares are whole numbers, and the
    /// next one begins.
    turn: u64,
}

impl Mix {
    /// A mix of targets with these weights. A target of weight 0 gets no turn, unless all weights are 0.
    pub fn new(weights: &[u32]) -> Mix {
        let targets: Vec<_> = weights.iter().map(|&weight| (u64::from(weight), 0)).collect();
        let total = targets.iter().map(|(weight, _)| weight).sum();
        Mix { targets, total, turn: 0 }
    }

    /// The index of the target whose turn it is.
    pub fn next(&mut self) -> usize {
        if self.targets.len() < 2 {
            return 0;
        }
        if self.turn == self.total {
            self.turn = 0;
            self.targets.iter_mut().for_each(|(_, had)| *had = 0);
        }
        self.turn += 1;
        let [turn, total] = [self.turn, self.total].map(u128::from);
        let due = |&(weight, had): &(u64, u64)| {
            let (weight, had) = (u128::from(weight), u128::from(had));
            (turn * weight > total * had).then(|| ((had + 1) * total).div_ceil(weight))
        };
        let waiting =
            self.targets.iter().enumerate().filter_map(|(index, target)| Some((due(target)?, index)));
        let index = waiting.min().map_or(0, |(_, index)| index);
        self.targets[index].1 += 1;
        index
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn turns(weights: &[u32], count: usize) -> Vec<usize> {
        let mut mix = Mix::new(weights);
        (0..count).map(|_| mix.next()).collect()
    }

    #[test]
    fn turns_follow_the_weights() {
        assert_eq!(turns(&[1], 3), [0, 0, 0]);
        assert_eq!(turns(&[1, 1], 4), [0, 1, 0, 1]);
        assert_eq!(turns(&[2, 1], 6), [0, 0, 1, 0, 0, 1]);
        assert_eq!(turns(&[0, 1, 0], 3), [1, 1, 1]);
        assert_eq!(turns(&[0, 0], 2), [0, 0]);
        assert_eq!(turns(&[u32::MAX; 3], 4), [0, 1, 2, 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn shares_are_exact_at_every_moment(weights in prop::collection::vec(0..200_u32, 2..12)) {
            let total: u32 = weights.iter().sum();
            prop_assume!(total > 0);
            let mut had = vec![0_u64; weights.len()];
            for (turn, index) in (1_u64..).zip(turns(&weights, 2 * total as usize + 3)) {
                had[index] += 1;
                for (&had, &weight) in had.iter().zip(&weights) {
                    let share = turn * u64::from(weight);
                    prop_assert!((had * u64::from(total)).abs_diff(share) < u64::from(total));
                }
            }
        }
    }
}
