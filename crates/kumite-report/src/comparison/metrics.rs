//! The metrics of a command: what they are called, which are shown, and in what.

use kumite_record::{CommandMetric, ComparedCommand, Comparison, Estimate, Unit};

use super::estimate::{bounded, plain};
use super::{Shown, TimeUnit};
use crate::words::number::significant;

/// The units of figures, by metric; each figure its own, if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Units([Option<MetricUnit>; CommandMetric::ALL.len()]);

/// How many of it are a second or a byte, and its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricUnit {
    /// One second, or one byte, in this unit.
    pub factor: f64,
    /// The symbol that is shown.
    pub name: &'static str,
}

impl Units {
    /// Has all figures of this metric shown in this unit.
    pub fn set(&mut self, metric: CommandMetric, unit: MetricUnit) {
        self.0[metric as usize] = Some(unit);
    }

    /// The unit that was set for this metric, if one was.
    pub fn of(self, metric: CommandMetric) -> Option<MetricUnit> {
        self.0[metric as usize]
    }
}

/// Those that were named; or those that are always there.
pub(super) fn shown(comparison: &Comparison) -> &[CommandMetric] {
    const USUAL: &[CommandMetric] = &[
        CommandMetric::TimeWallClock,
        CommandMetric::TimeUser,
        CommandMetric::TimeSystem,
        CommandMetric::MemoryPeakResident,
    ];
    if comparison.metrics.is_empty() { USUAL } else { &comparison.metrics }
}

/// The head of its column.
pub(super) fn head(metric: CommandMetric) -> &'static str {
    match metric {
        CommandMetric::TimeWallClock => "wall median [95 %]",
        CommandMetric::TimeCpu => "CPU",
        CommandMetric::TimeUser => "user",
        CommandMetric::TimeSystem => "system",
        CommandMetric::MemoryPeakResident => "peak RSS",
    }
}

/// Its name in sentences.
pub(super) fn word(metric: CommandMetric) -> &'static str {
    match metric {
        CommandMetric::TimeWallClock => "wall time",
        CommandMetric::TimeCpu => "CPU time",
        CommandMetric::TimeUser => "user time",
        CommandMetric::TimeSystem => "system time",
        CommandMetric::MemoryPeakResident => "peak memory",
    }
}

/// Its name beside a ratio.
pub(super) fn row(metric: CommandMetric) -> &'static str {
    if metric == CommandMetric::MemoryPeakResident { "peak RSS" } else { word(metric) }
}

/// Its name in the heads of other columns.
pub(super) fn column(metric: CommandMetric) -> &'static str {
    match metric {
        CommandMetric::TimeWallClock => "wall",
        CommandMetric::TimeCpu => "cpu",
        CommandMetric::TimeUser => "user",
        CommandMetric::TimeSystem => "system",
        CommandMetric::MemoryPeakResident => "memory",
    }
}

/// The figure of a command.
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
    }
}

/// The median of what each run has used in all.
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
    /// The same unit in all rows.
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
