//! The parameters of an http workload.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use kumite_load::{
    Arrivals, Check, Disturbance, DisturbanceKind, Expect, Gaps, Limit, Load, Piece, Request, Target,
};
use kumite_record::{AxisValue, Point, Within};

use super::steps::Steps;
use crate::cores::AskedCores;
use crate::parameters::Parameters;
use crate::spec::Answer;

const MAX_CONNECTIONS: i64 = 100_000;
pub(crate) const MAX_RATE: f64 = 10_000_000.0;

/// One trial's workload: what is asked of the server, by how many, for how long, and what a right answer is.
#[derive(Clone, Debug)]
pub struct HttpWorkload {
    /// Request method, `GET` by default.
    pub method: String,
    /// Request target, `/` by default.
    pub path: String,
    /// Request body, none by default.
    pub body: String,
    /// Keep-alive connections, each with one request in flight; 50 by default.
    pub connections: usize,
    /// When requests are due; by default none, for a closed loop.
    pub arrivals: Option<Arrivals>,
    /// The steps of their rate, if it has some.
    pub(crate) steps: Option<Box<Steps>>,
    /// Length of the measured time, 5 s by default; of a load in steps theirs.
    pub duration: Duration,
    /// Time under load before it, 1 s by default; none of a load in steps.
    pub warm_up: Duration,
    /// An answer that takes longer is a failure; 1 s by default.
    pub timeout: Duration,
    /// How many cores the server is given; 1 by default.
    pub server_cores: AskedCores,
    /// How long the server may take until it answers rightly; 30 s by default.
    pub ready: Duration,
    /// What is done to the server after the window; nothing by default.
    pub disturbance: Option<Disturbance>,
    /// What a right answer is.
    pub expect: Expect,
}

impl HttpWorkload {
    /// What a trial measures.
    pub const METRICS: &[&str] = &[
        "throughput_rps",
        "response_mean_us",
        "response_p50_us",
        "response_p90_us",
        "response_p99_us",
        "response_p99_9_us",
        "response_max_us",
        "failures",
        "received",
        "finished",
        "cpu_cores",
        "peak_rss_bytes",
        "engine_cpu_cores",
        "send_lag_p99_us",
        "receive_lag_p99_us",
        "service_mean_us",
        "service_p50_us",
        "service_p90_us",
        "service_p99_us",
        "service_p99_9_us",
        "service_max_us",
        "unsent",
        "first_second_rps",
        "warm_up_ms",
        "first_right_ms",
        "recovery_ms",
        "answered",
        "refusals",
        "timeouts",
        "lost",
        "goodput_best_rps",
        "refusal_p50_us",
        "refusal_p99_us",
    ];

    /// What each step of a load in steps measures.
    pub const PART_METRICS: &[&str] = &[
        "goodput_rps",
        "answered_rps",
        "refusals_per_s",
        "timeouts_per_s",
        "lost_per_s",
        "response_mean_us",
        "response_p50_us",
        "response_p99_us",
        "refusal_p50_us",
        "refusal_p99_us",
    ];

    pub(crate) const PARAMETERS: &[&str] = &[
        "method",
        "path",
        "body",
        "connections",
        "rate_rps",
        "arrivals",
        "burst_requests",
        "duration_s",
        "warm_up_s",
        "timeout_ms",
        "server_cores",
        "ready_s",
        "disturbance",
        "pause_s",
        "burst_connections",
        "watch_s",
        "drop_to_rps",
        "good_ms",
        "normal_ms",
    ];

