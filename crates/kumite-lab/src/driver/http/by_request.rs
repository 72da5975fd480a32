//! The figures of a load by request and by session.

use std::collections::BTreeMap;

use kumite_load::{Histogram, Outcome, PERCENTILES, StepOutcome};
use kumite_record::{AxisValue, Better, Metric, Needs, Sample, TrialPart};

use super::metrics::latency;
use super::percentile::percentiles;
use crate::metrics::{Metrics, distribution};

/// The metrics of trials whose scenario has sessions.
pub(crate) fn session_metrics() -> Metrics {
    let mut results = vec![
        Metric::new(
            "sessions_per_s",
            "Sessions of several requests in which every answer was right, a second of the window.",
        )
        .better(Better::Higher),
        Metric::count("session_failures", "Sessions of the window that ended with a request that failed."),
    ];
    results.extend(distribution(
        "session",
        "time of a session in which every answer was right, from when it was due to its last answer",
    ));
    Metrics { results, costs: Vec::new() }
}

/// The metrics of each request in a load of several requests. They are about the whole window, not about its steady
/// part alone.
pub(crate) fn request_metrics() -> Metrics {
    let mut results = vec![
        Metric::new("throughput_rps", "Right answers to the request in the window, a second.")
            .role("throughput"),
    ];
    results.extend(distribution(
        "response",
        "response time of the request, from when it was due to its answer; of a later one of a session, from the answer before and the pause",
    ));
    results.extend([
        Metric::count("failures", "Requests of this name in the window that failed.").role("failures"),
        Metric::count("received", "Right answers to the request in the window.").detail().role("received"),
        Metric::count("finished", "Requests of this name that ended in the window, rightly or not.")
            .detail()
            .role("finished"),
    ]);
    Metrics { results, costs: Vec::new() }
}

/// Adds the figures of each request and of sessions to the sample. A load of one request has no figures by request, and
/// a load without a session of several requests has none of sessions. Adds nothing if the window is empty.
pub(super) fn tell(outcome: &Outcome, sample: &mut Sample) {
    let window_s = outcome.elapsed.as_secs_f64();
    if window_s <= 0.0 {
        return;
    }
    let steps = outcome.sessions.iter().flat_map(|session| &session.steps);
    sample.parts = steps.map(|step| part(step, window_s)).collect();
    let mut sessions = outcome.sessions.iter().filter(|session| session.steps.len() > 1).peekable();
    if sessions.peek().is_none() {
        return;
    }
    let mut times = Histogram::new(3).expect("3 is a precision that hdrhistogram has");
    let (mut ok, mut failed) = (0, 0);
    for session in sessions {
        times.add(&session.time).expect("a histogram that grows takes any value");
        ok += session.ok;
        failed += session.failed;
    }
    sample.metrics.insert("sessions_per_s".to_owned(), ok as f64 / window_s);
    sample.metrics.insert("session_failures".to_owned(), failed as f64);
    latency(sample, "session", &times, window_s);
}

fn part(step: &StepOutcome, window_s: f64) -> TrialPart {
    let (mut metrics, mut needs) = (BTreeMap::new(), Needs::new());
    for (name, value) in [
        ("throughput_rps", step.ok as f64 / window_s),
        ("failures", step.errors.total() as f64),
        ("received", step.ok as f64),
        ("finished", step.requests() as f64),
    ] {
        metrics.insert(name.to_owned(), value);
    }
    if !step.response.is_empty() {
        metrics.insert("response_mean_us".to_owned(), step.response.mean() / 1e3);
        metrics.insert("response_max_us".to_owned(), step.response.max() as f64 / 1e3);
    }
    percentiles("response", &step.response, &PERCENTILES, &mut metrics, &mut needs);
    TrialPart { at: AxisValue::Text(step.name.clone()), metrics, needs }
}
