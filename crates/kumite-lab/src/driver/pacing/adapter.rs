//! The adapter that the recorder stands behind: it hands on each state after a delay that is not always the same.
//!
//! Nothing really waits: the delay of a state is added to the state's stamp. The delays are the same in each trial,
//! state by state, so that all players have the same adapter.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::recorder::Stamp;

const SEED: u64 = 0;

/// The stamps of states behind an adapter that keeps each state for a random time between 0 and `jitter`, all times
/// alike. The adapter hands the states on in their order: none overtakes the one before it.
pub(super) fn behind(mut stamps: Vec<Stamp>, jitter: Duration) -> Vec<Stamp> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut last = None;
    for stamp in &mut stamps {
        let came = stamp.came + jitter.mul_f64(random.random::<f64>());
        stamp.came = last.map_or(came, |last| came.max(last));
        last = Some(stamp.came);
    }
    stamps
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// The delays of states that come so many µs apart, in µs.
    fn delays(apart: u64, jitter_ms: u64) -> Vec<f64> {
        let began = Instant::now();
        let came: Vec<Instant> = (0..10_000).map(|nth| began + Duration::from_micros(nth * apart)).collect();
        let stamps = came.iter().map(|came| Stamp { came: *came, unseen: Duration::ZERO }).collect();
        let behind = behind(stamps, Duration::from_millis(jitter_ms));
        assert!(behind.windows(2).all(|two| two[0].came <= two[1].came), "they are in order");
        behind.iter().zip(came).map(|(stamp, came)| (stamp.came - came).as_secs_f64() * 1e6).collect()
    }

    #[test]
    fn delays_are_uniform_and_the_same_in_each_trial() {
        let found = delays(16_683, 10);
        assert_eq!(found, delays(16_683, 10));
        let mut sorted = found.clone();
        sorted.sort_by(f64::total_cmp);
        // Of 10,000 uniform ones none is further from its place than 1.95 % (Kolmogorov and Smirnov, 0.1 %).
        let off = (0..).zip(&sorted).map(|(nth, us)| (us / 1e4 - f64::from(nth) / 1e4).abs());
        assert!(off.fold(0.0, f64::max) < 0.0195);
        let twice = delays(16_683 * 2, 20);
        assert!(found.iter().zip(twice).all(|(one, two)| (two - one * 2.0).abs() < 0.01));
    }

    #[test]
    fn no_jitter_changes_nothing_and_no_state_overtakes_another() {
        assert!(delays(1, 0).iter().all(|us| *us == 0.0));
        let squeezed = delays(1, 10);
        assert!(squeezed[100] > 9_000.0, "it waits for those before it");
    }
}