    /// The workload at a point: the fixed parameters with the point's beside them.
    pub fn new(
        fixed: &BTreeMap<String, AxisValue>,
        point: &Point,
        answer: &Answer,
    ) -> Result<HttpWorkload, String> {
        let mut parameters = fixed.clone();
        parameters.extend(point.0.clone());
        let take = Parameters(&parameters);
        take.none_but(Self::PARAMETERS, "an http workload")?;
        let steps = Steps::read(&take)?.map(Box::new);
        let (duration, warm_up) = match &steps {
            Some(steps) => (steps.length(), Duration::ZERO),
            None => (
                take.seconds("duration_s", 5.0, 1.0, 0.1..=86_400.0)?,
                take.seconds("warm_up_s", 1.0, 1.0, 0.0..=3600.0)?,
            ),
        };
        let workload = HttpWorkload {
            method: take.text("method", "GET")?,
            path: take.text("path", "/")?,
            body: take.text("body", "")?,
            connections: take.count("connections", 50, 1..=MAX_CONNECTIONS)?,
            arrivals: arrivals(&take, steps.as_deref())?,
            duration,
            warm_up,
            timeout: take.seconds("timeout_ms", 1000.0, 1e-3, 1.0..=600_000.0)?,
            server_cores: take.cores("server_cores")?,
            ready: take.seconds("ready_s", 30.0, 1.0, 0.1..=600.0)?,
            disturbance: disturbance(&take, steps.as_deref())?,
            steps,
            expect: Expect {
                status: answer.status,
                body: answer.equals.clone().map_or(Check::Any, |body| Check::Equals(body.into_bytes())),
            },
        };
        workload.request().encode(&workload.target(1)).map_err(|error| error.to_string())?;
        Ok(workload)
    }

    /// The axis that a trial sweeps within itself, if its load has steps.
    pub fn within(&self) -> Option<Within> {
        self.steps.as_deref().map(Steps::within)
    }

    /// How long a trial takes once the server is ready, at most.
    pub(crate) fn time(&self) -> Duration {
        let disturbed = self.disturbance.as_ref().map_or(Duration::ZERO, |disturbance| {
            disturbance.watch
                + match disturbance.kind {
                    DisturbanceKind::Pause(pause) => pause,
                    DisturbanceKind::Burst(_) => self.timeout * 2,
                    DisturbanceKind::Drop => Duration::ZERO,
                }
        });
        // What is due at the end may be sent a time-out later, and answered another one later.
        let drained = if self.arrivals.is_some() { self.timeout * 2 } else { Duration::ZERO };
        self.warm_up + self.duration + disturbed + drained
    }

    /// The most connections that are open at a time.
    pub(crate) fn most_connections(&self) -> usize {
        self.connections + self.disturbance.map_or(0, |disturbance| disturbance.connections())
    }

    /// The load of a trial against a server on this loopback port.
    pub(crate) fn load(&self, port: u16) -> Load {
        Load {
            request: self.request(),
            expect: self.expect.clone(),
            connections: self.connections,
            arrivals: self.arrivals.clone(),
            warm_up: self.warm_up,
            timeout: self.timeout,
            disturbance: self.disturbance,
            log: self.steps.is_some(),
            ..Load::new(self.target(port), Limit { requests: None, duration: Some(self.duration) })
        }
    }

    /// One request, to see whether the server on this loopback port is ready.
    pub(crate) fn probe(&self, port: u16) -> Load {
        Load {
            connections: 1,
            limit: Limit { requests: Some(1), duration: None },
            arrivals: None,
            warm_up: Duration::ZERO,
            disturbance: None,
            log: false,
            ..self.load(port)
        }
    }

    fn target(&self, port: u16) -> Target {
        Target { path: self.path.clone(), ..Target::plain(SocketAddr::from(([127, 0, 0, 1], port))) }
    }

    fn request(&self) -> Request {
        Request { method: self.method.clone(), headers: Vec::new(), body: self.body.clone().into_bytes() }
    }
}

