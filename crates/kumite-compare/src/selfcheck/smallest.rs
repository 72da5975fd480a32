//! The smallest difference that a minute of comparing would find.

use kumite_record::SmallestDifference;
use kumite_stats::{median, sequential_median};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::ALPHA;

/// The least number of pairs for an answer: fewer say too little about the tails.
const FEWEST: usize = 30;
const MINUTE_S: f64 = 60.0;
const MINUTES: usize = 200;
/// The most pairs that are drawn for a minute: even of the shortest pairs a minute has no more, and sorting them
/// takes time.
const MOST_PAIRS: usize = 20_000;
const SEEN_IN: f64 = 0.9;

/// The smallest difference that a comparison of one minute would find, in nine of ten. The logarithms of the pairs'
/// ratios are resampled to as many as a minute has. Each is drawn with either sign, because the two were the same,
/// and which was divided by which is chance. `None` if there are too few pairs, in `logs` or in a minute.
pub(super) fn smallest(logs: &[f64], seconds_per_pair: f64, seed: u64) -> Option<SmallestDifference> {
    let pairs = (MINUTE_S / seconds_per_pair) as usize;
    if logs.len() < FEWEST || !seconds_per_pair.is_normal() {
        return None;
    }
    let drawn = pairs.min(MOST_PAIRS);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut reach, mut half_widths) = (Vec::with_capacity(MINUTES), Vec::with_capacity(MINUTES));
    let mut minute = vec![0.0; drawn];
    for _ in 0..MINUTES {
        minute.fill_with(|| {
            let log = logs[random.random_range(0..logs.len())];
            if random.random::<bool>() { log } else { -log }
        });
        let interval = sequential_median(&minute, ALPHA).ok()?;
        // A difference of more than this would lie beyond the end of the interval.
        reach.push(-interval.low);
        half_widths.push((interval.high - interval.low) / 2.0);
    }
    reach.sort_unstable_by(f64::total_cmp);
    let percent = |log: f64| log.exp_m1() * 100.0;
    Some(SmallestDifference {
        percent: percent(reach[(SEEN_IN * MINUTES as f64) as usize - 1]),
        half_width_percent: percent(median(&half_widths)?),
        from_pairs: logs.len(),
        pairs_a_minute: drawn,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered(width: f64) -> Vec<f64> {
        (0..100).map(|nth| (f64::from(nth) / 50.0 - 0.99) * width).collect()
    }

    #[test]
    fn twice_the_scatter_hides_twice_as_much_and_more_pairs_show_more() {
        let of = |width, seconds| smallest(&scattered(width), seconds, 1).unwrap();
        let (one, two, slow) = (of(0.01, 0.1), of(0.02, 0.1), of(0.01, 1.0));
        assert!((two.percent / one.percent - 2.0).abs() < 0.1, "{one:?} {two:?}");
        assert!(slow.percent > 2.0 * one.percent, "{one:?} {slow:?}");
        assert!(one.half_width_percent < one.percent);
        assert_eq!((one.from_pairs, one.pairs_a_minute, slow.pairs_a_minute), (100, 600, 60));
        assert_eq!(one, of(0.01, 0.1), "seeded");
    }

    #[test]
    fn nine_of_ten_minutes_see_it() {
        let logs = scattered(0.01);
        let found = smallest(&logs, 0.1, 1).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(99);
        let shift = (found.percent / 100.0).ln_1p();
        let seen = (0..400).filter(|_| {
            let minute: Vec<f64> =
                (0..found.pairs_a_minute).map(|_| logs[random.random_range(0..logs.len())] + shift).collect();
            sequential_median(&minute, ALPHA).unwrap().low > 0.0
        });
        let seen = seen.count();
        assert!((320..400).contains(&seen), "{seen} of 400");
    }

    #[test]
    fn from_too_few_pairs_nothing_is_said() {
        assert_eq!(smallest(&[0.01; 29], 0.1, 1), None);
        assert_eq!(smallest(&[0.01; 40], 0.0, 1), None);
        assert_eq!(smallest(&[0.01; 40], 59.0, 1), None, "one pair in a minute");
    }
}
