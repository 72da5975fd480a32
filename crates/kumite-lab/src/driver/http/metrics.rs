//! The figures of a server, from the load engine's outcome.

use std::collections::BTreeSet;
use std::time::Duration;

use kumite_load as load;
use kumite_record::{Better, Disturbance, Mark, Metric, Needs, Sample, Series};

use super::INTERVAL_MS;
use super::percentile::{long_enough, percentiles};
use super::steadiness::{WindowPart, part};
use super::steps;
use crate::metrics::{Metrics, distribution};

/// The limit for the 99th percentile of the requests' lateness, in ns, on top of the grain of the engine's pace. From it on
/// the engine's figures are doubtful.
const LATE_NS: u64 = 1_000_000;

pub(crate) fn metrics() -> Metrics {
    let mut results = vec![
        Metric::new("recovery_ms", "From the first failure, but not from before the end of a disturbance or drop, until answers were steady again.")
            .role("recovery"),
        Metric::new("first_right_ms", "From the same instant to the first right answer.")
            .role("first-right"),
    ];
    results.extend(steps::metrics());
    results.extend([
        Metric::new("capacity_rps", "The rate up to which the contender met `objective`, in loads of a second, drawn once after the window; only with an `objective`."),
        Metric::new("throughput_rps", "Right answers in the steady part of the window, a second.").role("throughput"),
        Metric::new("first_second_rps", "Right answers in the first second of load, warm-up and the opening of connections included.")
            .detail(),
        Metric::new("warm_up_ms", "From the beginning of the load to where throughput was steady; 0 if it was flat, none if it never was.")
            .detail()
            .role("warm-up"),
    ]);
    results.extend(distribution("response", "response time, from when a request was due to its answer"));
    let first_byte = "time to the first byte of an answer, from when its request was due";
    results.extend(distribution("first_byte", first_byte).into_iter().map(Metric::detail));
    results.extend(
        distribution("service", "service time, from when a request was sent to its answer; of an open loop")
            .into_iter()
            .map(|metric| if metric.name == "service_p99_us" { metric } else { metric.detail() }),
    );
    results.extend([
        Metric::count("failures", "Requests of the window that failed.").role("failures"),
        Metric::new(
            "served_share",
            "Right answers in the window, of all requests that ended in it; of an open loop, of all that were due in it.",
        )
        .better(Better::Higher)
        .detail(),
        Metric::count(
            "unsent",
            "Requests that were due and not sent within their time-out; of an open loop.",
        ),
        Metric::count("reconnects", "Connections that were established in the window in place of one that had ended.")
            .detail(),
        Metric::count(
            "listen_overflows",
            "How often the kernel found a listen queue full and dropped a connection that its client thinks it has, from the beginning of the load to its end: by the counter of the machine, so of all its servers. None of a server on another node.",
        )
        .better(Better::Lower)
        .detail(),
        Metric::count("idle_open", "Connections without a request that were open at the end; of a load with `idle_connections`.")
            .detail(),
        Metric::count("idle_ended", "Connections without a request that ended under the load, and were opened again.")
            .detail(),
        Metric::count("received", "Right answers in the window.").detail().role("received"),
        Metric::count("finished", "Requests that ended in the window, rightly or not.")
            .detail()
            .role("finished"),
    ]);
    let costs = vec![
        Metric::new("cpu_cores", "CPU time of the contender's process tree in the steady part, divided by its length.").role("cpu"),
        Metric::new(
            "cpu_us_per_request",
            "CPU time of the contender's process tree in the steady part, for each right answer in it: what failed has cost, too. Not of a load in steps.",
        ),
        Metric::new("engine_cpu_cores", "CPU time of the load engine's threads, divided by the window.").detail().role("engine-cpu"),
        Metric::new("send_lag_p99_us", "99th percentile of how late requests were sent though a connection was free; of an open loop.").detail(),
        Metric::new(
            "receive_lag_p99_us",
            "99th percentile of how long answers may have waited in the engine until they were read: an upper bound.",
        )
        .detail(),
        Metric::new("network_round_trip_us", "The way to the server's node and back, and an answer at once: the middle of 20, before the server is started.").detail(),
        Metric::new("peak_rss_bytes", "Highest memory of the contender's process tree."),
    ];
    Metrics { results, costs }
}

