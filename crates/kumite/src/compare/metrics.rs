//! `--metrics`, with hyperfine's names and units.

use kumite_record::{CommandMetric, Unit};
use kumite_report::{MetricUnit, Units};

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
const COUNTERS: &[&str] =
    &["cpu_cycles", "instructions", "cache_references", "cache_misses", "branch_misses"];

/// What is judged and shown, in this order, and the units of its figures.
#[derive(Clone, Debug)]
pub struct Named {
    pub metrics: Vec<CommandMetric>,
    pub units: Units,
}

/// A preset, or metrics with commas between them.
pub fn parse(text: &str) -> Result<Named, String> {
    let list = match text {
        "default" => "time_wall_clock,memory_peak_resident",
        "time" => "time_wall_clock,time_cpu,time_user,time_system",
        "all" => "time_wall_clock,time_cpu,time_user,time_system,memory_peak_resident",
        list => list,
    };
    let mut named = Named { metrics: Vec::new(), units: Units::default() };
    for word in list.split(',') {
        let (metric, unit) = one(word.trim())?;
        if named.metrics.contains(&metric) {
            return Err(format!("`{word}` is there twice"));
        }
        named.metrics.push(metric);
        if let Some(unit) = unit {
            named.units.set(metric, unit);
        }
    }
    Ok(named)
}

fn one(word: &str) -> Result<(CommandMetric, Option<MetricUnit>), String> {
    let (name, unit) = word.split_once(':').map_or((word, None), |(name, unit)| (name, Some(unit)));
    if COUNTERS.contains(&name) {
        return Err(format!(
            "{name}: kumite reads no counters of the processor, which most virtual machines hide; judge time_cpu here, and \
             have hyperfine 2.0 or `perf stat -e {}` count",
            name.replace('_', "-")
        ));
    }
    let Some(metric) = CommandMetric::ALL.into_iter().find(|known| known.as_str() == name) else {
        let names = CommandMetric::ALL.map(CommandMetric::as_str);
        return Err(format!(
            "there is no metric `{name}`; there are: default, time, all, or {}",
            names.join(",")
        ));
    };
    let units = if metric.unit() == Unit::Bytes { SIZES } else { TIMES };
    let named = |unit: &str| units.iter().find(|(name, ..)| *name == unit);
    match unit.map(|unit| named(unit).ok_or(unit)) {
        None => Ok((metric, None)),
        Some(Ok(&(_, name, factor))) => Ok((metric, Some(MetricUnit { factor, name }))),
        Some(Err(unit)) => {
            let names: Vec<&str> = units.iter().map(|(name, ..)| *name).collect();
            Err(format!("{name} has no unit `{unit}`; there are: {}", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_and_lists_are_read_and_the_rest_is_told() {
        let names = |text: &str| {
            let Named { metrics, units } = parse(text)?;
            let told = |metric: CommandMetric| {
                let unit = units.of(metric).map_or(String::new(), |unit| format!(":{}", unit.name));
                format!("{metric:?}{unit}")
            };
            Ok::<_, String>(metrics.into_iter().map(told).collect::<Vec<_>>().join(","))
        };
        for (text, is) in [
            ("default", "TimeWallClock,MemoryPeakResident"),
            ("time", "TimeWallClock,TimeCpu,TimeUser,TimeSystem"),
            ("all", "TimeWallClock,TimeCpu,TimeUser,TimeSystem,MemoryPeakResident"),
            ("time_cpu", "TimeCpu"),
            ("memory_peak_resident:MiB, time_wall_clock:us", "MemoryPeakResident:MiB,TimeWallClock:µs"),
        ] {
            assert_eq!(names(text).unwrap(), is);
        }
        for (text, why) in [
            ("instructions", "reads no counters"),
            (
                "time_wall_clock,cache_misses:k",
                "time_cpu here, and have hyperfine 2.0 or `perf stat -e cache-misses`",
            ),
            ("time_wall_clock,time_wall_clock:s", "is there twice"),
            ("time_wall_clock:MB", "no unit `MB`; there are: ns, us, ms, s, min, h"),
            ("memory_peak_resident:ms", "there are: B, kB"),
            ("walltime", "there is no metric `walltime`"),
            ("", "there is no metric ``"),
            ("time,default", "there is no metric `time`"),
            ("time_wall_clock,time_cpu,time_user,time_system,memory_peak_resident,time_cpu", "twice"),
        ] {
            let error = names(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
