//! What a metric's name says about it: its words, its unit, which way is better, and where it stands in a table.

use kumite_record::Estimate;

use crate::bound::Bound;
use crate::number::{count, digits_apart, plural, significant};

/// What is measured, from the unit that ends the metric's name.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Quantity {
    /// Seconds in one unit of the metric.
    Time(f64),
    Bytes,
    Rate,
    /// A part of a whole, shown in percent.
    Share,
    Count,
    Other,
}

/// A metric, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    pub name: String,
    quantity: Quantity,
}

/// Which values of a metric come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    Higher,
    Lower,
}

/// What a reader asks first comes first, resources last; metrics that are in neither list stand between, by name.
const FIRST: &[&str] = &[
    "recovery_ms",
    "first_right_ms",
    "goodput_best_rps",
    "answered",
    "refusals",
    "timeouts",
    "lost",
    "throughput_rps",
    "goodput_rps",
    "answered_rps",
    "refusals_per_s",
    "timeouts_per_s",
    "lost_per_s",
    "first_second_rps",
    "warm_up_ms",
    "elapsed_ms",
    "wall_s",
    "wall_ms",
    "duration_ms",
    "init_ms",
    "inits",
    "billed_2016_ms",
    "billed_2025_ms",
    "warm_wall_ms",
    "warm_duration_ms",
    "warm_billed_2016_ms",
    "warm_billed_2025_ms",
    "warm_billed_2025_min_ms",
    "warm_billed_2025_max_ms",
    "cold_calls",
    "instances",
    "error_p99_us",
    "error_p50_us",
    "error_p90_us",
    "error_p99_9_us",
    "error_max_us",
    "missed_frames",
    "error_first_us",
    "error_last_us",
    "rate_per_s",
    "jobs_per_s",
    "encode_ns",
    "efficiency",
    "first_elapsed_ms",
    "worker_elapsed_ms",
    "response_mean_us",
    "response_p50_us",
    "response_p90_us",
    "response_p99_us",
    "response_p99_9_us",
    "response_max_us",
    "service_mean_us",
    "service_p50_us",
    "service_p90_us",
    "service_p99_us",
    "service_p99_9_us",
    "service_max_us",
    "refusal_p50_us",
    "refusal_p99_us",
    "failures",
    "unsent",
    "received",
    "finished",
];
const LAST: &[&str] = &[
    "cpu_s",
    "cpu_ms",
    "cpu_share",
    "cpu_cores",
    "threads_used",
    "peak_threads",
    "context_switches",
    "engine_cpu_cores",
    "send_lag_p99_us",
    "receive_lag_p99_us",
    "round_trip_p50_us",
    "peak_rss_bytes",
    "max_memory_bytes",
];

/// Metrics that would crowd a table out of its page.
const DETAILS: &[&str] = &[
    "first_second_rps",
    "warm_up_ms",
    "jobs_per_s",
    "first_elapsed_ms",
    "worker_elapsed_ms",
    "response_p90_us",
    "response_p99_9_us",
    "response_max_us",
    "service_mean_us",
    "service_p50_us",
    "service_p90_us",
    "service_p99_9_us",
    "service_max_us",
    "received",
    "finished",
    "context_switches",
    "engine_cpu_cores",
    "send_lag_p99_us",
    "receive_lag_p99_us",
    "round_trip_p50_us",
    "warm_duration_ms",
    "warm_billed_2025_min_ms",
    "warm_billed_2025_max_ms",
    "instances",
    "error_p90_us",
    "error_p99_9_us",
    "error_first_us",
];

const COUNTS: &[&str] = &[
    "answered",
    "refusals",
    "timeouts",
    "lost",
    "failures",
    "unsent",
    "received",
    "finished",
    "errors",
    "requests",
    "threads_used",
    "peak_threads",
    "context_switches",
    "inits",
    "cold",
    "cold_calls",
    "instance",
    "instances",
    "missed_frames",
];

/// Rates that are neither good nor bad by themselves.
const OF_FAILURES: &[&str] = &["refusals_per_s", "timeouts_per_s", "lost_per_s"];

