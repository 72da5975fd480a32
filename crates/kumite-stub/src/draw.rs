//! Seeded randomness, with one stream for delays and one for failures, so that neither changes the other.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Numbers between 0 and 1, both excluded, all equally likely.
#[derive(Debug)]
pub(crate) struct Uniform(ChaCha8Rng);

impl Uniform {
    pub fn of_delays(seed: u64) -> Uniform {
        Uniform(ChaCha8Rng::seed_from_u64(seed))
    }

    pub fn of_failures(seed: u64) -> Uniform {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        Uniform(random)
    }

    pub fn next(&mut self) -> f64 {
        // The middle of one of 2^52 equal parts, each of which a float can tell from the next.
        ((self.0.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }
}
