//! The workload of kind http, typed once from its parameters.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU64;
use std::time::Duration;

use kumite_host::{AskedCores, WantedCores};
use kumite_load::{
    Arrivals, Disturbance, DisturbanceKind, Gaps, Http, Limit, Load, Piece, Request, Rows, Sampling, Session,
    Step, Target, Variables,
};
use kumite_rate::Slo;
use kumite_record::Within;

use super::objective;
use super::params::{OF_ONE_REQUEST, PARAMS};
use super::protocol::Protocol;
use super::steps::Steps;
use crate::answer_program::sampling;
use crate::driver::warm_up::WarmUpTime;
use crate::driver::{Answer, Scenario, Workload};
use crate::parameter::{Parameters, Params};
use crate::unfit::Unfit;

/// The workload of a trial: the requests, the number of connections, the length and rate of the load, and the right
/// answers.
#[derive(Clone, Debug)]
pub struct HttpWorkload {
    /// The sessions with their right answers; by default one request, `GET /`, that any 2xx answers. Their targets
    /// have the paths, and the address of no server.
    sessions: Vec<Session>,
    /// The rows of values that requests have; none by default.
    rows: Rows,
    /// True if the cookies that the server gives on a connection are sent back on it.
    cookies: bool,
    /// The protocol; HTTP/1.1 in the clear by default.
    pub(crate) protocol: Protocol,
    /// The number of keep-alive connections; 50 by default.
    pub connections: usize,
    /// The most requests in flight on one connection; 1 by default, and always in HTTP/1.1.
    pub streams: usize,
    /// The number of requests after which a connection is ended. None for as many as the server takes, the default.
    pub requests_per_connection: Option<NonZeroU64>,
    /// The number of connections that are held open and carry no request; none by default.
    pub idle_connections: usize,
    /// The times at which requests are due. None for a closed loop, which is the default.
    pub arrivals: Option<Arrivals>,
    /// The steps of the rate. None if the load has one rate.
    pub(crate) steps: Option<Box<Steps>>,
    /// The length of the measured time, 5 s by default; for a load in steps, the length of the steps together.
    pub duration: Duration,
    /// The time under load before the measured time, 1 s by default; none for a load in steps.
    pub(crate) warm_up: WarmUpTime,
    /// The time after which an answer counts as a failure; 1 s by default.
    pub timeout: Duration,
    /// The number of CPUs that the server is given; 1 by default.
    pub server_cores: AskedCores,
    /// The longest time until the server answers rightly; 30 s by default.
    pub ready: Duration,
    /// The disturbance of the server after the window; for a load in steps, the drop of its rate. None, the default, if
    /// nothing follows the window.
    pub disturbance: Option<Disturbance>,
    /// The time over which connections that end after a pause has begun are opened again; 0, the default, for all at
    /// once.
    pub reopen_spread: Duration,
    /// The objective up to which capacity is measured after the window. None by default.
    pub(crate) objective: Option<Slo>,
    /// The program that looks at some of the answers. None by default.
    pub(crate) checker: Option<String>,
}

impl HttpWorkload {
    /// Reads the workload of one request from these parameters. An error if one is unknown, out of its range, or
    /// contradicts another.
    #[cfg(test)]
    pub fn new(parameters: &Parameters, answer: &Answer) -> Result<HttpWorkload, Unfit> {
        HttpWorkload::of(parameters, answer, &Scenario::default())
    }

