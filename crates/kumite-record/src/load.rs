//! The document of `kumite load`: one load on one server, in figures that need no other file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AnswersChecked, Errors, Needs, Series, Steadiness, Void};

/// The result of one load on a server: the document that `kumite load --json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadResult {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command line that repeats the load.
    pub command: String,
    /// The URLs of the requests, as they were typed, with a space between two.
    pub url: String,
    /// The number of keep-alive connections.
    pub connections: u64,
    /// The number of requests after which a connection was ended and another one opened; `None` if there was no such
    /// number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_connection: Option<u64>,
    /// The connections that were held open beside the load and carried no request; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_connections: Option<IdleConnections>,
    /// The requests that were due a second, on average; if the load has sessions of several requests, the sessions that
    /// were due. `None` in a closed loop.
    pub rate_rps: Option<f64>,
    /// The number of finished requests: right answers and failures.
    pub requests: u64,
    /// The number of right answers.
    pub ok: u64,
    /// The number of failures of each kind, including kinds that did not occur.
    pub errors: Errors,
    /// The length of the measured time, in seconds.
    pub seconds: f64,
    /// The right answers a second, counted from when throughput was steady. If throughput never was steady, and in an
    /// open loop, they are counted over the whole measured time.
    pub throughput_rps: f64,
    /// The steadiness of throughput, and the part of the measured time that the figures are from. None in an open
    /// loop, and if the load was too short to tell; then they are from all of it.
    pub steadiness: Option<Steadiness>,
    /// The time from the start of the load to where throughput was steady, in milliseconds; 0 if it always was. None
    /// if it never was, in an open loop, and if the load was too short to tell.
    pub warm_up_ms: Option<f64>,
    /// The percentiles that are not given, by metric, with the number of further requests that each would take.
    #[serde(default)]
    pub needs: Needs,
    /// The response times of right answers: from when a request was due, in a closed loop from when it was sent, to its
    /// answer. In a closed loop they are those of the steady part, or of the whole measured time if no part was found
    /// steady; in an open loop, of all requests that were due in the measured time. None if there was no right answer.
    pub response_us: Option<Latency>,
    /// The times to the first byte of the answers that `response_us` is about, from the same instants on. A time ends
    /// when the engine saw the first bytes of the answer or of an interim answer (1xx); in HTTP/2, a whole head. For an
    /// answer in one piece it is the response time. None if there was no right answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_us: Option<Latency>,
    /// The service times of the requests that `response_us` is about: from when a request was sent to its answer. None
    /// if there was no right answer.
    pub service_us: Option<Latency>,
    /// The number of requests that were finished before the measured time, right or not. They are in no other count.
    pub warm_up_requests: u64,
    /// The number of right answers to requests that were in flight when a closed loop ended. They are in no other
    /// count.
    pub drained: u64,
    /// The number of requests in flight when a closed loop ended that had no right answer within the time that was
    /// waited. They are in no other count.
    #[serde(default)]
    pub unanswered: u64,
    /// The number of connections of a closed loop on which, after its end, an answer came that no request had asked
    /// for. If there is any, earlier answers may have been unasked, too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unasked: u64,
    /// The engine's own use of CPU and its headroom, so that a reader can judge the instrument.
    pub engine: Engine,
    /// The first failure in words: a wrong answer or the lack of one, or why a connection or session could not begin
    /// or broke. None if nothing failed.
    pub first_wrong: Option<String>,
    /// The figures by session, each with its requests; a plain request is a session of one. They are of the whole
    /// measured time. Empty if the load is of one request, whose figures are those above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionResult>,
    /// The findings of the user's checker on a sample of the right answers. None if there was no checker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers_checked: Option<AnswersChecked>,
    /// The number of connections that were opened again: after a failure, because the server closed one, or because one
    /// had carried as many requests as it was to.
    pub reconnects: u64,
    /// The longest time from a failure to the first right answer after which no request failed for 1.5 time-outs, in
    /// microseconds. None if nothing failed. It is a lower bound if `recovered` is false.
    pub recovery_us: Option<f64>,
    /// True if the server was seen to recover from each failure. False if something failed in the last 1.5 time-outs,
    /// when recovery could not be seen. None if nothing failed.
    pub recovered: Option<bool>,
    /// True if the load was ended before its limit.
    pub cut_short: bool,
    /// The reason why the figures are void: kumite was stopped meanwhile, the machine slept, or the hypervisor took
    /// too much of its CPU time. None if they are valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<Void>,
    /// The response times that `response_us` is about: the upper end of each bin, in microseconds, and its count.
    pub histogram_us: Vec<(f64, u64)>,
    /// Counts and percentiles of the load over time.
    pub series: Series,
}

/// The connections that were held open beside a load and carried no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleConnections {
    /// The number of idle connections that were asked for.
    pub asked: u64,
    /// The number of idle connections that were open when the load was over.
    pub open: u64,
    /// The number of times that an idle connection ended under the load. It was opened again each time.
    pub ended: u64,
}

/// The figures of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionResult {
    /// The session's name.
    pub name: String,
    /// The number of sessions of which every answer was right.
    pub ok: u64,
    /// The number of sessions that ended with a request that failed.
    pub failed: u64,
    /// The times of the sessions in `ok`, in microseconds, each from when the session was due to its last answer.
    /// `None` if `ok` is 0.
    pub session_us: Option<Latency>,
    /// The figures of the session's requests, in their order.
    pub requests: Vec<RequestResult>,
}

/// The figures of one request of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestResult {
    /// The request's name.
    pub name: String,
    /// The number of right answers.
    pub ok: u64,
    /// The number of failures of each kind that occurred.
    pub errors: Errors,
    /// The response times of the right answers. The first request of a session counts from when it was due, a later
    /// one from the answer before it and the pause. None if there was no right answer.
    pub response_us: Option<Latency>,
}

/// The distribution of a time over right answers, in microseconds. A percentile with fewer than ten requests beyond
/// it is not given.
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

/// The load engine's own use of CPU and its headroom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// The system interface that moved the bytes: `epoll` or `io_uring`.
    pub io: String,
    /// True if the engine's threads had real-time priority (SCHED_FIFO).
    pub real_time: bool,
    /// The CPU time of the engine's threads, in seconds.
    pub cpu_s: f64,
    /// The CPU time for each finished request, in microseconds. None if no request was finished.
    pub cpu_us_per_request: Option<f64>,
    /// The 99th percentile of how late requests were sent although a connection was free, in microseconds. None in a
    /// closed loop, which has no schedule.
    pub send_lag_p99_us: Option<f64>,
    /// The 99th percentile of how long answers may have waited until the engine read them, in microseconds. It is an
    /// upper bound, and part of the response times. None if no answer was read.
    pub receive_lag_p99_us: Option<f64>,
    /// The busy time of the engine's busiest thread, divided by the measured time; 1 means no headroom.
    pub busiest: f64,
    /// True if the engine had no headroom, so that the engine and not the server may have been the limit.
    pub bound: bool,
    /// True if the engine sent at least one in a hundred requests of an open loop late by a millisecond or more, beyond
    /// what --economy allows, although a connection was free. Then response times are partly its own.
    pub late: bool,
}

/// True if the count is 0. `serde` passes a reference.
fn is_zero(count: &u64) -> bool {
    *count == 0
}
