//! The order of trials: blocks, interleaved in seeded random order.
//!
//! A block is one trial of every contender at one point, back to back, and a round is one block of each point. A
//! ratio is formed within a block, so the machine's slow changes cancel out; the order within it is random, so that
//! no contender always follows the same one. The same seed gives the same plan, which is how a run is resumed.

use std::collections::BTreeSet;

use kumite_record::{Run, Shard};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The order of the trials of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The rounds in the order in which they are executed.
    pub rounds: Vec<Round>,
}

/// One block at each point that has contenders.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The index of the round in the run, from 0. The blocks of the round have the same index.
    pub index: u32,
    /// The blocks in the order in which they are executed.
    pub blocks: Vec<Block>,
}

/// A trial of every contender at one point, back to back. Ratios are formed within a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The position of the point in the run.
    pub point: usize,
    /// The index of the block at its point, from 0.
    pub index: u32,
    /// The positions of the contenders among those that are ready, in the order in which they are tried.
    pub order: Vec<usize>,
}

/// Plans `blocks` rounds. `takes_part` has the contenders of each point, by position. A round has one block at each
/// point, so that the machine's drift hits points and contenders alike, and a run that is cut short is cut evenly.
/// Points in `first`, which claims need, come first in a round, so that a cut takes what only fills tables. The order
/// within both groups of points, and of contenders in a block, is random; the same seed gives the same order.
pub fn plan(takes_part: &[Vec<usize>], first: &BTreeSet<usize>, blocks: u32, seed: u64) -> Plan {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut shuffled = |mut order: Vec<usize>| {
        order.shuffle(&mut random);
        order
    };
    // A point whose contenders were all left out has no block.
    let points = (0..takes_part.len()).filter(|&point| !takes_part[point].is_empty());
    let (claimed, others): (Vec<usize>, Vec<usize>) = points.partition(|point| first.contains(point));
    let mut round = |index| {
        let mut blocks = Vec::new();
        for part in [&claimed, &others] {
            for point in shuffled(part.clone()) {
                blocks.push(Block { point, index, order: shuffled(takes_part[point].clone()) });
            }
        }
        Round { index, blocks }
    };
    Plan { rounds: (0..blocks).map(&mut round).filter(|round| !round.blocks.is_empty()).collect() }
}

/// The seed of the random choices within trials. Each shard has its own: two trials that were drawn alike would not be
/// two repetitions. The arrivals of an open loop do not depend on this seed: they are the same in every trial.
pub fn trial_seed(run: &Run) -> u64 {
    let of_shard = |shard: &Shard| {
        let mut random = ChaCha8Rng::seed_from_u64(run.seed);
        random.set_stream(shard.nth.into());
        u64::from(random.next_u32())
    };
    run.shard.as_ref().map_or(run.seed, of_shard)
}

impl Block {
    /// The block in the order for this attempt; attempts count from 0. Each attempt after the first has an order of its
    /// own, drawn with the run's seed.
    pub fn attempt(&self, attempt: u32, run_seed: u64) -> Block {
        let mut block = self.clone();
        if attempt > 0 {
            let mut seed = [0; 32];
            let parts = [run_seed, self.point as u64, u64::from(self.index), u64::from(attempt)];
            seed.chunks_mut(8)
                .zip(parts)
                .for_each(|(bytes, part)| bytes.copy_from_slice(&part.to_le_bytes()));
            block.order.shuffle(&mut ChaCha8Rng::from_seed(seed));
        }
        block
    }
}

impl Plan {
    /// The plan with only the rounds that a shard has. Their indices stay as they are.
    pub fn share(self, shard: &Shard) -> Plan {
        Plan { rounds: self.rounds.into_iter().filter(|round| shard.has(round.index)).collect() }
    }

