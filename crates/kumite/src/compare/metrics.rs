//! `--metrics`, with hyperfine's names and units.

use kumite_report::{Metric, MetricUnit, Metrics, Selected};

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
const METRICS: &[(&str, Metric)] = &[
    ("time_wall_clock", Metric::Wall),
    ("time_cpu", Metric::Cpu),
    ("time_user", Metric::User),
    ("time_system", Metric::System),
    ("memory_peak_resident", Metric::Memory),
];
const COUNTERS: &[&str] =
    &["cpu_cycles", "instructions", "cache_references", "cache_misses", "branch_misses"];

/// A preset, or metrics with commas between them.
pub fn parse(text: &str) -> Result<Metrics, String> {
    let list = match text {
        "default" => "time_wall_clock,memory_peak_resident",
        "time" => "time_wall_clock,time_cpu,time_user,time_system",
        "all" => "time_wall_clock,time_cpu,time_user,time_system,memory_peak_resident",
        list => list,
    };
    let mut metrics = Metrics([None; 5]);
    for (nth, word) in list.split(',').enumerate() {
        let selected = selected(word.trim())?;
        let is_there = |other: &Selected| other.metric == selected.metric;
        if metrics.0.iter().flatten().any(is_there) {
            return Err(format!("`{word}` is there twice"));
        }
        metrics.0[nth] = Some(selected);
    }
    if !metrics.0.iter().flatten().any(|selected| selected.metric == Metric::Wall) {
        return Err("the verdict is that of time_wall_clock: list it too".to_owned());
    }
    Ok(metrics)
}

fn selected(word: &str) -> Result<Selected, String> {
    let (name, unit) = word.split_once(':').map_or((word, None), |(name, unit)| (name, Some(unit)));
    if COUNTERS.contains(&name) {
        return Err(format!("{name}: kumite reads no counters of the processor; hyperfine and perf stat do"));
    }
    let Some(&(_, metric)) = METRICS.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "there is no metric `{name}`; there are: default, time, all, or {}",
            names.join(",")
        ));
    };
    let units = if metric == Metric::Memory { SIZES } else { TIMES };
    let named = |unit: &str| units.iter().find(|(name, ..)| *name == unit);
    let unit = match unit.map(|unit| named(unit).ok_or(unit)) {
        None => None,
        Some(Ok(&(_, name, factor))) => Some(MetricUnit { factor, name }),
        Some(Err(unit)) => {
            let names: Vec<&str> = units.iter().map(|(name, ..)| *name).collect();
            return Err(format!("{name} has no unit `{unit}`; there are: {}", names.join(", ")));
        }
    };
    Ok(Selected { metric, unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_and_lists_are_read_and_the_rest_is_told() {
        let names = |text: &str| {
            let selected = parse(text)?.0.into_iter().flatten();
            let told = |one: Selected| {
                format!(
                    "{:?}{}",
                    one.metric,
                    one.unit.map_or(String::new(), |unit| format!(":{}", unit.name))
                )
            };
            Ok::<_, String>(selected.map(told).collect::<Vec<_>>().join(","))
        };
        for (text, is) in [
            ("default", "Wall,Memory"),
            ("time", "Wall,Cpu,User,System"),
            ("all", "Wall,Cpu,User,System,Memory"),
            ("memory_peak_resident:MiB, time_wall_clock:us", "Memory:MiB,Wall:µs"),
        ] {
            assert_eq!(names(text).unwrap(), is);
        }
        for (text, why) in [
            ("instructions", "reads no counters"),
            ("time_wall_clock,cache_misses:k", "reads no counters"),
            ("time_cpu", "list it too"),
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
