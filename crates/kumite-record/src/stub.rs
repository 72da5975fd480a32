//! The document of `kumite stub`: what a server with a known delay did, as it counted it itself.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The life of a delay stub, as it counted it itself: the document that `kumite stub --json` writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StubResult {
    /// The version of this form.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command that repeats it.
    pub command: String,
    /// The URL at which it listened.
    pub url: String,
    /// The seed of its random delays and failures.
    pub seed: u64,
    /// The time from the start of listening to its end, in seconds.
    pub seconds: f64,
    /// CPU time of its thread.
    pub cpu_s: f64,
    /// Requests that were read to their end: the sum of `answers`, `resets` and `unanswered`.
    pub requests: u64,
    /// Answers to them that the kernel has taken whole, those with an error status included.
    pub answers: u64,
    /// Answers with the error status.
    pub errors: u64,
    /// Connections reset in place of an answer.
    pub resets: u64,
    /// Requests whose client had gone when the answer was due, or that still waited for theirs at the end.
    pub unanswered: u64,
    /// Input that was no request, answered with 400; in no other count.
    pub malformed: u64,
    /// The connections that it had.
    pub connections: StubConnections,
    /// The most requests that waited for a worker at once.
    pub longest_queue: u64,
    /// How late answers and resets were; none if there were none.
    pub late_us: Option<Lateness>,
}

/// The connections of a stub.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StubConnections {
    /// Taken to serve them.
    pub accepted: u64,
    /// The most that were open at once.
    pub most: u64,
    /// Connections that were closed at once, because there were too many.
    pub refused: u64,
}

impl Lateness {
    /// Of times in ns; none if there are none.
    pub fn of(late: &Histogram<u64>) -> Option<Lateness> {
        // Ten must be beyond it.
        let percentile = |share: f64| {
            let is_enough = late.len() as f64 * (1.0 - share) >= 10.0 - 1e-6;
            is_enough.then(|| late.value_at_quantile(share) as f64 / 1e3)
        };
        let lateness = Lateness { p50: percentile(0.5), p99: percentile(0.99), max: late.max() as f64 / 1e3 };
        (!late.is_empty()).then_some(lateness)
    }
}

/// From when answers were due to when the kernel had them, in microseconds. A percentile with fewer than ten answers
/// beyond it is not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lateness {
    /// The median, in microseconds; none with fewer than ten answers beyond it.
    pub p50: Option<f64>,
    /// The 99th percentile, in microseconds; none with fewer than ten answers beyond it.
    pub p99: Option<f64>,
    /// The longest, in microseconds.
    pub max: f64,
}