    /// The number of trials in the plan.
    pub fn trials(&self) -> usize {
        self.rounds.iter().flat_map(|round| &round.blocks).map(|block| block.order.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(points: usize, contenders: usize, blocks: u32, seed: u64) -> Plan {
        plan(&vec![(0..contenders).collect(); points], &BTreeSet::new(), blocks, seed)
    }

    #[test]
    fn every_block_has_every_contender_once_and_every_round_every_point() {
        let plan = full(3, 5, 4, 1);
        assert_eq!(plan.rounds.len(), 4);
        for (index, round) in (0..).zip(plan.rounds) {
            let points: BTreeSet<_> = round.blocks.iter().map(|block| block.point).collect();
            assert_eq!(points, BTreeSet::from([0, 1, 2]));
            assert_eq!((round.index, round.blocks.len()), (index, 3));
            for block in round.blocks {
                assert_eq!(block.index, index);
                assert_eq!(block.order.iter().copied().collect::<BTreeSet<_>>(), (0..5).collect());
            }
        }
    }

    #[test]
    fn the_seed_is_the_order() {
        assert_eq!(full(4, 5, 6, 7), full(4, 5, 6, 7));
        assert_ne!(full(4, 5, 6, 7), full(4, 5, 6, 8));
    }

    #[test]
    fn the_first_attempt_is_as_planned_and_each_other_has_an_order_of_its_own_by_the_seed() {
        let block = Block { point: 1, index: 2, order: vec![5, 1, 4, 0, 3, 2, 6, 7, 8, 9] };
        assert_eq!(block.attempt(0, 7), block);
        let (second, third) = (block.attempt(1, 7), block.attempt(2, 7));
        assert_eq!(second, block.attempt(1, 7), "the same seed, the same order");
        let others = [block.attempt(1, 8), Block { index: 3, ..block.clone() }.attempt(1, 7), third, block];
        assert!(others.iter().all(|other| other.order != second.order), "{second:?} {others:?}");
        let contenders: BTreeSet<usize> = second.order.into_iter().collect();
        assert_eq!(contenders, (0..10).collect());
    }

    #[test]
    fn each_contender_comes_first_about_equally_often() {
        let mut first = [0; 4];
        for round in full(1, 4, 4000, 3).rounds {
            first[round.blocks[0].order[0]] += 1;
        }
        // 1,000 expected, SD 27: five of them.
        assert!(first.iter().all(|count| (863..1137).contains(count)), "{first:?}");
    }

    #[test]
    fn points_that_claims_need_come_first_in_each_round_and_either_part_is_shuffled() {
        let plan = plan(&vec![vec![0, 1]; 6], &BTreeSet::from([1, 4, 5]), 20, 9);
        let mut orders = [BTreeSet::new(), BTreeSet::new()];
        for round in plan.rounds {
            for (part, (of_part, expected)) in round.blocks.chunks(3).zip([[1, 4, 5], [0, 2, 3]]).enumerate()
            {
                let order: Vec<usize> = of_part.iter().map(|block| block.point).collect();
                assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), expected.into());
                orders[part].insert(order);
            }
        }
        assert!(orders.iter().all(|orders| orders.len() > 1), "{orders:?}");
    }

    #[test]
    fn the_shards_of_a_plan_are_all_of_it_and_each_draws_by_a_seed_of_its_own() {
        let shard = |nth| Shard { nth, of: 3, node: String::new() };
        let whole = full(2, 3, 7, 5);
        let shared = |nth| whole.clone().share(&shard(nth)).rounds;
        assert_eq!(shared(2).iter().map(|round| round.index).collect::<Vec<_>>(), [1, 4]);
        let mut all: Vec<Round> = (1..=3).flat_map(shared).collect();
        all.sort_by_key(|round| round.index);
        assert_eq!(all, whole.rounds);
        let seed = |nth| trial_seed(&Run { seed: 7, shard: Some(shard(nth)), ..Run::default() });
        let seeds =
            BTreeSet::from([trial_seed(&Run { seed: 7, ..Run::default() }), seed(1), seed(2), seed(3)]);
        assert!(seeds.len() == 4 && seeds.contains(&7) && seed(1) == seed(1), "{seeds:?}");
    }

    #[test]
    fn a_point_has_only_those_who_take_part() {
        let plan = plan(&[vec![2, 0], vec![], vec![1]], &BTreeSet::new(), 2, 1);
        let of_round = |round: &Round| {
            let mut blocks: Vec<_> =
                round.blocks.iter().map(|block| (block.point, block.order.len())).collect();
            blocks.sort_unstable();
            blocks
        };
        let blocks: Vec<_> = plan.rounds.iter().map(of_round).collect();
        assert_eq!((blocks, plan.trials()), (vec![vec![(0, 2), (2, 1)]; 2], 6));
        assert_eq!(super::plan(&[vec![], vec![]], &BTreeSet::new(), 2, 1).rounds, [], "nobody is left");
    }
}
