//! Conditions that are drawn anew for each trial of a run with a control. A condition that is the same in each trial
//! of a contender would be a bias that a control cannot tell from the contender.
//!
//! In every run the order within a block is drawn, and each server is given another port. The conditions here are the
//! size of the environment, the folder and the CPUs; the run's seed and the trial's number determine them.

use kumite_record::Cores;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The bound of the padding, which is less, in bytes: a page, since effects of a stack's place repeat after that.
const MOST_PADDING: usize = 4096;

/// The longest name of a folder, in bytes. File systems allow 255.
const MOST_FOLDER: usize = 200;

/// The conditions that were drawn at random for one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The length of the value of the variable that pads the environment, in bytes; less than 4096.
    pub padding: usize,
    /// The length of the name of the link that leads to the contender's folder, in bytes; 1 to 200.
    pub folder: usize,
    cores: u64,
}

impl Drawn {
    /// The bound that the padding stays below, and the length of the longest name of a folder, both in bytes.
    pub const MOST: [usize; 2] = [MOST_PADDING, MOST_FOLDER];

    /// Draws the conditions for the trial with this number in a run with this seed. The same arguments give the same
    /// conditions.
    pub fn new(seed: u64, seq: u32) -> Drawn {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // The order of blocks is drawn from stream 0, and the seeds of shards from the next.
        random.set_stream(1 << 63 | u64::from(seq));
        Drawn {
            padding: random.random_range(0..MOST_PADDING),
            folder: random.random_range(1..=MOST_FOLDER),
            cores: random.random(),
        }
    }

    /// The contender's CPUs in the order that was drawn. A trial that needs fewer CPUs is given the first of them.
    pub fn among(&self, cores: &Cores) -> Cores {
        let mut drawn = cores.clone();
        drawn.contender.shuffle(&mut ChaCha8Rng::seed_from_u64(self.cores));
        drawn
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_trial_has_its_own_by_the_seed() {
        let cores = Cores { contender: vec![0, 1, 2, 3], engine: vec![4], apart: false };
        let all: Vec<Drawn> = (0..200).map(|seq| Drawn::new(7, seq)).collect();
        assert_eq!(all[3], Drawn::new(7, 3));
        assert_ne!(all[3], Drawn::new(8, 3));
        let firsts: BTreeSet<usize> = all.iter().map(|of| of.among(&cores).contender[0]).collect();
        assert_eq!(firsts, BTreeSet::from([0, 1, 2, 3]));
        assert!(all.iter().all(|of| of.among(&cores).engine == [4]));
        let [padding, folder] = Drawn::MOST;
        let in_upper_half = |is: &dyn Fn(&Drawn) -> bool| all.iter().filter(|of| is(of)).count();
        // 100 expected, SD 7: five of them.
        for count in
            [in_upper_half(&|of| of.padding >= padding / 2), in_upper_half(&|of| of.folder > folder / 2)]
        {
            assert!((65..136).contains(&count), "{count}");
        }
    }
}
