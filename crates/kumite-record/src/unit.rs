//! The units of figures. The end of a figure's name says its unit.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit of a figure. The end of the figure's name says it, except for counts, plain numbers and most ratios.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Requests a second.
    #[serde(rename = "req/s")]
    RequestsPerSecond,
    /// The number of things in a second, if the things are not requests.
    #[serde(rename = "/s")]
    PerSecond,
    /// CPUs that are kept busy: CPU seconds a second.
    #[serde(rename = "cores")]
    Cores,
    /// A share of a whole, or a quotient of two figures of one unit.
    #[serde(rename = "ratio")]
    Ratio,
    /// A whole number of things.
    #[serde(rename = "count")]
    Count,
    /// A number of unknown unit.
    #[serde(rename = "number")]
    Number,
}

/// The end of the name of a time that each request costs.
const US_PER_REQUEST: &str = "_us_per_request";

/// The ends of names that say a unit, each with its unit.
const SUFFIXES: [(&str, Unit); 10] = [
    (US_PER_REQUEST, Unit::Microseconds),
    ("_ns", Unit::Nanoseconds),
    ("_us", Unit::Microseconds),
    ("_ms", Unit::Milliseconds),
    ("_per_s", Unit::PerSecond),
    ("_rps", Unit::RequestsPerSecond),
    ("_s", Unit::Seconds),
    ("_bytes", Unit::Bytes),
    ("_cores", Unit::Cores),
    ("_share", Unit::Ratio),
];

impl Unit {
    /// The unit that the end of `name` says. None if it says no unit.
    pub fn of_name(name: &str) -> Option<Unit> {
        SUFFIXES.iter().find(|(end, _)| name.ends_with(end)).map(|(_, unit)| *unit)
    }

    /// The name without the unit at its end. `_cores`, `_share` and `_us_per_request` stay, since the name says nothing
    /// without them.
    pub fn without(name: &str) -> &str {
        let spoken = |unit| matches!(unit, Unit::Cores | Unit::Ratio);
        let unit = SUFFIXES.iter().filter(|(end, unit)| !spoken(*unit) && *end != US_PER_REQUEST);
        unit.filter_map(|(end, _)| name.strip_suffix(end)).next().unwrap_or(name)
    }

    /// The factor by which a figure in this unit is multiplied to get seconds, for nanoseconds, microseconds and
    /// milliseconds; 1 for every other unit.
    pub fn scale(self) -> f64 {
        match self {
            Unit::Nanoseconds => 1e-9,
            Unit::Microseconds => 1e-6,
            Unit::Milliseconds => 1e-3,
            _ => 1.0,
        }
    }

    /// The better end of figures in this unit. None if the unit alone does not tell.
    pub fn better(self) -> Option<Better> {
        match self {
            Unit::RequestsPerSecond | Unit::PerSecond => Some(Better::Higher),
            Unit::Nanoseconds | Unit::Microseconds | Unit::Milliseconds | Unit::Seconds | Unit::Bytes => {
                Some(Better::Lower)
            }
            Unit::Cores | Unit::Ratio | Unit::Count | Unit::Number => None,
        }
    }

    /// The symbol that is written behind a figure; empty for a ratio, a count or a plain number.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Microseconds => "us",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::RequestsPerSecond | Unit::PerSecond => "/s",
            Unit::Cores => "cores",
            Unit::Ratio | Unit::Count | Unit::Number => "",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The better end of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Larger values are better.
    Higher,
    /// Smaller values are better.
    Lower,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_says_the_unit() {
        let check = |name, unit| assert_eq!(Unit::of_name(name), unit, "{name}");
        check("elapsed_ms", Some(Unit::Milliseconds));
        check("cpu_s", Some(Unit::Seconds));
        check("rate_per_s", Some(Unit::PerSecond));
        check("throughput_rps", Some(Unit::RequestsPerSecond));
        check("cpu_cores", Some(Unit::Cores));
        check("cpu_share", Some(Unit::Ratio));
        check("cpu_us_per_request", Some(Unit::Microseconds));
        check("failures", None);
        check("ms", None);
        assert_eq!(Unit::without("response_p99_9_us"), "response_p99_9");
        assert_eq!(Unit::without("cpu_cores"), "cpu_cores");
    }

    #[test]
    fn a_unit_is_written_as_it_is_kept() {
        assert_eq!(Unit::RequestsPerSecond.to_string(), "req/s");
        assert_eq!(serde_json::to_string(&Unit::PerSecond).unwrap(), "\"/s\"");
    }
}
