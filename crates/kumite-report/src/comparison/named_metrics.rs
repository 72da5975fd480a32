//! Metrics of commands as people name them, with hyperfine's names and units.

use std::str::FromStr;

use kumite_record::{CommandMetric, Unit, there_are};
use thiserror::Error;

use super::metrics::{MetricUnit, Units};

const TIMES: &[(&str, &str, f64)] = &[
    ("ns", "ns", 1e9),
    ("us", "µs", 1e6),
    ("ms", "ms", 1e3),
    ("s", "s", 1.0),
    ("min", "min", 1.0 / 60.0),
    ("h", "h", 1.0 / 3600.0),
];
const KIB: f64 = 1024.0;
const SIZES: &[(&str, &str, f64)] = &[
    ("B", "B", 1.0),
    ("kB", "kB", 1e-3),
    ("MB", "MB", 1e-6),
    ("GB", "GB", 1e-9),
    ("TB", "TB", 1e-12),
    ("KiB", "KiB", 1.0 / KIB),
    ("MiB", "MiB", 1.0 / (KIB * KIB)),
    ("GiB", "GiB", 1.0 / (KIB * KIB * KIB)),
    ("TiB", "TiB", 1.0 / (KIB * KIB * KIB * KIB)),
];

const COUNTS: &[(&str, &str, f64)] = &[("count", "", 1.0)];

/// A list of metrics to judge and show, each at most once.
#[derive(Clone, Debug)]
pub struct NamedMetrics {
    /// The metrics, in the order in which they were named.
    pub metrics: Vec<CommandMetric>,
    /// The units that the list gives to metrics. A metric that the list gives no unit has none here.
    pub units: Units,
}

/// An error in a list of metrics.
#[derive(Debug, PartialEq, Error)]
pub enum NamedMetricsError {
    /// The list names a metric more than once.
    #[error("`{0}` is there twice")]
    Twice(String),
    /// The list names something that is no metric.
    #[error(
        "there is no metric '{0}'{known}",
        known = there_are(.0, &[&["default", "time", "all"][..], &CommandMetric::ALL.map(CommandMetric::as_str)].concat())
    )]
    Unknown(String),
    /// The list gives a metric a unit that it does not have.
    #[error("{} has no unit `{unit}`; there are: {}", metric.as_str(), names(units(*metric)))]
    NoUnit {
        /// The metric for which the list gives the unit.
        metric: CommandMetric,
        /// The unit as it was typed.
        unit: String,
    },
}

/// Parses a preset (`default`, `time`, `all`), or names of metrics with commas between them, each with `:UNIT` if it
/// is to have a unit.
impl FromStr for NamedMetrics {
    type Err = NamedMetricsError;

    fn from_str(text: &str) -> Result<NamedMetrics, NamedMetricsError> {
        let mut named = NamedMetrics { metrics: Vec::new(), units: Units::default() };
        for word in list(text).split(',') {
            let (metric, unit) = named_metric(word.trim())?;
            if named.metrics.contains(&metric) {
                return Err(NamedMetricsError::Twice(word.to_owned()));
            }
            named.metrics.push(metric);
            if let Some(unit) = unit {
                named.units.set(metric, unit);
            }
        }
        Ok(named)
    }
}

fn list(text: &str) -> &str {
    match text {
        "default" => "time_wall_clock,memory_peak_resident",
        "time" => "time_wall_clock,time_cpu,time_user,time_system",
        "all" => "time_wall_clock,time_cpu,time_user,time_system,memory_peak_resident",
        list => list,
    }
}

fn named_metric(word: &str) -> Result<(CommandMetric, Option<MetricUnit>), NamedMetricsError> {
    let (name, unit) = word.split_once(':').map_or((word, None), |(name, unit)| (name, Some(unit)));
    let metric = CommandMetric::ALL.into_iter().find(|known| known.as_str() == name);
    let metric = metric.ok_or_else(|| NamedMetricsError::Unknown(name.to_owned()))?;
    let Some(unit) = unit else { return Ok((metric, None)) };
    match units(metric).iter().find(|(name, ..)| *name == unit) {
        Some(&(_, name, factor)) => Ok((metric, Some(MetricUnit { factor, name }))),
        None => Err(NamedMetricsError::NoUnit { metric, unit: unit.to_owned() }),
    }
}

fn units(metric: CommandMetric) -> &'static [(&'static str, &'static str, f64)] {
    match metric.unit() {
        Unit::Bytes => SIZES,
        Unit::Count => COUNTS,
        _ => TIMES,
    }
}

fn names(units: &[(&str, &str, f64)]) -> String {
    units.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_and_lists_are_read_and_the_rest_is_told() {
        let read = |text: &str| {
            let NamedMetrics { metrics, units } = text.parse()?;
            let told = |metric: CommandMetric| {
                let unit = units.of(metric).map_or(String::new(), |unit| format!(":{}", unit.name));
                format!("{metric:?}{unit}")
            };
            Ok::<_, NamedMetricsError>(metrics.into_iter().map(told).collect::<Vec<_>>().join(","))
        };
        for (text, is) in [
            ("default", "TimeWallClock,MemoryPeakResident"),
            ("time", "TimeWallClock,TimeCpu,TimeUser,TimeSystem"),
            ("all", "TimeWallClock,TimeCpu,TimeUser,TimeSystem,MemoryPeakResident"),
            ("time_cpu", "TimeCpu"),
            ("instructions,page_faults", "Instructions,PageFaults"),
            ("memory_peak_resident:MiB, time_wall_clock:us", "MemoryPeakResident:MiB,TimeWallClock:µs"),
        ] {
            assert_eq!(read(text).unwrap(), is);
        }
        use NamedMetricsError::{NoUnit, Twice, Unknown};
        let unit = |metric, unit: &str| NoUnit { metric, unit: unit.to_owned() };
        let all = "time_wall_clock,time_cpu,time_user,time_system,memory_peak_resident,time_cpu";
        for (text, why) in [
            ("time_wall_clock,cache_misses:k", unit(CommandMetric::CacheMisses, "k")),
            ("time_wall_clock,time_wall_clock:s", Twice("time_wall_clock:s".to_owned())),
            ("time_wall_clock:MB", unit(CommandMetric::TimeWallClock, "MB")),
            ("memory_peak_resident:ms", unit(CommandMetric::MemoryPeakResident, "ms")),
            ("walltime", Unknown("walltime".to_owned())),
            ("", Unknown(String::new())),
            ("time,default", Unknown("time".to_owned())),
            (all, Twice("time_cpu".to_owned())),
        ] {
            assert_eq!(read(text).unwrap_err(), why, "{text}");
        }
    }
}
