//! The document of `kumite load`: one load on one server, in figures that need no other file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Errors, Needs, Series, Steadiness, Void};

/// The document that `kumite load --json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadResult {
    /// The version of this form.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command that repeats it.
    pub command: String,
    /// The URL of each request.
    pub url: String,
    /// The number of keep-alive connections.
    pub connections: u64,
    /// Requests a second that were due on average; none in a closed loop.
    pub rate_rps: Option<f64>,
    /// Finished requests: right answers and failures.
    pub requests: u64,
    /// The number of right answers.
    pub ok: u64,
    /// Failures by kind; every kind is there.
    pub errors: Errors,
    /// Length of the measured time.
    pub seconds: f64,
    /// Right answers a second, from when throughput was steady; over the whole of `seconds` if it never was, and in an open
    /// loop.
    pub throughput_rps: f64,
    /// The steadiness of throughput, and from when to the end the figures are; none if the load was too short to
    /// tell, and then they are of the whole.
    pub steadiness: Option<Steadiness>,
    /// From the start of the load to where throughput was steady; 0 if it always was, none if it never was.
    pub warm_up_ms: Option<f64>,
    /// Percentiles that are not given, by metric, and how many more requests they would take.
    #[serde(default)]
    pub needs: Needs,
    /// Of what is steady, as all times; in an open loop of all that was due in the measured time. From when the request
    /// should have been sent. In a closed loop that is when it was sent.
    pub response_us: Option<Latency>,
    /// From when the request was sent.
    pub service_us: Option<Latency>,
    /// Requests finished before the measured time, right or not: in no other count.
    pub warm_up_requests: u64,
    /// Right answers to requests that were on their way when a closed loop ended: in no other count.
    pub drained: u64,
    /// Requests that were on their way when a closed loop ended, and had no right answer for as long as was waited: in no
    /// other count.
    #[serde(default)]
    pub unanswered: u64,
    /// Connections of a closed loop on which an answer came after its end that nobody had asked for. It is no request; but what
    /// was taken for the answer to the last one there may have been such, too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unasked: u64,
    /// The engine's own use and headroom: the instrument is on trial too.
    pub engine: Engine,
    /// The first answer that was wrong or malformed, or the first connection that could not be established, in words.
    pub first_wrong: Option<String>,
    /// Connections opened again, after a failure or because the server closed one.
    pub reconnects: u64,
    /// From the first failure to the first right answer after which none failed for 1.5 time-outs; the longest time, if
    /// that happened more than once. None if nothing failed. A lower bound if `recovered` is false.
    pub recovery_us: Option<f64>,
    /// True if each steady time after failures was seen to its end; none if nothing failed. False if something failed
    /// in the last 1.5 time-outs: then nobody can have seen it.
    pub recovered: Option<bool>,
    /// True if it was ended before its limit.
    pub cut_short: bool,
    /// Why its figures are worth nothing: kumite was stopped meanwhile, or the machine slept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<Void>,
    /// Right answers of what is steady by response time: the upper end of each bin and its count.
    pub histogram_us: Vec<(f64, u64)>,
    /// Counts and percentiles of the load over time.
    pub series: Series,
}

/// The distribution of a time over right answers, in microseconds. A percentile with fewer than ten requests beyond it is
/// not given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// The arithmetic mean, in microseconds.
    pub mean: f64,
    /// The median, in microseconds; none with fewer than ten requests beyond it.
    pub p50: Option<f64>,
    /// The 90th percentile, in microseconds; none with fewer than ten requests beyond it.
    pub p90: Option<f64>,
    /// The 99th percentile, in microseconds; none with fewer than ten requests beyond it.
    pub p99: Option<f64>,
    /// The 99.9th percentile, in microseconds; none with fewer than ten requests beyond it.
    pub p99_9: Option<f64>,
    /// The longest time, in microseconds.
    pub max: f64,
}

/// The load engine's own use and headroom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// The way bytes were moved: `epoll` or `io_uring`.
    pub io: String,
    /// True if its threads had real-time priority (SCHED_FIFO).
    pub real_time: bool,
    /// CPU time of the engine's threads.
    pub cpu_s: f64,
    /// CPU time for each finished request.
    pub cpu_us_per_request: Option<f64>,
    /// How late requests were sent though a connection was free, 99th percentile; none in a closed loop, which has no
    /// schedule.
    pub send_lag_p99_us: Option<f64>,
    /// How long answers may have waited until they were read, 99th percentile: an upper bound, and part of their response
    /// times.
    pub receive_lag_p99_us: Option<f64>,
    /// Busy time of the busiest thread, divided by the measured time: 1 for one without headroom.
    pub busiest: f64,
    /// True if the engine had no headroom, so that it and not the server may have been the limit.
    pub bound: bool,
    /// True if the engine sent one request in a hundred of an open loop a millisecond late or more, beyond what
    /// --economy allows it, though a connection was free, so that response times are also its own.
    pub late: bool,
}

/// serde gives a reference.
fn is_zero(count: &u64) -> bool {
    *count == 0
}
