//! The metrics of commands: their names, the choice of those that are shown, and their units.

use kumite_record::{CommandMetric, ComparedCommand, Comparison, Estimate, Unit};

use super::estimate::{bounded, plain};
use super::{Shown, TimeUnit};
use crate::words::number::{count, significant};

/// The units that were set for single metrics. Without one, a time is shown in `Shown::time_unit` if that is set, and
/// any other figure in the unit that suits its size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Units([Option<MetricUnit>; CommandMetric::ALL.len()]);

/// A unit that all figures of a metric are shown in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricUnit {
    /// The number of these units in one second or byte; 1 for a count.
    pub factor: f64,
    /// The unit's symbol, as it is shown; empty for a count.
    pub name: &'static str,
}

impl Units {
    /// Shows all figures of `metric` in `unit`.
    pub fn set(&mut self, metric: CommandMetric, unit: MetricUnit) {
        self.0[metric as usize] = Some(unit);
    }

    /// The unit that was set for `metric`; none if none was.
    pub fn of(self, metric: CommandMetric) -> Option<MetricUnit> {
        self.0[metric as usize]
    }
}

/// The metrics in the table of commands: those that were named, or else wall, user and system time and peak memory.
pub(super) fn shown(comparison: &Comparison) -> &[CommandMetric] {
    const USUAL: &[CommandMetric] = &[
        CommandMetric::TimeWallClock,
        CommandMetric::TimeUser,
        CommandMetric::TimeSystem,
        CommandMetric::MemoryPeakResident,
    ];
    if comparison.metrics.is_empty() { USUAL } else { &comparison.metrics }
}

/// The head of the metric's column in the table of commands.
pub(super) fn head(metric: CommandMetric) -> &'static str {
    match metric {
        CommandMetric::TimeWallClock => "wall median [95 %]",
        CommandMetric::TimeCpu => "CPU",
        CommandMetric::TimeUser => "user",
        CommandMetric::TimeSystem => "system",
        CommandMetric::MemoryPeakResident => "peak RSS",
        CommandMetric::CpuCycles => "cycles",
        CommandMetric::Instructions => "CPU instructions",
        CommandMetric::CacheReferences => "cache references",
        CommandMetric::CacheMisses => "cache misses",
        CommandMetric::BranchMisses => "branch misses",
        CommandMetric::PageFaults => "page faults",
    }
}

/// The metric's name in a sentence.
pub(super) fn word(metric: CommandMetric) -> &'static str {
    match metric {
        CommandMetric::TimeWallClock => "wall time",
        CommandMetric::TimeCpu => "CPU time",
        CommandMetric::TimeUser => "user time",
        CommandMetric::TimeSystem => "system time",
        CommandMetric::MemoryPeakResident => "peak memory",
        CommandMetric::CpuCycles => "cycles",
        CommandMetric::Instructions => "instructions",
        CommandMetric::CacheReferences => "cache references",
        CommandMetric::CacheMisses => "cache misses",
        CommandMetric::BranchMisses => "branch misses",
        CommandMetric::PageFaults => "page faults",
    }
}

/// The metric's name behind "as": `much CPU time`, `many page faults`.
pub(super) fn much(metric: CommandMetric) -> String {
    let much = if metric.unit() == Unit::Count { "many" } else { "much" };
    format!("{much} {}", word(metric))
}

/// The verb between a command and the metric, as it stands after `it` and after `does not`.
pub(super) fn verb(metric: CommandMetric) -> (&'static str, &'static str) {
    match metric {
        CommandMetric::Instructions => ("executes", "execute"),
        CommandMetric::CacheReferences
        | CommandMetric::CacheMisses
        | CommandMetric::BranchMisses
        | CommandMetric::PageFaults => ("has", "have"),
        _ => ("uses", "use"),
    }
}

/// The metric's name in the table of ratios.
pub(super) fn row(metric: CommandMetric) -> &'static str {
    if metric == CommandMetric::MemoryPeakResident { "peak RSS" } else { word(metric) }
}

/// The cell of a command in a metric's column. `≤` stands before a peak of memory if that of any run is only known to
/// be at most its figure.
pub(super) fn figure(metric: CommandMetric, command: &ComparedCommand, shown: Shown) -> String {
    let own = shown.units.of(metric);
    let time_unit = own.or(shown.time_unit.map(MetricUnit::from));
    let time = |seconds: &Option<Estimate>| match time_unit {
        None => plain(Unit::Seconds, seconds),
        Some(unit) => unit.text(seconds, false),
    };
    match metric {
        CommandMetric::TimeWallClock => match time_unit {
            None => bounded(Unit::Seconds, &command.wall_s),
            Some(unit) => unit.text(&command.wall_s, true),
        },
        CommandMetric::TimeCpu => time(&cpu(command)),
        CommandMetric::TimeUser => time(&command.user_s),
        CommandMetric::TimeSystem => time(&command.system_s),
        CommandMetric::MemoryPeakResident => {
            let floor = if command.peak_rss_is_floor > 0 { "≤ " } else { "" };
            let of = &command.peak_rss_bytes;
            let figure = own.map_or_else(|| plain(Unit::Bytes, of), |unit| unit.text(of, false));
            format!("{floor}{figure}")
        }
        _ => command.counters.get(&metric).and_then(|counts| median(counts)).map_or("–".to_owned(), count),
    }
}

/// The median of the counts of a command's runs; none without runs.
fn median(counts: &[u64]) -> Option<f64> {
    let mut counts = counts.to_vec();
    counts.sort_unstable();
    let (low, high) = (counts.get(counts.len().saturating_sub(1) / 2)?, counts.get(counts.len() / 2)?);
    Some((*low as f64).midpoint(*high as f64))
}

/// The median of the CPU time (user and system) of a command's runs; none without runs.
fn cpu(command: &ComparedCommand) -> Option<Estimate> {
    let times = command.user_times.iter().zip(&command.system_times);
    let mut sums: Vec<f64> = times.map(|(user, system)| user + system).collect();
    sums.sort_by(f64::total_cmp);
    let (low, high) = (sums.get(sums.len().saturating_sub(1) / 2)?, sums.get(sums.len() / 2)?);
    let user = command.user_s.as_ref()?;
    Some(Estimate { estimate: (low + high) / 2.0, low: None, high: None, ..user.clone() })
}

impl From<TimeUnit> for MetricUnit {
    fn from(unit: TimeUnit) -> MetricUnit {
        let (factor, name) = match unit {
            TimeUnit::Microsecond => (1e6, "µs"),
            TimeUnit::Millisecond => (1e3, "ms"),
            TimeUnit::Second => (1.0, "s"),
        };
        MetricUnit { factor, name }
    }
}

impl MetricUnit {
    /// The figure in this unit, with its interval if that is asked for and known; `–` if there is no figure.
    fn text(self, of: &Option<Estimate>, has_interval: bool) -> String {
        let Some(of) = of else { return "–".to_owned() };
        let (name, figure) = (self.name, |value: f64| significant(value * self.factor, 4));
        match of.low.zip(of.high).filter(|_| has_interval) {
            Some((low, high)) => {
                format!("{} {name} [{}–{}]", figure(of.estimate), figure(low), figure(high))
            }
            None => format!("{} {name}", figure(of.estimate)),
        }
    }
}