    /// Reads the workload from these parameters and this scenario, whose requests take the place of the one request
    /// that parameters describe. `answer` is the right answer to the requests that have none of their own. An error if
    /// a parameter is unknown, out of its range, or contradicts another, or if a request cannot be sent.
    pub fn of(parameters: &Parameters, answer: &Answer, scenario: &Scenario) -> Result<HttpWorkload, Unfit> {
        let take = Params { given: parameters, declared: PARAMS };
        check_names(&take, scenario)?;
        let steps = Steps::read(&take)?.map(Box::new);
        let (duration, warm_up) = match &steps {
            Some(steps) => (steps.length(), WarmUpTime::NONE),
            None => (take.time("duration_s")?, WarmUpTime::read(&take)?),
        };
        let workload = HttpWorkload {
            sessions: sessions(&take, answer, scenario)?,
            rows: scenario.rows.clone(),
            cookies: scenario.cookies,
            protocol: Protocol::read(&take)?,
            connections: take.count("connections")?,
            streams: streams(&take)?,
            requests_per_connection: NonZeroU64::new(take.count("requests_per_connection")? as u64),
            idle_connections: take.count("idle_connections")?,
            arrivals: arrivals(&take, steps.as_deref())?,
            duration,
            warm_up,
            timeout: take.time("timeout_ms")?,
            server_cores: take.cores("server_cores")?,
            ready: take.time("ready_s")?,
            disturbance: disturbance(&take, steps.as_deref())?,
            reopen_spread: take.time("reopen_spread_ms")?,
            steps,
            objective: objective::read(&take, take.time("timeout_ms")?)?,
            checker: answer.checker.clone(),
        };
        if workload.objective.is_some() && (workload.steps.is_some() || workload.disturbance.is_some()) {
            return Err(Unfit::new(
                "objective is for a load at one rate without disturbance: capacity is measured after it, at rates of its own",
            ));
        }
        if let Some(slo) = &workload.objective {
            if scenario.has_sessions() {
                return Err(Unfit::new(
                    "objective is for plain requests: the rate of sessions of several requests is none of requests",
                ));
            }
            let names: Vec<_> = scenario.request_names().map(|name| (name, vec![name])).collect();
            slo.check_names(&names).map_err(|error| Unfit::new(error.to_string()))?;
        }
        if workload.steps.is_some() && scenario.within().is_some() {
            return Err(Unfit::new(
                "a load in steps has figures by step, and several requests have figures by request: give rate_rps as a \
                 number, or one request",
            ));
        }
        // A rate that no engine can offer is for the run to say, as it says that of a rate on this machine.
        let asked = Load { arrivals: None, ..workload.load(NOWHERE) };
        asked.check().map_err(|error| Unfit::new(error.to_string()))?;
        Ok(workload)
    }

    /// The sessions in their order; a plain request is a session of one.
    pub(crate) fn sessions(&self) -> &[Session] {
        &self.sessions
    }

    /// The pause before each request of all sessions; 0 where there is none.
    pub(crate) fn pauses(&self) -> impl Iterator<Item = Duration> {
        self.sessions.iter().flat_map(|session| &session.steps).map(|step| step.think)
    }

    /// The largest number of connections that are open at a time.
    pub(crate) fn most_connections(&self) -> usize {
        let burst = self.disturbance.map_or(0, |disturbance| disturbance.connections());
        self.connections + burst + self.idle_connections
    }

    /// The load of a trial on a server at this address.
    pub(crate) fn load(&self, at: SocketAddrV4) -> Load {
        let limit = Limit { requests: None, duration: Some(self.duration) };
        let load = Load {
            variables: Variables { rows: self.rows.clone(), seed: 0 },
            cookies: self.cookies,
            connections: self.connections,
            pipeline: self.streams,
            requests_per_connection: self.requests_per_connection,
            idle_connections: self.idle_connections,
            reopen_spread: self.reopen_spread,
            http: self.protocol.version(),
            arrivals: self.arrivals.clone(),
            warm_up: self.warm_up.most,
            timeout: self.timeout,
            disturbance: self.disturbance,
            log: self.steps.is_some(),
            ..Load::of(self.sessions.clone(), limit)
        };
        let secure = self.protocol.is_secure();
        load.with_steps(|step| {
            let path = std::mem::take(&mut step.target.path);
            step.target = Target { path, secure, ..Target::plain(at.into()) };
        })
    }

    /// A load of the first request, to see whether the server at this address is ready.
    pub(crate) fn probe(&self, at: SocketAddrV4) -> Load {
        let first = self.sessions.first().and_then(|session| session.steps.first());
        let first = first.map(|step| Session::from(Step { takes: Vec::new(), ..step.clone() }));
        let whole = HttpWorkload { sessions: first.into_iter().collect(), ..self.clone() };
        whole.once(at)
    }

    /// The choice of answers for the checker. None if there is no checker.
    pub(crate) fn sampling(&self, seed: u64) -> Option<Sampling> {
        self.checker.as_ref().map(|_| sampling(seed))
    }