/// The sample of a load. `disturbance` is the one that the load was to bring after its window.
pub(crate) fn sample(outcome: &load::Outcome, disturbance: Option<&load::Disturbance>) -> Sample {
    let mut sample = Sample::default();
    let window = outcome.elapsed.as_secs_f64();
    let WindowPart { steadiness, warm_up_ms, throughput_rps, response, first_byte, service } = part(outcome);
    let mut metric = |name: &str, value: f64| {
        sample.metrics.insert(name.to_owned(), value);
    };
    metric("received", outcome.ok as f64);
    metric("finished", outcome.requests as f64);
    metric("reconnects", outcome.reconnects as f64);
    // Bytes that nobody asked for may have been taken for an answer before, so they count as malformed.
    let malformed = outcome.errors.malformed + outcome.unasked;
    let errors = load::Errors { malformed, ..outcome.errors };
    metric("failures", errors.total() as f64);
    if outcome.requests > 0 {
        metric("served_share", outcome.ok.saturating_sub(outcome.unasked) as f64 / outcome.requests as f64);
    }
    if outcome.open_loop {
        metric("unsent", outcome.errors.unsent as f64);
    }
    if window > 0.0 {
        metric("throughput_rps", throughput_rps);
        metric("engine_cpu_cores", outcome.cpu.as_secs_f64() / window);
    }
    if let Some(warm_up_ms) = warm_up_ms {
        metric("warm_up_ms", warm_up_ms);
    }
    if let Some(first_second) = outcome.first_second {
        metric("first_second_rps", first_second as f64);
    }
    if let Some(disturbed) = &outcome.disturbed {
        metric("recovery_ms", ms(disturbed.recovery.took));
        // Without a right answer the time is at least as long as was watched; such a trial has not recovered either.
        let watched = disturbed.until.saturating_sub(disturbed.since);
        metric("first_right_ms", ms(disturbed.first_right.unwrap_or(watched)));
    }
    if !outcome.send_lag.is_empty() {
        metric("send_lag_p99_us", outcome.send_lag.value_at_quantile(0.99) as f64 / 1e3);
    }
    if !outcome.receive_lag.is_empty() {
        metric("receive_lag_p99_us", outcome.receive_lag.value_at_quantile(0.99) as f64 / 1e3);
    }
    sample.lower_bounds = lower_bounds(outcome);
    latency(&mut sample, "response", &response, window);
    latency(&mut sample, "first_byte", &first_byte, window);
    if outcome.open_loop {
        latency(&mut sample, "service", &service, window);
        sample.histograms.insert("service_ns".to_owned(), service);
    }
    sample.steadiness = steadiness;
    sample.errors = errors.iter().map(|(kind, count)| (kind.to_owned(), count)).collect();
    sample.histograms.insert("response_ns".to_owned(), response);
    sample.histograms.insert("window_response_ns".to_owned(), outcome.response.clone());
    sample.series = series(outcome);
    sample.disturbance =
        disturbance.zip(outcome.disturbed.as_ref()).map(|(asked, disturbed)| recorded(asked, disturbed));
    sample
}

/// The metrics that are lower bounds because watching ended before their end.
fn lower_bounds(outcome: &load::Outcome) -> BTreeSet<String> {
    let Some(disturbed) = outcome.disturbed.as_ref().filter(|disturbed| !disturbed.recovery.complete) else {
        return BTreeSet::new();
    };
    let first_right = disturbed.first_right.is_none().then_some("first_right_ms");
    first_right.into_iter().chain(["recovery_ms"]).map(str::to_owned).collect()
}

/// The disturbance for the record: the one that was asked for, with its outcome.
fn recorded(asked: &load::Disturbance, disturbed: &load::Disturbed) -> Disturbance {
    Disturbance {
        kind: match asked.kind {
            load::DisturbanceKind::Pause(_) => "pause".to_owned(),
            load::DisturbanceKind::Burst(_) => "burst".to_owned(),
            load::DisturbanceKind::Drop => "drop".to_owned(),
        },
        began_ms: ms(disturbed.began),
        ended_ms: ms(disturbed.ended),
        since_ms: ms(disturbed.since),
        until_ms: ms(disturbed.until),
        ok: disturbed.ok,
        errors: disturbed.errors.iter().map(|(kind, count)| (kind.to_owned(), count)).collect(),
        burst_ok: disturbed.burst.ok,
        burst_errors: disturbed.burst.errors,
    }
}