const UNITS: &[(&str, Quantity)] = &[
    ("_rps", Quantity::Rate),
    ("_per_s", Quantity::Rate),
    ("_ns", Quantity::Time(1e-9)),
    ("_us", Quantity::Time(1e-6)),
    ("_ms", Quantity::Time(1e-3)),
    ("_s", Quantity::Time(1.0)),
    ("_bytes", Quantity::Bytes),
];

impl Metric {
    pub fn new(name: &str) -> Metric {
        let unit = UNITS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, quantity)| *quantity);
        let quantity = match unit {
            Some(quantity) => quantity,
            None if name.ends_with("_share") => Quantity::Share,
            None if COUNTS.contains(&name) || name.ends_with("_count") => Quantity::Count,
            None => Quantity::Other,
        };
        Metric { name: name.to_owned(), quantity }
    }

    /// The name in words, without its unit: `response p99.9`.
    pub fn words(&self) -> String {
        let unit = UNITS.iter().find_map(|(end, _)| self.name.strip_suffix(end));
        let words: Vec<&str> = unit
            .unwrap_or(&self.name)
            .split('_')
            .map(|word| match word {
                "cpu" => "CPU",
                "rss" => "RSS",
                word => word,
            })
            .collect();
        match words.join(" ").as_str() {
            "error first" => "error at start".to_owned(),
            "error last" => "error at end".to_owned(),
            words => words.replace("p99 9", "p99.9").replace("goodput best", "best goodput"),
        }
    }

    /// The head of its column; with the unit, where the values do not carry theirs: `throughput, req/s`.
    pub fn label(&self) -> String {
        match self.quantity {
            Quantity::Rate if self.name.ends_with("_rps") => format!("{}, req/s", self.words()),
            Quantity::Rate => format!("{} per s", self.words()),
            _ => self.words(),
        }
    }

    /// Which values come first in a table; none where the name does not tell.
    pub fn better(&self) -> Option<Better> {
        match self.quantity {
            Quantity::Rate if OF_FAILURES.contains(&self.name.as_str()) => None,
            Quantity::Rate => Some(Better::Higher),
            Quantity::Time(_) | Quantity::Bytes => Some(Better::Lower),
            Quantity::Other if self.name == "efficiency" => Some(Better::Higher),
            Quantity::Count if self.name == "missed_frames" => Some(Better::Lower),
            Quantity::Share | Quantity::Count | Quantity::Other => None,
        }
    }

    /// Whether it belongs below the main table.
    pub fn is_detail(&self) -> bool {
        DETAILS.contains(&self.name.as_str())
    }

    /// Sorts metrics into the order of a table's columns.
    pub fn rank(&self) -> (usize, String) {
        let name = self.name.as_str();
        let first = FIRST.iter().position(|known| *known == name);
        let last = LAST.iter().position(|known| *known == name).map(|at| FIRST.len() + 1 + at);
        (first.or(last).unwrap_or(FIRST.len()), name.to_owned())
    }

    /// A value with its unit.
    pub fn text(&self, value: f64) -> String {
        let (factor, unit) = self.scale(value);
        format!("{}{unit}", self.digits(value / factor, 3))
    }

    /// A value with its unit and no more digits than it needs, for the ticks of an axis.
    pub fn tick(&self, value: f64) -> String {
        self.at_most(value, 3)
    }

    /// A value with its unit as others gave it, which is not rounded to our taste.
    pub fn as_given(&self, value: f64) -> String {
        self.at_most(value, 6)
    }

    fn at_most(&self, value: f64, digits: usize) -> String {
        let (factor, unit) = self.scale(value);
        let number = significant(value / factor, digits);
        let short =
            if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
        format!("{short}{unit}")
    }

    /// A value with its unit, and its interval in the same unit or why there is none.
    pub fn estimate(&self, estimate: &Estimate) -> (String, Option<String>) {
        self.bounded(estimate, Bound::default())
    }

    /// The same, where parts of it may be lower bounds: `> 5.20 s` and `4.90 or more`.
    pub fn bounded(&self, estimate: &Estimate, bound: Bound) -> (String, Option<String>) {
        let value = estimate.estimate;
        let sign = if bound.estimate { "> " } else { "" };
        let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
            return (
                format!("{sign}{}", self.text(value)),
                Some(format!("no interval: {}", plural(estimate.n, "block"))),
            );
        };
        let (factor, unit) = self.scale(value);
        let digits = digits_apart(&[low / factor, high / factor]);
        let show = |value: f64| self.digits(value / factor, digits);
        let interval = match bound.high {
            true => Some(format!("{} or more", show(low))),
            false => (show(low) != show(high)).then(|| format!("{}–{}", show(low), show(high))),
        };
        (format!("{sign}{}{unit}", show(value)), interval)
    }

    fn digits(&self, value: f64, digits: usize) -> String {
        match self.quantity {
            Quantity::Count => count(value),
            _ => significant(value, digits),
        }
    }

    /// What its values are once they were converted to seconds or bytes; plain numbers, if they are neither.
    pub fn converted(&self) -> Metric {
        Metric::new(match self.quantity {
            Quantity::Time(_) => "_s",
            Quantity::Bytes => "_bytes",
            Quantity::Rate | Quantity::Share | Quantity::Count | Quantity::Other => "_count",
        })
    }

    /// What to divide a value by, and the unit it then has.
    pub fn scale(&self, value: f64) -> (f64, &'static str) {
        let steps: &[(f64, &str)] = match self.quantity {
            Quantity::Time(_) => &[(1.0, " s"), (1e-3, " ms"), (1e-6, " µs"), (1e-9, " ns")],
            Quantity::Bytes => {
                &[(1_073_741_824.0, " GiB"), (1_048_576.0, " MiB"), (1024.0, " KiB"), (1.0, " B")]
            }
            Quantity::Share => &[(0.01, " %")],
            Quantity::Rate | Quantity::Count | Quantity::Other => &[(1.0, "")],
        };
        let base = if let Quantity::Time(seconds) = self.quantity { seconds } else { 1.0 };
        let size = (value * base).abs();
        // Zero has no size of its own; it is shown in the metric's own unit.
        let size = if size == 0.0 { base } else { size };
        let (factor, unit) =
            steps.iter().find(|(step, _)| size >= *step).or(steps.last()).copied().unwrap_or((1.0, ""));
        (factor / base, unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words() {
        let check = |name, label: &str| assert_eq!(Metric::new(name).label(), label);
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
        check("missed_frames", "missed frames");
        check("round_trip_p50_us", "round trip p50");
        check("us", "us");
        check("", "");
    }

    #[test]
    fn a_name_says_which_values_are_better_or_nothing() {
        let check = |name, better| assert_eq!(Metric::new(name).better(), better, "{name}");
        check("elapsed_ms", Some(Better::Lower));
        check("rate_per_s", Some(Better::Higher));
        check("efficiency", Some(Better::Higher));
        check("threads_used", None);
        check("cpu_cores", None);
        check("goodput_rps", Some(Better::Higher));
        check("refusals_per_s", None);
        check("wakeups", None);
        check("billed_2025_ms", Some(Better::Lower));
        check("max_memory_bytes", Some(Better::Lower));
        check("cpu_share", None);
        check("cold_calls", None);
        check("error_p99_us", Some(Better::Lower));
        check("missed_frames", Some(Better::Lower));
    }

    #[test]
    fn what_an_experiment_declares_stands_between_what_is_known() {
        let mut names =
            ["peak_rss_bytes", "cpu_s", "file_bytes", "efficiency", "elapsed_ms"].map(Metric::new);
        names.sort_by_cached_key(Metric::rank);
        assert_eq!(
            names.map(|m| m.name),
            ["elapsed_ms", "efficiency", "file_bytes", "cpu_s", "peak_rss_bytes"]
        );
        let mut names =
            ["max_memory_bytes", "fib_ms", "cpu_share", "cold_calls", "warm_wall_ms", "init_ms", "wall_ms"]
                .map(Metric::new);
        names.sort_by_cached_key(Metric::rank);
        assert_eq!(
            names.map(|m| m.name),
            ["wall_ms", "init_ms", "warm_wall_ms", "cold_calls", "fib_ms", "cpu_share", "max_memory_bytes"]
        );
        let mut names =
            ["cpu_cores", "missed_frames", "error_last_us", "error_max_us", "error_p50_us", "error_p99_us"]
                .map(Metric::new);
        names.sort_by_cached_key(Metric::rank);
        assert_eq!(
            names.map(|m| m.name),
            ["error_p99_us", "error_p50_us", "error_max_us", "missed_frames", "error_last_us", "cpu_cores"]
        );
    }

    #[test]
    fn values_get_the_unit_that_fits() {
        let check = |name, value, text: &str| assert_eq!(Metric::new(name).text(value), text);
        check("response_mean_us", 24.0, "24.0 µs");
        check("response_mean_us", 91_260.0, "91.3 ms");
        check("response_mean_us", 0.0, "0 µs");
        check("elapsed_ms", 3_512.0, "3.51 s");
        check("elapsed_ns", 0.5, "0.500 ns");
        check("peak_rss_bytes", 100.0 * 1024.0 * 1024.0, "100 MiB");
        check("failures", 12_345.0, "12,345");
        check("throughput_rps", 12_345.0, "12,300");
        check("rate_per_s", 5.0, "5.00");
        check("encode_ns", 30_538.7, "30.5 µs");
        check("threads_used", 4.0, "4");
        check("context_switches", 12_345.0, "12,345");
        check("lost_count", 0.0, "0");
        check("cpu_share", 0.0723, "7.23 %");
        check("cpu_share", 0.0, "0 %");
        check("inits", 2.0, "2");
        check("billed_2016_ms", 14_800.0, "14.8 s");
        check("elapsed_ms", f64::NAN, "– ns");
    }

    #[test]
    fn what_others_published_is_not_rounded() {
        let check = |name, value, text: &str| assert_eq!(Metric::new(name).as_given(value), text);
        check("received", 308_443.0, "308,443");
        check("response_mean_us", 82_584.0, "82.584 ms");
        check("response_mean_us", 51.0, "51 µs");
        check("throughput_rps", 21_677.0 / 30.0, "722.567");
    }

    #[test]
    fn what_may_be_more_says_so() {
        let of = Estimate {
            estimate: 5_200.0,
            low: Some(4_900.0),
            high: Some(5_300.0),
            unit: kumite_record::Unit::Milliseconds,
            n: 8,
            lower_bounds: 0,
        };
        let metric = Metric::new("recovery_ms");
        let check = |estimate, high, text: &str, interval: &str| {
            let shown = metric.bounded(&of, Bound { estimate, high });
            assert_eq!(shown, (text.to_owned(), Some(interval.to_owned())));
        };
        check(false, false, "5.20 s", "4.90–5.30");
        check(false, true, "5.20 s", "4.90 or more");
        check(true, true, "> 5.20 s", "4.90 or more");
    }

    #[test]
    fn an_interval_shares_its_estimates_unit() {
        let of = |low, high| Estimate {
            estimate: 1_001.0,
            low,
            high,
            unit: kumite_record::Unit::Microseconds,
            n: 2,
            lower_bounds: 0,
        };
        let metric = Metric::new("response_mean_us");
        let check = |low, high, interval: Option<&str>| {
            assert_eq!(metric.estimate(&of(low, high)).1.as_deref(), interval);
        };
        check(Some(900.0), Some(1_100.0), Some("0.900–1.10"));
        check(Some(1_000.9), Some(1_001.1), Some("1.0009–1.0011"));
        check(Some(1_001.0), Some(1_001.0), None);
        check(Some(1_001.0), Some(1_001.0 + 1e-9), None);
        check(None, None, Some("no interval: 2 blocks"));
    }
}
