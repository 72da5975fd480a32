//! The table of a load by request: a line for each request and, of a session with several, one for the session above
//! them.

use kumite_record::{Latency, LoadResult, RequestResult, SessionResult, Unit};

use crate::words::number::count;
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// A table's heads, each with true if its column holds figures; then its rows.
type HeadsAndRows = (Vec<(String, bool)>, Vec<Vec<String>>);

/// The table of a load by request. None if the load is of one request.
pub(crate) fn by_request(result: &LoadResult) -> Option<HeadsAndRows> {
    if result.sessions.is_empty() {
        return None;
    }
    let heads = ["by request", "ok", "failed", "mean", "p50", "p90", "p99", "p99.9", "max"];
    let heads = heads.iter().enumerate().map(|(nth, head)| (head.to_string(), nth > 0)).collect();
    Some((heads, result.sessions.iter().flat_map(rows).collect()))
}

fn rows(session: &SessionResult) -> Vec<Vec<String>> {
    let failed = |request: &RequestResult| request.errors.values().sum();
    if let [request] = &session.requests[..] {
        return vec![row(&session.name, request.ok, failed(request), request.response_us.as_ref())];
    }
    let whole =
        row(&format!("{} (session)", session.name), session.ok, session.failed, session.session_us.as_ref());
    let requests = session.requests.iter().map(|request| {
        row(&format!("· {}", request.name), request.ok, failed(request), request.response_us.as_ref())
    });
    std::iter::once(whole).chain(requests).collect()
}

fn row(name: &str, ok: u64, failed: u64, times: Option<&Latency>) -> Vec<String> {
    let us = |value: Option<f64>| value.map_or("–".to_owned(), |value| Unit::Microseconds.text(value));
    let times = match times {
        Some(times) => [Some(times.mean), times.p50, times.p90, times.p99, times.p99_9, Some(times.max)],
        None => [None; 6],
    };
    let counts = vec![one_line(name), count(ok as f64), count(failed as f64)];
    [counts, times.map(us).into()].concat()
}