/// Adds the distribution of a time to the sample; for a percentile with too few values, the number that is missing.
pub(super) fn latency(sample: &mut Sample, of: &str, times: &load::Histogram<u64>, window_s: f64) {
    if !times.is_empty() {
        sample.metrics.insert(format!("{of}_mean_us"), times.mean() / 1e3);
        sample.metrics.insert(format!("{of}_max_us"), times.max() as f64 / 1e3);
    }
    let mut needs = Needs::new();
    percentiles(of, times, &load::PERCENTILES, &mut sample.metrics, &mut needs);
    for (name, missing) in needs {
        let enough = long_enough(times.len(), missing, window_s);
        sample.enough.extend(enough.map(|enough| (name.clone(), enough)));
        sample.needs.insert(name, missing);
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The time from the window's last right answer to its end, to a tenth of a second. None if none came in the window.
pub(crate) fn silent_before_end(outcome: &load::Outcome) -> Option<Duration> {
    let window_ms = outcome.elapsed.as_millis() as i64;
    let in_window = |interval: &&load::Interval| (0..window_ms).contains(&interval.start_ms);
    let last = outcome.intervals.iter().filter(in_window).rfind(|interval| interval.ok > 0)?;
    let silent_ms = window_ms - (last.start_ms + INTERVAL_MS as i64);
    Some(Duration::from_millis(silent_ms.max(0).unsigned_abs()))
}

/// True if the engine sent requests late by its own fault, so that its figures are doubtful.
pub(crate) fn is_late(outcome: &load::Outcome) -> bool {
    let allowed = outcome.pace.grain().as_nanos() as u64 + LATE_NS;
    outcome.open_loop && outcome.send_lag.value_at_quantile(0.99) >= allowed
}

/// The share by which throughput × mean response time may differ from the number of connections. The first and last
/// requests, and the time between an answer and the next request, make some of it.
const LITTLE_TOLERANCE: f64 = 0.05;

/// The mark of a sample in which Little's law does not hold. None if it holds. Not to be used for figures of the
/// start of a load, where it need not hold.
pub(crate) fn against_littles_law(sample: &Sample, connections: usize) -> Option<Mark> {
    let value = |name: &str| sample.metrics.get(name).copied().unwrap_or(0.0);
    let in_system = value("throughput_rps") * value("response_mean_us") / 1e6;
    match in_system / connections as f64 - 1.0 {
        off if off < -LITTLE_TOLERANCE => Some(Mark::IdleConnections),
        off if off > LITTLE_TOLERANCE => Some(Mark::Unsteady),
        _ => None,
    }
}

pub(crate) fn marks(outcome: &load::Outcome, sample: &Sample, shared: bool) -> Vec<Mark> {
    let mut marks = Vec::new();
    if outcome.is_bound() || is_late(outcome) {
        marks.push(Mark::GeneratorBound);
    }
    if shared {
        marks.push(Mark::SharedCores);
    }
    if sample.steadiness.as_ref().is_some_and(|steadiness| steadiness.since_ms.is_none()) {
        marks.push(Mark::Unsteady);
    }
    if outcome.disturbed.is_some_and(|disturbed| !disturbed.recovery.complete) {
        marks.push(Mark::NotRecovered);
    }
    marks
}

fn series(outcome: &load::Outcome) -> Series {
    let intervals = &outcome.intervals;
    let mut series = Series {
        interval_ms: INTERVAL_MS,
        start_ms: intervals.first().map_or(0, |interval| interval.start_ms),
        window_ms: outcome.elapsed.as_secs_f64() * 1e3,
        ..Series::default()
    };
    type Value = fn(&load::Interval) -> f64;
    let counts: [(&str, Value); 2] = [("ok", |i| i.ok as f64), ("errors", |i| i.errors as f64)];
    let times: [(&str, Value); 4] = [
        ("response_mean_us", |i| i.mean_us),
        ("response_p50_us", |i| i.p50_us),
        ("response_p99_us", |i| i.p99_us),
        ("response_max_us", |i| i.max_us),
    ];
    for (name, value) in counts {
        series.columns.insert(name.to_owned(), intervals.iter().map(|i| Some(value(i))).collect());
    }
    for (name, value) in times {
        let column = intervals.iter().map(|i| (i.ok > 0).then(|| value(i))).collect();
        series.columns.insert(name.to_owned(), column);
    }
    series
}

#[cfg(test)]
mod tests {
    use kumite_record::{Steadiness, SteadyClass};

    use super::*;

    /// An outcome with `ok` right answers of `response_ms` each in a second, in which the engine was busy for the
    /// share `busy`.
    fn outcome(ok: u64, response_ms: u64, busy: f64) -> load::Outcome {
        let mut response = load::Histogram::new(3).unwrap();
        response.record_n(response_ms * 1_000_000, ok).unwrap();
        let mut times = load::Times::default();
        times.add(&response);
        load::Outcome {
            requests: ok,
            ok,
            elapsed: Duration::from_secs(1),
            first_byte: response.clone(),
            first_byte_over_time: times.clone(),
            response,
            response_over_time: times,
            cpu: Duration::from_secs_f64(busy),
            busiest: busy,
            ..load::Outcome::default()
        }
    }

    #[test]
    fn what_was_not_over_when_watching_ended_is_a_lower_bound() {
        let s = Duration::from_secs;
        let bounds = |complete, first_right: Option<u64>| {
            let disturbed = load::Disturbed {
                began: s(1),
                ended: s(2),
                since: s(2),
                until: s(9),
                requests: 80,
                ok: 80,
                errors: Default::default(),
                burst: Default::default(),
                first_right: first_right.map(s),
                recovery: load::Recovery { took: s(3), complete },
            };
            let outcome = load::Outcome { disturbed: Some(disturbed), ..outcome(100, 10, 0.5) };
            Vec::from_iter(sample(&outcome, None).lower_bounds)
        };
        assert_eq!(bounds(true, Some(1)), [""; 0]);
        assert_eq!(bounds(false, Some(1)), ["recovery_ms"]);
        assert_eq!(bounds(false, None), ["first_right_ms", "recovery_ms"]);
    }

    #[test]
    fn what_was_not_served_is_in_the_share_whatever_became_of_it() {
        let share = |outcome: load::Outcome| sample(&outcome, None).metrics.get("served_share").copied();
        let errors = load::Errors { unsent: 15, status: 5, ..load::Errors::default() };
        let failing = load::Outcome { requests: 100, errors, ..outcome(80, 10, 0.5) };
        assert_eq!((share(outcome(100, 10, 0.5)), share(failing)), (Some(1.0), Some(0.8)));
        let unasked = load::Outcome { unasked: 1, ..outcome(100, 10, 0.5) };
        assert_eq!((share(unasked), share(outcome(0, 10, 0.5))), (Some(0.99), None));
    }

    #[test]
    fn an_engine_without_headroom_is_marked() {
        let marks = |outcome: load::Outcome, shared| marks(&outcome, &sample(&outcome, None), shared);
        assert_eq!(marks(outcome(100, 10, 0.89), false), []);
        assert_eq!(marks(outcome(100, 10, 0.9), true), [Mark::GeneratorBound, Mark::SharedCores]);
        let short = load::Outcome { elapsed: Duration::from_millis(50), ..outcome(100, 10, 0.05) };
        assert_eq!(marks(short, false), [], "50 ms are no time to judge by");
    }

    #[test]
    fn littles_law_finds_idle_connections_and_times_that_change() {
        // 1,000 answers a second of 10 ms each: ten connections were busy.
        let against = |outcome, connections| against_littles_law(&sample(&outcome, None), connections);
        assert_eq!(against(outcome(1000, 10, 0.5), 10), None);
        assert_eq!(against(outcome(1000, 10, 0.5), 11), Some(Mark::IdleConnections));
        assert_eq!(against(outcome(0, 10, 0.5), 1), Some(Mark::IdleConnections));
        assert_eq!(against(outcome(1000, 10, 0.5), 9), Some(Mark::Unsteady));
    }

    /// An outcome with these numbers of right answers in the tenths of a second from -1,000 ms on. Each answer takes
    /// as many µs as there are in its tenth.
    fn in_steps(answers: impl IntoIterator<Item = u64>) -> load::Outcome {
        let mut outcome = outcome(0, 1, 0.5);
        outcome.response_over_time = load::Times::default();
        for (ok, start_ms) in answers.into_iter().zip((-1000..).step_by(100)) {
            outcome.intervals.push(interval(start_ms, ok));
            if start_ms >= 0 {
                let mut times = load::Histogram::new(3).unwrap();
                times.record_n(ok * 1000, ok).unwrap();
                outcome.response_over_time.add(&times);
                outcome.elapsed = Duration::from_millis(start_ms.unsigned_abs() + 100);
            }
        }
        outcome.response = outcome.response_over_time.from_ms(0).1;
        outcome
    }

    #[test]
    fn figures_are_of_what_is_steady() {
        let steady = |slow: usize| std::iter::repeat_n(400, slow).chain(std::iter::repeat_n(800, 40 - slow));
        let late = sample(&in_steps(steady(20)), None);
        assert_eq!(late.metrics["throughput_rps"], 8000.0);
        assert_eq!((late.metrics["response_p99_us"].round(), late.metrics["warm_up_ms"]), (800.0, 2000.0));
        assert_eq!(late.histograms["response_ns"].len(), 20 * 800);
        assert_eq!(late.histograms["window_response_ns"].len(), 10 * 400 + 20 * 800);
        let expected = Steadiness {
            class: SteadyClass::WarmUp,
            since_ms: Some(1000),
            changes_ms: vec![1000],
            used_from_ms: 1000,
        };
        assert_eq!(late.steadiness, Some(expected));

        let early = sample(&in_steps(steady(4)), None);
        assert_eq!((early.metrics["throughput_rps"], early.metrics["warm_up_ms"]), (8000.0, 400.0));
        let since = |sample: &Sample| sample.steadiness.as_ref().map(|it| (it.since_ms, it.used_from_ms));
        assert_eq!(since(&early), Some((Some(-600), 0)), "the whole window");

        let outcome = in_steps(steady(36));
        let never = sample(&outcome, None);
        assert_eq!(never.metrics["throughput_rps"], (26.0 * 400.0 + 4.0 * 800.0) / 3.0);
        assert_eq!((since(&never), never.metrics.get("warm_up_ms")), (Some((None, 0)), None));
        assert_eq!(marks(&outcome, &never, false), [Mark::Unsteady]);
    }

    #[test]
    fn what_is_too_short_to_tell_is_used_as_it_is() {
        let short = sample(&in_steps([400; 14]), None);
        assert_eq!((short.steadiness, short.metrics["throughput_rps"]), (None, 4000.0));
    }

    #[test]
    fn what_comes_after_the_window_does_not_make_it_unsteady() {
        let mut outcome = in_steps([400; 40]);
        outcome.intervals.extend((3000..5000).step_by(100).map(|start_ms| interval(start_ms, 9)));
        assert_eq!(sample(&outcome, None).steadiness.unwrap().class, SteadyClass::Flat);
    }

    #[test]
    fn a_percentile_without_requests_beyond_it_is_not_given() {
        let few = sample(&outcome(500, 10, 0.5), None);
        assert!(few.metrics.contains_key("response_p90_us") && !few.metrics.contains_key("response_p99_us"));
        let needs = ["first_byte", "response"]
            .into_iter()
            .flat_map(|of| [(format!("{of}_p99_us"), 500), (format!("{of}_p99_9_us"), 9500)]);
        assert_eq!(few.needs, needs.collect());
        let windows_s = few.enough.values().map(|it| (it.have, it.value)).collect::<Vec<_>>();
        assert_eq!(windows_s, [(500, 24.0), (500, 2.4)].repeat(2), "of p99.9 and p99, in a second");
    }

    fn interval(start_ms: i64, ok: u64) -> load::Interval {
        load::Interval { start_ms, ok, ..load::Interval::default() }
    }

    #[test]
    fn silence_is_what_no_answer_came_in() {
        // The answer of the aftermath, at 1,000 ms, is not the window's.
        let starts = [(-100, 5), (0, 5), (100, 5), (200, 0), (900, 0), (1000, 5)];
        let intervals = starts.map(|(start_ms, ok)| interval(start_ms, ok)).to_vec();
        let silent = |intervals| silent_before_end(&load::Outcome { intervals, ..outcome(100, 10, 0.5) });
        assert_eq!(silent(intervals.clone()), Some(Duration::from_millis(800)));
        assert_eq!(silent(vec![interval(900, 1)]), Some(Duration::ZERO));
        assert_eq!(silent(intervals[..1].to_vec()), None);
    }
}
