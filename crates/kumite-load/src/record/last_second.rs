//! Figures of the last second of a running load, and of the seconds before it.

use std::collections::VecDeque;
use std::time::Duration;

use super::outcome::Interval;

/// The number of intervals, of a tenth of a second, in a second.
const TENTHS: usize = 10;
/// The number of past seconds that are remembered.
const PAST: usize = 40;

/// The figures of the last second of a load, made from its tenths. In the load's first second they cover the tenths
/// that are over.
#[derive(Debug, Default)]
pub struct LastSecond {
    intervals: usize,
    /// The number of requests that finished since the window opened, right or failed.
    pub done: u64,
    /// The number of requests that failed since the window opened.
    pub errors: u64,
    tenths: VecDeque<Interval>,
    seconds: VecDeque<(u64, f64)>,
}

impl LastSecond {
    /// Takes the interval that has just ended.
    pub fn add(&mut self, interval: &Interval) {
        self.intervals += 1;
        if interval.start_ms >= 0 {
            self.done += interval.ok + interval.errors;
            self.errors += interval.errors;
        }
        self.tenths.push_back(*interval);
        if self.tenths.len() > TENTHS {
            self.tenths.pop_front();
        }
        if self.is_whole() {
            self.seconds.push_back((self.ok(), self.p99_us()));
        }
        if self.seconds.len() > PAST {
            self.seconds.pop_front();
        }
    }

    /// `true` if the latest interval ended a whole second; also before the first interval.
    pub fn is_whole(&self) -> bool {
        self.intervals.is_multiple_of(TENTHS)
    }

    /// The latest interval; `None` before the first.
    pub fn latest(&self) -> Option<&Interval> {
        self.tenths.back()
    }

    /// The number of right answers in the last second.
    pub fn ok(&self) -> u64 {
        self.tenths.iter().map(|interval| interval.ok).sum()
    }

    /// Right answers a second, over the last second; 0 before the first interval.
    pub fn rate(&self) -> f64 {
        self.ok() as f64 / self.length().as_secs_f64()
    }

    /// The highest 99th percentile of response time among the tenths of the last second, in µs; 0 if no answer came.
    pub fn p99_us(&self) -> f64 {
        self.tenths.iter().map(|interval| interval.p99_us).fold(0.0, f64::max)
    }

    /// The largest [`Interval::backlog`] in the last second; 0 before the first interval.
    pub fn backlog(&self) -> u64 {
        self.tenths.iter().map(|interval| interval.backlog).max().unwrap_or(0)
    }

    /// CPU time of the engine in the last second, as a share of one CPU. With several threads it may be more than 1.
    pub fn engine_busy(&self) -> f64 {
        let busy: f64 = self.tenths.iter().map(|interval| interval.engine_cpu_s).sum();
        busy / self.length().as_secs_f64()
    }

    /// The last whole seconds, 40 at most, oldest first: for each the number of right answers, and the highest 99th
    /// percentile of a tenth in µs.
    pub fn past(&self) -> impl ExactSizeIterator<Item = (u64, f64)> + Clone {
        self.seconds.iter().copied()
    }

    fn length(&self) -> Duration {
        Duration::from_millis(100) * self.tenths.len().max(1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_ten_tenths_and_counts_of_the_window() {
        let interval = |start_ms, ok| Interval {
            start_ms,
            ok,
            errors: 1,
            p99_us: ok as f64,
            engine_cpu_s: 0.05,
            backlog: ok,
            ..Interval::default()
        };
        let mut last = LastSecond::default();
        assert!(last.latest().is_none());
        last.add(&interval(-100, 5));
        assert_eq!((last.rate(), last.done, last.engine_busy()), (50.0, 0, 0.5));
        (0..19).for_each(|tenth| last.add(&interval(tenth * 100, tenth as u64)));
        assert_eq!((last.ok(), last.p99_us(), last.backlog()), ((9..19).sum(), 18.0, 18));
        assert_eq!((last.done, last.errors), ((0..19).sum::<u64>() + 19, 19));
        assert_eq!(last.past().collect::<Vec<_>>(), [(5 + (0..9).sum::<u64>(), 8.0), ((9..19).sum(), 18.0)]);
    }
}
