//! A reading of a run: a value or, if that is too small for the kernel's counter, an upper bound. All functions here
//! are pure.

use std::time::Duration;

use kumite_process::{Counter, TimedRun};
use kumite_record::CommandMetric;

/// The longest tick of the kernel. A time in which no tick fell is read as 0, and may be anything up to this.
const TICK: Duration = Duration::from_millis(10);

/// A value that is known to lie from `least` to `most`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    least: f64,
    most: f64,
}

impl Reading {
    pub(crate) fn exact(value: f64) -> Reading {
        Reading { least: value, most: value }
    }

    fn at_most(most: f64) -> Reading {
        Reading { least: 0.0, most }
    }

    /// The reading of a run by one metric.
    pub(crate) fn by_metric(metric: CommandMetric, run: &TimedRun) -> Reading {
        let time = |time: Duration| match time {
            Duration::ZERO => Reading::at_most(TICK.as_secs_f64()),
            time => Reading::exact(time.as_secs_f64()),
        };
        match metric {
            CommandMetric::TimeWallClock => time(run.wall),
            CommandMetric::TimeCpu => time(run.user.saturating_add(run.system)),
            CommandMetric::TimeUser => time(run.user),
            CommandMetric::TimeSystem => time(run.system),
            // 0 says that the kernel does not count peak memory.
            CommandMetric::MemoryPeakResident if run.peak_rss_bytes == 0 => Reading::at_most(f64::INFINITY),
            CommandMetric::MemoryPeakResident if run.peak_rss_is_floor => {
                Reading::at_most(run.peak_rss_bytes as f64)
            }
            CommandMetric::MemoryPeakResident => Reading::exact(run.peak_rss_bytes as f64),
            _ => counter(metric).map_or(Reading::at_most(f64::INFINITY), |counter| count(run, counter)),
        }
    }
}

/// A count of 0 has no ratio: it is taken for anything up to 1.
fn count(run: &TimedRun, counter: Counter) -> Reading {
    match run.counts[counter as usize] {
        0 => Reading::at_most(1.0),
        count => Reading::exact(count as f64),
    }
}

/// The counter that a metric is read from; `None` for times and memory.
pub(crate) fn counter(metric: CommandMetric) -> Option<Counter> {
    match metric {
        CommandMetric::CpuCycles => Some(Counter::CpuCycles),
        CommandMetric::Instructions => Some(Counter::Instructions),
        CommandMetric::CacheReferences => Some(Counter::CacheReferences),
        CommandMetric::CacheMisses => Some(Counter::CacheMisses),
        CommandMetric::BranchMisses => Some(Counter::BranchMisses),
        CommandMetric::PageFaults => Some(Counter::PageFaults),
        CommandMetric::TimeWallClock
        | CommandMetric::TimeCpu
        | CommandMetric::TimeUser
        | CommandMetric::TimeSystem
        | CommandMetric::MemoryPeakResident => None,
    }
}

/// The logarithm of reference / other in one block. It lies from `least` to `most`, either of which may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Log {
    pub least: f64,
    pub most: f64,
}

impl Log {
    pub(crate) fn ratio(other: Reading, reference: Reading) -> Log {
        Log { least: reference.least.ln() - other.most.ln(), most: reference.most.ln() - other.least.ln() }
    }

    /// The value, as the middle of the two ends; if only one end is finite, that one; if none is, 0.
    pub(crate) fn estimate(self) -> f64 {
        match (self.least.is_finite(), self.most.is_finite()) {
            (true, true) => self.least.midpoint(self.most),
            (true, false) => self.least,
            (false, true) => self.most,
            (false, false) => 0.0,
        }
    }

    /// `true` if the value is not known exactly, and may lie on either side of the border.
    fn hides(self, border: f64) -> bool {
        self.least < self.most && self.least <= border && border <= self.most
    }
}

impl From<f64> for Log {
    fn from(value: f64) -> Log {
        Log { least: value, most: value }
    }
}

/// The number of blocks in which the ratio may lie on either side of the border.
pub(crate) fn untold(logs: &[Log], border: f64) -> usize {
    logs.iter().filter(|log| log.hides(border)).count()
}

/// `true` if so many blocks hide their side of the border that no verdict on it ever comes if the blocks go on like
/// this.
pub(crate) fn cannot_be_told(logs: &[Log], border: f64) -> bool {
    !logs.is_empty() && 2 * untold(logs, border) >= logs.len()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    pub(crate) fn run(wall_ms: u64, user_us: u64, system_us: u64, peak_rss_bytes: u64) -> TimedRun {
        TimedRun {
            wall: Duration::from_millis(wall_ms),
            user: Duration::from_micros(user_us),
            system: Duration::from_micros(system_us),
            peak_rss_bytes,
            peak_rss_is_floor: false,
            status: ExitStatus::from_raw(0),
            involuntary_switches: 0,
            left_behind: 0,
            interrupted: false,
            overhead: Duration::ZERO,
            counts: [10, 20, 30, 40, 50, 60],
        }
    }

    #[test]
    fn a_zero_is_less_than_a_tick_and_a_floor_is_a_bound() {
        let exact = run(20, 3_000, 1_000, 4_096);
        let values = CommandMetric::ALL.map(|metric| Reading::by_metric(metric, &exact));
        assert_eq!(
            values,
            [0.02, 0.004, 0.003, 0.001, 4_096.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0].map(Reading::exact)
        );
        let zeros = TimedRun { counts: [0; 6], ..run(0, 0, 0, 0) };
        let most = CommandMetric::ALL.map(|metric| Reading::by_metric(metric, &zeros).most);
        assert_eq!(most, [0.01, 0.01, 0.01, 0.01, f64::INFINITY, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        let floor = TimedRun { peak_rss_is_floor: true, ..exact };
        let memory = Reading::by_metric(CommandMetric::MemoryPeakResident, &floor);
        assert_eq!(memory, Reading { least: 0.0, most: 4_096.0 });
    }

    #[test]
    fn a_ratio_with_what_is_only_bounded_is_bounded_on_one_side_and_never_no_number() {
        let (tick, long) = (Reading::at_most(0.01), Reading::exact(0.5));
        let at_least_fifty = Log::ratio(tick, long);
        assert!((at_least_fifty.least.exp() - 50.0).abs() < 1e-9 && at_least_fifty.most == f64::INFINITY);
        assert_eq!(at_least_fifty.estimate(), at_least_fifty.least);
        let at_most = Log::ratio(long, tick);
        assert_eq!((at_most.least, at_most.most), (f64::NEG_INFINITY, -at_least_fifty.least));
        assert_eq!(at_most.estimate(), at_most.most);
        let nothing = Reading::at_most(f64::INFINITY);
        for (other, reference) in [(tick, tick), (nothing, long), (long, nothing), (nothing, nothing)] {
            let log = Log::ratio(other, reference);
            assert!(!log.least.is_nan() && !log.most.is_nan() && log.estimate().is_finite(), "{log:?}");
        }
        assert_eq!(untold(&[at_least_fifty, at_most, Log::ratio(tick, tick), 0.0.into()], 0.0), 1);
        assert!(cannot_be_told(&[Log::ratio(tick, Reading::exact(0.004)), 0.1.into()], 0.0));
        assert!(
            !cannot_be_told(&[Log::ratio(tick, tick), 0.1.into(), 0.1.into()], 0.0)
                && !cannot_be_told(&[], 0.0)
        );
    }
}
