//! Tests of the names of metrics.

use super::*;

#[test]
fn names_become_words() {
    let check = |name, label: &str| assert_eq!(Metric::named(name).label(), label);
    check("throughput_rps", "throughput, req/s");
    check("response_p99_9_us", "response p99.9");
    check("engine_cpu_cores", "engine CPU cores");
    check("peak_rss_bytes", "peak RSS");
    check("goodput_best_rps", "best goodput, req/s");
    check("refusals_per_s", "refusals per s");
    check("rate_per_s", "rate per s");
    check("warm_billed_2016_ms", "warm billed 2016");
    check("warm_billed_2025_max_ms", "warm billed 2025 max");
    check("max_memory_bytes", "max memory");
    check("cpu_share", "CPU share");
    check("elapsed_ms", "elapsed");
    check("error_p99_9_us", "error p99.9");
    check("error_first_us", "error at start");
    check("error_last_us", "error at end");
    check("first_elapsed_ms", "first elapsed");
    check("missed_frames", "missed frames");
    check("round_trip_p50_us", "round trip p50");
    check("us", "us");
    check("", "");
}