fn disturbance(take: &Parameters, steps: Option<&Steps>) -> Result<Option<Disturbance>, String> {
    let pause = take.seconds("pause_s", 2.0, 1.0, 0.1..=60.0)?;
    let burst = take.count("burst_connections", 4096, 1..=MAX_CONNECTIONS)?;
    let watch = take.seconds("watch_s", 6.0, 1.0, 1.0..=600.0)?;
    let kind = match take.text("disturbance", "none")?.as_str() {
        "none" if steps.is_some_and(|steps| steps.drop_to.is_some()) => {
            return Ok(Some(Disturbance { kind: DisturbanceKind::Drop, watch }));
        }
        "none" => return Ok(None),
        "pause" => DisturbanceKind::Pause(pause),
        "burst" => DisturbanceKind::Burst(burst),
        other => return Err(format!("disturbance is \"none\", \"pause\" or \"burst\", not \"{other}\"")),
    };
    let steady = take.seconds("timeout_ms", 1000.0, 1e-3, 1.0..=600_000.0)?.mul_f64(1.5);
    if watch < steady {
        return Err(format!(
            "watch_s is too short: answers are steady when none has failed for 1.5 time-outs, which are {} s",
            steady.as_secs_f64()
        ));
    }
    Ok(Some(Disturbance { kind, watch }))
}

/// The same in every trial, so that contenders in a block have the same.
fn arrivals(take: &Parameters, steps: Option<&Steps>) -> Result<Option<Arrivals>, String> {
    let rate = match take.0.get("rate_rps") {
        None | Some(AxisValue::Text(_)) => 0.0,
        Some(value) => value
            .number()
            .filter(|rate| (0.0..=MAX_RATE).contains(rate))
            .ok_or_else(|| format!("rate_rps is a number from 0 to {MAX_RATE}, not {value}"))?,
    };
    let burst = take.count("burst_requests", 1, 1..=MAX_CONNECTIONS)? as u32;
    let gaps = match take.text("arrivals", "even")?.as_str() {
        "even" => Gaps::Even,
        "poisson" => Gaps::Poisson { seed: 0 },
        other => return Err(format!("arrivals is \"even\" or \"poisson\", not \"{other}\"")),
    };
    let pieces = match steps {
        Some(steps) => steps.pieces(),
        None if rate > 0.0 => vec![Piece { from: rate, to: rate, lasts: None }],
        None => return Ok(None),
    };
    Ok(Some(Arrivals::Rate { pieces, gaps, burst }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(name: &str, value: AxisValue) -> Result<HttpWorkload, String> {
        HttpWorkload::new(&[(name.to_owned(), value)].into(), &Point::default(), &Answer::default())
    }

    #[test]
    fn a_point_sets_a_parameter() {
        let point = Point([("connections".to_owned(), AxisValue::Int(7))].into());
        let workload = HttpWorkload::new(&Default::default(), &point, &Answer::default()).unwrap();
        assert_eq!((workload.connections, workload.timeout), (7, Duration::from_secs(1)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let text = |text: &str| AxisValue::Text(text.into());
        let cases = [
            ("conections", AxisValue::Int(1), "unknown workload parameter 'conections'"),
            ("connections", AxisValue::Int(0), "connections is a whole number from 1 to 100000, not 0"),
            ("connections", AxisValue::Float(1.5), "not 1.5"),
            ("duration_s", AxisValue::Int(-1), "duration_s is a number from 0.1 to 86400, not -1"),
            ("duration_s", AxisValue::Float(f64::NAN), "not NaN"),
            ("timeout_ms", text("long"), "not long"),
            ("server_cores", text("some"), "server_cores is a number or \"all\""),
            ("method", AxisValue::Int(1), "method is text, not 1"),
            ("disturbance", text("fire"), "disturbance is \"none\", \"pause\" or \"burst\", not \"fire\""),
            ("rate_rps", AxisValue::Int(-1), "rate_rps is a number from 0 to 10000000, not -1"),
            ("arrivals", text("odd"), "arrivals is \"even\" or \"poisson\", not \"odd\""),
            ("watch_s", AxisValue::Int(0), "watch_s is a number from 1 to 600, not 0"),
        ];
        for (name, value, expected) in cases {
            let found = workload(name, value).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
        assert!(workload("method", text("GET /\r\nX: y")).is_err());
        assert!(workload("path", text("/ HTTP/1.1\r\nX: y")).is_err());
    }
}