    /// For each session, a load that asks its requests once from the server at this address. The load keeps the answers
    /// that the checker is to look at.
    pub(crate) fn walks(&self, at: SocketAddrV4) -> impl Iterator<Item = Load> {
        self.sessions.iter().map(move |session| {
            let sessions = vec![Session { weight: 1, ..session.clone() }];
            let once = HttpWorkload { sessions, ..self.clone() }.once(at);
            Load { sampling: self.sampling(0), ..once }
        })
    }

    /// A load of one session for the server at this address.
    fn once(&self, at: SocketAddrV4) -> Load {
        Load {
            connections: 1,
            idle_connections: 0,
            limit: Limit { requests: Some(1), duration: None },
            arrivals: None,
            warm_up: Duration::ZERO,
            disturbance: None,
            log: false,
            ..self.load(at)
        }
    }
}

impl Workload for HttpWorkload {
    fn cores(&self) -> WantedCores {
        WantedCores { param: "server_cores", asked: self.server_cores, may_share: false }
    }

    fn within(&self) -> Option<Within> {
        self.steps.as_deref().map(Steps::within).or_else(|| within(&self.sessions))
    }

    fn time(&self) -> Option<Duration> {
        let capacity = self.objective.as_ref().map_or(Duration::ZERO, |_| objective::LONGEST);
        Some(self.warm_up.most + self.time_from_opening() + capacity)
    }

    fn lacks(&self, metric: &str) -> Option<&'static str> {
        let is_of_open_loop = metric == "unsent" || metric.starts_with("service_");
        match metric {
            "capacity_rps" => self.objective.is_none().then_some("objective"),
            "recovery_ms" | "first_right_ms" => self.disturbance.is_none().then_some("disturbance"),
            _ => (is_of_open_loop && self.arrivals.is_none()).then_some("rate_rps"),
        }
    }

    fn least_time(&self) -> Option<Duration> {
        let capacity = self.objective.as_ref().map_or(Duration::ZERO, |_| objective::SHORTEST);
        Some(self.warm_up.least + self.time_from_opening() + capacity)
    }
}

impl HttpWorkload {
    /// The longest time from the window's opening to the end of watching.
    fn time_from_opening(&self) -> Duration {
        let disturbed = self.disturbance.as_ref().map_or(Duration::ZERO, |disturbance| {
            disturbance.watch
                + match disturbance.kind {
                    DisturbanceKind::Pause(pause) => pause,
                    DisturbanceKind::Burst(_) => self.timeout * 2,
                    DisturbanceKind::Drop => Duration::ZERO,
                }
        });
        // A request that is due at the end may be sent a time-out later, and answered another one later.
        let drained = if self.arrivals.is_some() { self.timeout * 2 } else { Duration::ZERO };
        self.duration + disturbed + drained
    }
}

/// An address for loads that are only looked at.
const NOWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);

/// Returns an error if a parameter is given that neither servers have nor a request names, or one of the request that
/// there is without a scenario.
fn check_names(take: &Params, scenario: &Scenario) -> Result<(), Unfit> {
    let named = scenario.parameters();
    let others = take.given.iter().filter(|(name, _)| !named.contains(name.as_str()));
    let others: Parameters = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    Params { given: &others, ..*take }.no_others("an http workload")?;
    if scenario.is_empty() {
        return Ok(());
    }
    if let Some(name) = OF_ONE_REQUEST.iter().find(|name| others.contains_key(**name)) {
        return Err(Unfit::new(format!(
            "{name} is of the one request that there is without [[request]] and [[session]]: give it to the requests \
             there, as text or as ${name}"
        )));
    }
    let inner = scenario.within().map(|within| within.axis);
    match inner.filter(|axis| take.given.contains_key(axis)) {
        Some(axis) => Err(Unfit::new(format!(
            "`{axis}` is the axis of the requests' names: call the parameter otherwise"
        ))),
        None => Ok(()),
    }
}

/// The sessions of the scenario; if it has none, the one request that the parameters describe.
fn sessions(take: &Params, answer: &Answer, scenario: &Scenario) -> Result<Vec<Session>, Unfit> {
    let nowhere = Target::plain(NOWHERE.into());
    if !scenario.is_empty() {
        return scenario.sessions(&nowhere, answer, Some(take.given));
    }
    let request = Request {
        method: take.text("method")?.to_owned(),
        headers: scenario.headers(take.given)?,
        body: take.text("body")?.to_owned().into_bytes(),
    };
    let target = Target { path: take.text("path")?.to_owned(), ..nowhere };
    let expect = answer.expect(take.given)?;
    // The target's own name would have the address of no server.
    let name = format!("{} {}", request.method, target.path);
    Ok(vec![Step { name, request, expect, ..Step::new(target) }.into()])
}

