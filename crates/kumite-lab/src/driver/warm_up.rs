//! The end of a warm-up that goes on until there is evidence of a steady state.

use std::time::Duration;

use kumite_stats::{Better, steady};

use crate::parameter::Params;
use crate::unfit::Unfit;

/// The length of a warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WarmUpTime {
    pub least: Duration,
    /// The longest time of the warm-up; equal to `least` if no evidence is asked for.
    pub most: Duration,
}

impl WarmUpTime {
    /// Reads `warm_up_s` and `warm_up_limit_s`. A limit of 0 stands for a warm-up of fixed length. An error if any
    /// other limit is less than `warm_up_s`.
    pub fn read(take: &Params) -> Result<WarmUpTime, Unfit> {
        let (least, limit) = (take.time("warm_up_s")?, take.time("warm_up_limit_s")?);
        if limit.is_zero() || limit >= least {
            return Ok(WarmUpTime { least, most: limit.max(least) });
        }
        let (least, limit) = (least.as_secs_f64(), limit.as_secs_f64());
        Err(Unfit::new(format!(
            "warm_up_limit_s is {limit}, and warm_up_s is {least}: give at least that, or 0 for no more than warm_up_s"
        )))
    }

    /// No time at all.
    pub const NONE: WarmUpTime = WarmUpTime { least: Duration::ZERO, most: Duration::ZERO };

    /// True if the warm-up may end before `most`, as soon as a steady state is found; false if its length is fixed.
    pub fn by_evidence(self) -> bool {
        self.most > self.least
    }
}

/// The fewest points for which a series is examined. In shorter series a rise that has not ended would mostly be
/// taken for a steady state.
const FEWEST: usize = 30;
/// The most points that are examined. Neighbours of a longer series are averaged, so that an answer takes 1.5 ms at
/// most: it may be on an engine's CPU.
const MOST: usize = 300;

/// The search for a steady state in a growing series. The series is examined each time that it has grown by a
/// quarter. Half of it must be steady, at two examinations in a row: the finder alone, asked so often, would take
/// nearly every rising series for steady long before its end.
#[derive(Debug)]
pub(crate) struct Evidence {
    better: Better,
    /// The length of the series when it was last examined.
    asked: usize,
    /// True if the series was steady at the last examination. `holds` is true if it was at the last two.
    was_steady: bool,
    holds: bool,
}

impl Evidence {
    pub fn new(better: Better) -> Evidence {
        Evidence { better, asked: 0, was_steady: false, holds: false }
    }

    /// True if the series was steady at the last two examinations. `series` is the whole series so far. Call this each
    /// time that the series has grown, also before the warm-up may end.
    pub fn is_steady(&mut self, series: &[f64]) -> bool {
        if series.len() < FEWEST.max(self.asked + self.asked.div_ceil(4)) {
            return self.holds;
        }
        self.asked = series.len();
        let merged = series.len().div_ceil(MOST);
        let means: Vec<f64> =
            series.chunks(merged).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64).collect();
        let since = steady(&means, self.better).and_then(|found| found.since);
        let is_steady = since.is_some_and(|since| 2 * since <= means.len());
        self.holds = std::mem::replace(&mut self.was_steady, is_steady) && is_steady;
        self.holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of values after which the evidence is there. None if it never is.
    fn satisfied(better: Better, series: &[f64]) -> Option<usize> {
        let mut evidence = Evidence::new(better);
        (1..=series.len()).find(|seen| evidence.is_steady(&series[..*seen]))
    }

    /// A series of these levels with a noise of 3 %. The same seed gives the same series.
    fn noisy(seed: u64, levels: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut state = seed.wrapping_mul(2) + 1;
        let mut uniform = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        levels.map(|level| level * (1.0 + 0.03 * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0))).collect()
    }

    #[test]
    fn what_is_steady_from_its_start_satisfies_at_the_second_look() {
        let flat = noisy(1, std::iter::repeat_n(500.0, 100));
        assert_eq!(satisfied(Better::Larger, &flat), Some(38));
        assert_eq!(satisfied(Better::Larger, &[7.0; 100]), Some(38));
    }

    /// The number of 100 series rising to 1 like this that satisfy while more than 5 % is still to come.
    fn too_soon(rises: fn(f64) -> f64) -> usize {
        let is_too_soon = |seed: &u64| {
            let series = noisy(*seed, (0..1000).map(|at| rises(f64::from(at))));
            satisfied(Better::Larger, &series).is_some_and(|seen| rises(seen as f64) < 0.95)
        };
        (0..100).filter(is_too_soon).count()
    }

    #[test]
    fn what_rises_satisfies_when_it_has_arrived() {
        for rises in [
            |at: f64| 1.0 - 0.5 * (-at / 10.0).exp(),
            |at: f64| 1.0 - 0.5 * (-at / 30.0).exp(),
            |at: f64| 0.5 + 0.5 * (at / 60.0).min(1.0),
            |at: f64| 0.1 + 0.9 * (at / 30.0).min(1.0),
        ] {
            let too_soon = too_soon(rises);
            assert!(too_soon <= 3, "{too_soon}");
        }
    }

    #[test]
    fn what_never_settles_never_satisfies() {
        for series in [
            noisy(1, (0..600).map(|at| 100.0 * 1.02_f64.powi(at))),
            noisy(2, (0..600).map(|at| 100.0 + f64::from(at))),
        ] {
            assert_eq!(satisfied(Better::Larger, &series), None);
        }
    }

    #[test]
    fn a_long_series_is_judged_in_as_many_points_as_a_short_one() {
        let late = |n: usize| noisy(1, (0..n).map(move |at| if 10 * at < 4 * n { 100.0 } else { 200.0 }));
        let mut evidence = Evidence::new(Better::Larger);
        assert!(!evidence.is_steady(&late(100_000)));
        assert!(!evidence.is_steady(&late(124_999)), "it is, and was asked too short a time ago");
        assert!(evidence.is_steady(&late(125_000)));
    }
}
