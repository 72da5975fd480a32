//! How late an instrument was, in its closing line.

use hdrhistogram::Histogram;
use kumite_record::Lateness;

/// The end of a closing line; empty if nothing was late.
pub fn closing(late: &Histogram<u64>) -> String {
    let Some(late) = Lateness::of(late) else { return String::new() };
    let known = [("p50", late.p50), ("p99", late.p99), ("max", Some(late.max))];
    let known = known.into_iter().filter_map(|(name, us)| Some(format!("{name} {:.1} µs", us?)));
    format!("; late by {}", known.collect::<Vec<_>>().join(", "))
}