/// The axis of the requests' names. None if there are not several.
fn within(sessions: &[Session]) -> Option<Within> {
    let names = sessions.iter().flat_map(|session| &session.steps).map(|step| step.name.as_str());
    crate::driver::scenario::within(names)
}

fn streams(take: &Params) -> Result<usize, Unfit> {
    let streams = take.count("streams")?;
    let protocol = Protocol::read(take)?;
    if streams > 1 && protocol.version() == Http::Http1 {
        return Err(Unfit::new(format!(
            "streams is {streams}, and a connection of protocol \"{}\" carries one request at a time: streams is for \
             \"h2\" and \"h2c\"",
            protocol.word()
        )));
    }
    Ok(streams)
}

fn disturbance(take: &Params, steps: Option<&Steps>) -> Result<Option<Disturbance>, Unfit> {
    let pause = take.time("pause_s")?;
    let burst = take.count("burst_connections")?;
    let watch = take.time("watch_s")?;
    let kind = match take.word("disturbance")? {
        0 if steps.is_some_and(|steps| steps.drop_to.is_some()) => {
            return Ok(Some(Disturbance { kind: DisturbanceKind::Drop, watch }));
        }
        0 => return Ok(None),
        1 => DisturbanceKind::Pause(pause),
        _ => DisturbanceKind::Burst(burst),
    };
    let steady = take.time("timeout_ms")?.mul_f64(1.5);
    if watch < steady {
        return Err(Unfit::new(format!(
            "watch_s is too short: answers are steady when none has failed for 1.5 time-outs, which are {} s",
            steady.as_secs_f64()
        )));
    }
    Ok(Some(Disturbance { kind, watch }))
}

