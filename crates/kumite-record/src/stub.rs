//! The document of `kumite stub`: the work of a server with a known delay, by its own count.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The work of a delay stub, by its own count: the document that `kumite stub --json` writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StubResult {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command line that repeats the measurement.
    pub command: String,
    /// The URL at which the stub listened.
    pub url: String,
    /// The seed of the stub's random delays and failures.
    pub seed: u64,
    /// The time for which the stub listened, in seconds.
    pub seconds: f64,
    /// The CPU time of the stub's thread, in seconds.
    pub cpu_s: f64,
    /// The number of requests that were read to their end: the sum of `answers`, `resets` and `unanswered`.
    pub requests: u64,
    /// The number of answers that the kernel has taken whole, including those with an error status.
    pub answers: u64,
    /// The number of answers with the error status; `answers` includes them.
    pub errors: u64,
    /// The number of connections that were reset in place of an answer.
    pub resets: u64,
    /// The number of requests without an answer: the client had gone when the answer was due, or the stub ended before
    /// that.
    pub unanswered: u64,
    /// The number of inputs that were no request and were answered with 400. They are in no other count.
    pub malformed: u64,
    /// The connections that clients opened.
    pub connections: StubConnections,
    /// The largest number of requests that waited for one of the stub's workers at the same time.
    pub longest_queue: u64,
    /// The lateness of answers and resets, in microseconds. `None` if there was neither.
    pub late_us: Option<Lateness>,
}

/// The numbers of a stub's connections that were accepted, open at once, and refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StubConnections {
    /// The number of connections that were accepted and served.
    pub accepted: u64,
    /// The largest number of connections that were open at once.
    pub most: u64,
    /// The number of connections that were closed at once because there were too many.
    pub refused: u64,
}

impl Lateness {
    /// The lateness from a histogram in nanoseconds. None if the histogram is empty.
    pub fn of(late: &Histogram<u64>) -> Option<Lateness> {
        // Ten answers must lie beyond a percentile.
        let percentile = |share: f64| {
            let is_enough = late.len() as f64 * (1.0 - share) >= 10.0 - 1e-6;
            is_enough.then(|| late.value_at_quantile(share) as f64 / 1e3)
        };
        let lateness = Lateness { p50: percentile(0.5), p99: percentile(0.99), max: late.max() as f64 / 1e3 };
        (!late.is_empty()).then_some(lateness)
    }
}

/// The distribution of the time from when answers were due to when the kernel had them, in microseconds. A percentile
/// with fewer than ten answers beyond it is not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lateness {
    /// The median, in microseconds; none with fewer than ten answers beyond it.
    pub p50: Option<f64>,
    /// The 99th percentile, in microseconds; none with fewer than ten answers beyond it.
    pub p99: Option<f64>,
    /// The greatest lateness, in microseconds.
    pub max: f64,
}
