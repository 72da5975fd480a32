//! A server that somebody else started, which `kumite load` measures.

use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;

use kumite_load::{Histogram, Interval, Load, PERCENTILES, percentile};
use kumite_record::{
    Engine, IdleConnections, Kind, Latency, LoadResult, RequestResult, SCHEMA, Sample, SessionResult,
};

use super::NAME;
use super::metrics::{is_late, marks, sample};
use crate::driver::{Executor, Measured, TrialOrder};
use crate::halt::Halt;

/// A load on a server that is already there. The server is neither started nor stopped, and nothing is known of its
/// CPU time.
pub struct External<'a> {
    /// The load that the engine offers.
    pub load: &'a Load,
    /// Called with each interval as it ends.
    pub watch: &'a mut dyn FnMut(&Interval),
    /// The outcome of the load, or the reason why the engine could not offer it. None until the engine has run.
    pub result: Option<Result<kumite_load::Outcome, kumite_load::Error>>,
}

impl External<'_> {
    /// The kind of workload that is offered.
    pub const KIND: Kind = NAME;
}

impl Executor for External<'_> {
    fn trial(&mut self, _order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let result = self.load.run_watched(stop, self.watch);
        let measured = match &result {
            Ok(outcome) => {
                let sample = sample(outcome, None);
                let marks = marks(outcome, &sample, false);
                Measured { sample, marks, ..Measured::answered(None) }
            }
            Err(error) => Measured::failed(error.to_string()),
        };
        self.result = Some(result);
        Ok(measured)
    }
}

/// Makes the document that `kumite load --json` writes, from the engine's outcome and the sample that was made of that
/// outcome. Its `answers_checked` and `void` are None: the caller sets them.
pub fn load_result(
    command: String,
    url: String,
    load: &Load,
    outcome: &kumite_load::Outcome,
    trial_sample: &Sample,
) -> LoadResult {
    let metric = |name: &str| trial_sample.metrics.get(name).copied();
    let latency = |of: &str| {
        let metric = |what: &str| metric(&format!("{of}_{what}_us"));
        metric("mean").zip(metric("max")).map(|(mean, max)| Latency {
            mean,
            p50: metric("p50"),
            p90: metric("p90"),
            p99: metric("p99"),
            p99_9: metric("p99_9"),
            max,
        })
    };
    let service = if outcome.open_loop { "service" } else { "response" };
    let used_from_ms = trial_sample.steadiness.as_ref().map_or(0, |steadiness| steadiness.used_from_ms);
    let (_, times) = outcome.response_over_time.from_ms(used_from_ms);
    let seconds = outcome.elapsed.as_secs_f64();
    LoadResult {
        schema: SCHEMA,
        command,
        url,
        connections: load.connections as u64,
        requests_per_connection: load.requests_per_connection.map(NonZeroU64::get),
        idle_connections: (load.idle_connections > 0).then_some(IdleConnections {
            asked: load.idle_connections as u64,
            open: outcome.idle_open,
            ended: outcome.idle_ended,
        }),
        rate_rps: load.arrivals.as_ref().map(|arrivals| arrivals.mean_rate(load.warm_up + outcome.elapsed)),
        requests: outcome.requests,
        ok: outcome.ok,
        errors: trial_sample.errors.clone(),
        seconds,
        throughput_rps: metric("throughput_rps").unwrap_or(0.0),
        steadiness: trial_sample.steadiness.clone(),
        warm_up_ms: metric("warm_up_ms"),
        needs: trial_sample.needs.clone(),
        response_us: latency("response"),
        first_byte_us: latency("first_byte"),
        service_us: latency(service),
        warm_up_requests: outcome.warm_up_requests,
        drained: outcome.drained,
        unanswered: outcome.unanswered,
        unasked: outcome.unasked,
        engine: engine(outcome, trial_sample),
        first_wrong: outcome.first_wrong.clone(),
        sessions: outcome.sessions.iter().map(session_result).collect(),
        answers_checked: None,
        reconnects: outcome.reconnects,
        recovery_us: outcome.recovery.map(|recovery| recovery.took.as_secs_f64() * 1e6),
        recovered: outcome.recovery.map(|recovery| recovery.complete),
        cut_short: outcome.stopped,
        void: None,
        histogram_us: times
            .iter_recorded()
            .map(|bin| (bin.value_iterated_to() as f64 / 1e3, bin.count_since_last_iteration()))
            .collect(),
        series: trial_sample.series.clone(),
    }
}

fn session_result(session: &kumite_load::SessionOutcome) -> SessionResult {
    let request = |step: &kumite_load::StepOutcome| RequestResult {
        name: step.name.clone(),
        ok: step.ok,
        errors: step.errors.iter().filter(|(_, n)| *n > 0).map(|(kind, n)| (kind.to_owned(), n)).collect(),
        response_us: distribution(&step.response),
    };
    SessionResult {
        name: session.name.clone(),
        ok: session.ok,
        failed: session.failed,
        session_us: distribution(&session.time),
        requests: session.steps.iter().map(request).collect(),
    }
}

/// The distribution of these times in ns; none if there are none.
fn distribution(times: &Histogram<u64>) -> Option<Latency> {
    let [p50, p90, p99, p99_9] = PERCENTILES.map(|(_, one_in)| percentile(times, one_in).ok());
    (!times.is_empty()).then(|| Latency {
        mean: times.mean() / 1e3,
        p50,
        p90,
        p99,
        p99_9,
        max: times.max() as f64 / 1e3,
    })
}

/// The engine's own CPU time and its punctuality.
fn engine(outcome: &kumite_load::Outcome, trial_sample: &Sample) -> Engine {
    let metric = |name: &str| trial_sample.metrics.get(name).copied();
    Engine {
        cpu_s: outcome.cpu.as_secs_f64(),
        cpu_us_per_request: (outcome.requests > 0)
            .then(|| outcome.cpu.as_secs_f64() * 1e6 / outcome.requests as f64),
        send_lag_p99_us: metric("send_lag_p99_us"),
        receive_lag_p99_us: metric("receive_lag_p99_us"),
        busiest: outcome.busiest,
        io: outcome.io.to_string(),
        real_time: outcome.real_time,
        bound: outcome.is_bound(),
        late: is_late(outcome),
    }
}