/// Reads the times at which requests are due. They are the same in every trial, so that contenders in a block have
/// the same. None for a closed loop.
fn arrivals(take: &Params, steps: Option<&Steps>) -> Result<Option<Arrivals>, Unfit> {
    let rate = if steps.is_some() { 0.0 } else { take.number("rate_rps")? };
    let burst = take.count("burst_requests")? as u32;
    let gaps = match take.word("arrivals")? {
        0 => Gaps::Even,
        _ => Gaps::Poisson { seed: 0 },
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
    use kumite_record::AxisValue;

    use super::*;

    const AT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);

    fn workload(name: &str, value: AxisValue) -> Result<HttpWorkload, Unfit> {
        HttpWorkload::new(&[(name.to_owned(), value)].into(), &Answer::default())
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let workload = workload("connections", AxisValue::Int(7)).unwrap();
        assert_eq!((workload.connections, workload.timeout), (7, Duration::from_secs(1)));
    }

    #[test]
    fn connections_may_end_by_count_be_idle_and_be_opened_again_one_by_one() {
        let names = ["requests_per_connection", "idle_connections", "reopen_spread_ms"];
        let given = |values: [i64; 3]| {
            let given = names.into_iter().zip(values);
            let given = given.map(|(name, value)| (name.to_owned(), AxisValue::Int(value))).collect();
            HttpWorkload::new(&given, &Answer::default()).unwrap()
        };
        let asked = |workload: &HttpWorkload| {
            let load = workload.load(AT);
            let each = load.requests_per_connection.map(NonZeroU64::get);
            (each, load.idle_connections, load.reopen_spread, workload.most_connections())
        };
        assert_eq!(asked(&given([0, 0, 0])), (None, 0, Duration::ZERO, 50));
        assert_eq!(asked(&given([10, 20, 100])), (Some(10), 20, Duration::from_millis(100), 70));
        assert_eq!(given([10, 20, 100]).probe(AT).idle_connections, 0);
    }

    #[test]
    fn a_warm_up_has_a_least_and_a_most() {
        let given = |least: f64, limit: f64| {
            let given = [("warm_up_s", least), ("warm_up_limit_s", limit), ("duration_s", 5.0)];
            let given = given.map(|(name, value)| (name.to_owned(), AxisValue::Float(value)));
            HttpWorkload::new(&given.into(), &Answer::default())
        };
        let workload = given(2.0, 30.0).unwrap();
        assert!(workload.warm_up.by_evidence());
        assert_eq!(
            (workload.load(AT).warm_up, workload.least_time(), workload.time()),
            (Duration::from_secs(30), Some(Duration::from_secs(7)), Some(Duration::from_secs(35)))
        );
        for (least, limit) in [(2.0, 0.0), (2.0, 2.0)] {
            let fixed = given(least, limit).unwrap();
            assert!(!fixed.warm_up.by_evidence());
            assert_eq!(fixed.load(AT).warm_up, Duration::from_secs(2));
        }
        let below = given(2.0, 1.5).unwrap_err().to_string();
        assert_eq!(
            below,
            "warm_up_limit_s is 1.5, and warm_up_s is 2: give at least that, or 0 for no more than warm_up_s"
        );
    }

    #[test]
    fn a_connection_carries_several_requests_in_http_2_alone() {
        let given = |protocol: &str, streams: i64| {
            let protocol = ("protocol".to_owned(), AxisValue::Text(protocol.to_owned()));
            let streams = ("streams".to_owned(), AxisValue::Int(streams));
            HttpWorkload::new(&[protocol, streams].into(), &Answer::default())
        };
        for (protocol, http, secure) in [("h2", Http::Http2, true), ("h2c", Http::Http2, false)] {
            let load = given(protocol, 10).unwrap().load(AT);
            assert_eq!(
                (load.http, load.pipeline, load.sessions[0].steps[0].target.secure),
                (http, 10, secure)
            );
        }
        for (protocol, secure) in [("http", false), ("https", true)] {
            let load = given(protocol, 1).unwrap().load(AT);
            assert_eq!((load.http, load.sessions[0].steps[0].target.secure), (Http::Http1, secure));
            assert!(given(protocol, 2).is_err());
        }
    }

    #[test]
    fn an_objective_takes_its_time_after_the_window() {
        let objective = ("objective".to_owned(), AxisValue::Text("p99 < 20ms".into()));
        let given = |more: Option<(&str, &str)>| {
            let more = more.map(|(name, value)| (name.to_owned(), AxisValue::Text(value.to_owned())));
            let given = [objective.clone()].into_iter().chain(more).collect();
            HttpWorkload::new(&given, &Answer::default())
        };
        let with = given(None).unwrap();
        let without = HttpWorkload::new(&Parameters::new(), &Answer::default()).unwrap();
        assert_eq!(with.objective.as_ref().map(Slo::to_string).as_deref(), Some("p99 < 20ms and errors = 0"));
        let more = |of: fn(&HttpWorkload) -> Option<Duration>| of(&with).unwrap() - of(&without).unwrap();
        assert_eq!((more(HttpWorkload::time).as_secs(), more(HttpWorkload::least_time).as_secs()), (20, 5));
        for disturbed in [("disturbance", "pause"), ("rate_rps", "10@4s,20@4s")] {
            let refused = given(Some(disturbed)).unwrap_err().to_string();
            assert!(refused.starts_with("objective is for a load at one rate"), "{refused}");
        }
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
            ("protocol", text("spdy"), "protocol is \"http\", \"https\", \"h2\" or \"h2c\", not \"spdy\""),
            ("rate_rps", AxisValue::Int(-1), "rate_rps is a number from 0 to 10000000, not -1"),
            ("arrivals", text("odd"), "arrivals is \"even\" or \"poisson\", not \"odd\""),
            ("objective", text("p99 > 1s"), "objective: \"p99 > 1s\", character 5: expected < or <="),
            (
                "objective",
                text("p99 < 2s"),
                "objective allows 2s, and timeout_ms is 1000: raise it above that",
            ),
            (
                "objective",
                text("p95 of list < 9ms"),
                "the objective is about list, and no request or session is called so; there are none with a name",
            ),
            ("watch_s", AxisValue::Int(0), "watch_s is a number from 1 to 600, not 0"),
        ];
        for (name, value, expected) in cases {
            let found = workload(name, value).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
        assert!(workload("method", text("GET /\r\nX: y")).is_err());
        assert!(workload("path", text("/ HTTP/1.1\r\nX: y")).is_err());
    }
}
