//! How late an instrument was, in its documents and closing lines.

use hdrhistogram::Histogram;
use kumite_record::Lateness;

/// Of times in ns; none if there are none.
pub fn of(late: &Histogram<u64>) -> Option<Lateness> {
    // Ten must be beyond it.
    let percentile = |share: f64| {
        let enough = late.len() as f64 * (1.0 - share) >= 10.0 - 1e-6;
        enough.then(|| late.value_at_quantile(share) as f64 / 1e3)
    };
    let lateness = Lateness { p50: percentile(0.5), p99: percentile(0.99), max: late.max() as f64 / 1e3 };
    (!late.is_empty()).then_some(lateness)
}

/// What a closing line ends with.
pub fn closing(late: &Histogram<u64>) -> String {
    let Some(late) = of(late) else { return String::new() };
    let known = [("p50", late.p50), ("p99", late.p99), ("max", Some(late.max))];
    let known = known.into_iter().filter_map(|(name, us)| Some(format!("{name} {:.1} µs", us?)));
    format!("; late by {}", known.collect::<Vec<_>>().join(", "))
}
