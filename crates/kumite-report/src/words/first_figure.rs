//! The first figure of a trial.

use std::collections::BTreeMap;

use kumite_record::{Metric, Unit};

/// The first of the declared metrics that a trial has, with its name and unit: `throughput 18300 /s`. None if the trial
/// has none of them.
pub fn first_figure(declared: &[Metric], measured: &BTreeMap<String, f64>) -> Option<String> {
    let found = declared.iter().find_map(|metric| Some((metric, *measured.get(&metric.name)?)));
    found.map(|(Metric { name, unit, .. }, value)| {
        let digits = if value.abs() < 10.0 && value.fract() != 0.0 { 2 } else { 0 };
        let words = Unit::without(name).replace('_', " ");
        format!("{words} {value:.digits$} {}", unit.symbol()).trim_end().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_first_declared_metric_that_the_trial_has() {
        let declared = ["recovery_ms", "throughput_rps", "error_p99_us", "cold_calls"];
        let declared = declared.map(|name| Metric::new(name, "One."));
        let figure = |metrics: &[(&str, f64)]| {
            let measured = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value));
            first_figure(&declared, &measured.collect())
        };
        let words = figure(&[("error_p99_us", 1.0), ("throughput_rps", 812.4)]);
        assert_eq!(words.as_deref(), Some("throughput 812 /s"));
        assert_eq!(figure(&[("error_p99_us", 1.256)]).as_deref(), Some("error p99 1.26 us"));
        assert_eq!(figure(&[("cold_calls", 3.0)]).as_deref(), Some("cold calls 3"));
        assert_eq!(figure(&[("unknown", 3.0)]), None);
    }
}
