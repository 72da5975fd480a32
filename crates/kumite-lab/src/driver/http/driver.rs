//! Trials of servers: each starts its services, then its contender, offers the load once the server answers rightly,
//! and ends all of them.
//!
//! The server is here or on the node that has its role; everything else is the same for both. An answer with a wrong
//! body disqualifies. A server has failed if it ends, writes too much to its log, gives no right answer, or, but for
//! a load in steps, is silent for longer than a time-out at the window's end. What the load brought is then turned
//! into figures by `metrics.rs`.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_host::GivenCores;
use kumite_load::{Limit, Load, SampledAnswer, Target, Trust};
use kumite_record::{Mark, Outcome, Role};

use super::by_request;
use super::capacity;
use super::checked_answers::Against;
use super::drive::{Driven, drive};
use super::listen_queue;
use super::metrics::{against_littles_law, marks, sample, silent_before_end};
use super::server::Server;
use super::window::Window;
use super::workload::HttpWorkload;
use super::written_credentials::WrittenCredentials;
use crate::answer_program::check_answers;
use crate::contender::Ready;
use crate::credentials::Credentials;
use crate::driver::workbench::Workbench;
use crate::driver::{
    Answered, Driver, Executor, Measured, Opening, Planned, Short, TrialOrder, Wanted, Workload,
};
use crate::error::{Error, Fault, chain};
use crate::halt::Halt;
use crate::node::Nodes;
use crate::service::Running;
use kumite_process::last_lines;

/// The host that servers on this machine are checked at. A server that ignores HOST and listens on 127.0.0.1 does not
/// answer there.
const CHECKED_AT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The driver of kind http. It starts each contender afresh, offers it the load, and stops it.
pub(crate) struct HttpDriver<'a> {
    bench: Workbench<'a>,
    /// The seed of the random choices within trials.
    seed: u64,
    /// The certificate of all servers, with its files on this machine. None if no workload that can be measured is in
    /// TLS.
    tls: Option<(Credentials, WrittenCredentials)>,
}

impl<'a> HttpDriver<'a> {
    pub fn open(of: &Opening<'a>) -> Result<HttpDriver<'a>, Halt> {
        // Before the first process, so that all of them inherit the same limit.
        let connections = |planned: &Planned| planned.typed::<HttpWorkload>().most_connections();
        let most = of.conditions.measurable().map(connections).max();
        kumite_limits::make_room(most.unwrap_or(1)).map_err(Error::Files)?;
        let bench = Workbench::new(of)?;
        let is_secure = |planned: &Planned| planned.typed::<HttpWorkload>().protocol.is_secure();
        let tls = of.conditions.measurable().any(is_secure).then(|| {
            let host = of.conditions.nodes.host_of(Role::Server);
            let made = Credentials::new(&[host, Ipv4Addr::LOCALHOST, CHECKED_AT])?;
            let written = WrittenCredentials::new(&made, of.state)?;
            Ok::<_, Error>((made, written))
        });
        Ok(HttpDriver { bench, seed: of.seed, tls: tls.transpose()? })
    }
}

impl<'a> HttpDriver<'a> {
    fn workload(&self, contender: &Ready, at: usize) -> Result<(&'a HttpWorkload, GivenCores), Error> {
        let workload = self.bench.conditions.planned[at].typed::<HttpWorkload>();
        Ok((workload, workload.cores().given(&contender.among(self.bench.cores))?))
    }

    /// Starts the services and then the contender, which is told where they are.
    fn start(
        &self,
        contender: &Ready,
        host: Ipv4Addr,
        at: usize,
        cores: &[usize],
        log: &Path,
        stop: &AtomicBool,
    ) -> Result<(Running, Server), Halt> {
        let services = self.bench.services.start(&self.bench.conditions.planned[at].parameters, log, stop)?;
        let protocol = self.bench.conditions.planned[at].typed::<HttpWorkload>().protocol;
        let tls = self.tls.as_ref().filter(|_| protocol.is_secure());
        let trust = tls.map_or(Trust::System, |(_, written)| Trust::Only(written.certificate.clone()));
        let mut env = services.env();
        env.push(("PROTOCOL".to_owned(), protocol.word().to_owned()));
        let server = match self.bench.conditions.nodes.with_role(Role::Server) {
            None => {
                env.extend(tls.iter().flat_map(|(_, written)| written.env()));
                Server::start(contender, host, env, trust, cores, log)
            }
            Some(node) => {
                let credentials = tls.map(|(made, _)| made.clone());
                Server::start_there(node, contender, env, credentials, trust, cores, log)
            }
        };
        let server = server.map_err(|why| Halt::unless_stopped(why, stop))?;
        Ok((services, server))
    }

    /// The checker's reason against these answers. None if there is no checker, or all answers are right.
    fn against(
        &self,
        workload: &HttpWorkload,
        answers: &[SampledAnswer],
        stop: &AtomicBool,
    ) -> Result<Option<Against>, Halt> {
        let Some(checker) = &workload.checker else { return Ok(None) };
        let checked =
            check_answers(checker, self.bench.conditions.folder, &self.bench.cores.engine, answers, stop);
        Halt::if_set(stop)?;
        Ok(Against::of(&checked))
    }

    fn tried(&self, order: &TrialOrder, log: &Path, stop: &AtomicBool) -> Result<Measured, Halt> {
        let (workload, given) = self.workload(order.contender, order.at)?;
        let GivenCores { cores, shared } = given;
        let (mut services, mut server) =
            self.start(order.contender, Ipv4Addr::LOCALHOST, order.at, &cores, log, stop)?;
        let engine = if shared { &cores } else { &self.bench.cores.engine };
        let round_trip_us = round_trip_us(&self.bench.conditions.nodes, stop)?;
        let driven = server.wait_ready(workload, stop).and_then(|answered| {
            let ready = match answered {
                Ok(ready) => ready,
                Err(wrong) => return Ok(Err(wrong)),
            };
            services.begin()?;
            let began = Instant::now();
            let is_here = server.process.is_here();
            let overflows = || is_here.then(listen_queue::overflows).flatten();
            let before = overflows();
            let seed = self.seed.wrapping_add(u64::from(order.seq));
            let driven = drive(&mut server, &mut services, workload, &cores, engine, seed, stop)?;
            let overflows = overflows().zip(before).map(|(after, before)| after.saturating_sub(before));
            let asked =
                workload.objective.as_ref().filter(|_| driven.gone.is_none() && driven.outcome.ok > 0);
            let own_cores: &[usize] = if shared && server.process.is_here() { &[] } else { engine };
            let draw =
                |slo| capacity::draw(&mut server, workload, slo, &driven.outcome, own_cores, seed, stop);
            let drawn = asked.map(draw).transpose()?;
            Ok(Ok((ready, began.elapsed(), driven, overflows, drawn)))
        });
        let left = server.stop();
        Halt::if_set(stop)?;
        let counted = services.end();
        let (ready, under_load, driven, overflows, drawn) = match driven? {
            Ok(driven) => driven,
            Err(wrong) => return Ok(Measured::answered(Some(wrong.into()))),
        };
        let mut measured = measured(&driven, workload, shared, left, log);
        if measured.outcome == Outcome::Ok
            && let Some(against) = self.against(workload, &driven.outcome.sampled, stop)?
        {
            against.tell(&mut measured);
        }
        if let Some((drawn, slo)) = drawn.zip(workload.objective.as_ref()) {
            capacity::tell(drawn, slo, &mut measured);
        }
        if let Some(seen) = driven.server_noise {
            if !driven.noise.marks.is_empty() {
                measured.sample.marked.insert(Role::Engine, driven.noise.marks);
            }
            measured.add_noise(Role::Server, seen);
        }
        measured = measured.with(counted?);
        let round_trip = round_trip_us.map(|us| ("network_round_trip_us".to_owned(), us));
        measured.sample.metrics.extend(round_trip);
        let overflows = overflows.map(|count| ("listen_overflows".to_owned(), count as f64));
        measured.sample.metrics.extend(overflows);
        Ok(Measured {
            ready_ms: Some(ready.as_secs_f64() * 1e3),
            load_ms: Some(under_load.as_secs_f64() * 1e3),
            ..measured
        })
    }
}

impl Executor for HttpDriver<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let log = self.bench.trial_log(&(order.log_name() + ".log"));
        let tried = self.tried(order, &log.path, stop);
        log.of_trial(tried)
    }
}

impl Driver for HttpDriver<'_> {
    fn check(&mut self, contender: &Ready, at: usize, stop: &AtomicBool) -> Result<Answered, Halt> {
        let (workload, given) = self.workload(contender, at)?;
        let log = self.bench.check_log(contender);
        let (services, mut server) = self.start(contender, CHECKED_AT, at, &given.cores, &log, stop)?;
        let answered = server
            .wait_ready(workload, stop)
            .and_then(|answered| {
                server.process.listens_elsewhere().map_or(Ok(answered), |why| Err(Halt::fault(why)))
            })
            .and_then(|answered| {
                if answered.is_ok() { server.keeps(workload, stop).map(|()| answered) } else { Ok(answered) }
            })
            .and_then(|answered| match answered {
                Ok(_) => server.answers_all(workload, stop),
                Err(wrong) => Ok(Err(wrong)),
            });
        let left = server.stop().map(|left| Fault::new(left).into()).or(services.end().err());
        let answers = answered??;
        if let Some(against) = self.against(workload, &answers, stop)? {
            return Err(Halt::fault(against.words()));
        }
        left.map_or(Ok(Answered::RIGHT), |why| Err(why.into()))
    }

    fn short(
        &mut self,
        contender: &Ready,
        at: usize,
        wanted: &[Wanted],
        stop: &AtomicBool,
    ) -> Result<Vec<Short>, Halt> {
        let (workload, given) = self.workload(contender, at)?;
        let window = Window::new(workload, wanted);
        let Some(most) = window.most() else { return Ok(Vec::new()) };
        if let Some(per_s) = window.offered() {
            return Ok(window.short(per_s));
        }
        let log = self.bench.check_log(contender);
        let (services, mut server) = self.start(contender, CHECKED_AT, at, &given.cores, &log, stop)?;
        let GivenCores { cores, shared } = given;
        let engine = if shared { &cores } else { &self.bench.cores.engine };
        let looked = server.wait_ready(workload, stop).and_then(|answered| match answered {
            Ok(_) => window.look(&server, most, engine, stop),
            Err(wrong) => Err(wrong.into()),
        });
        let left = server.stop().map(|left| Fault::new(left).into()).or(services.end().err());
        Halt::if_set(stop)?;
        let per_s = looked?;
        left.map_or(Ok(window.short(per_s)), |why| Err(why.into()))
    }
}

/// The median time for the way to the server's node and back, in µs, asked of a stub on the node that answers at
/// once. None if the server is on this machine; an error if one of 20 requests gets no answer within 10 s.
fn round_trip_us(nodes: &Nodes, stop: &AtomicBool) -> Result<Option<f64>, Halt> {
    const ASKED: u64 = 20;
    // A lost packet is late and no more: the first of a connection is sent again after a second, then after two.
    const PATIENCE: Duration = Duration::from_secs(10);
    let Some(at) = nodes.echo else { return Ok(None) };
    let load = Load {
        connections: 1,
        timeout: PATIENCE,
        ..Load::new(Target::plain(at.into()), Limit { requests: Some(ASKED), duration: None })
    };
    let outcome = load.run(stop, &mut |_| ())?;
    Halt::if_set(stop)?;
    let failed = outcome.errors.total();
    if failed > 0 {
        let kinds = outcome.errors.in_words();
        let what = format!("the echo at {at} did not answer {failed} of {ASKED} requests ({kinds})");
        return Err(Halt::fault(what));
    }
    Ok(Some(outcome.response.value_at_quantile(0.5) as f64 / 1e3))
}

fn measured(
    driven: &Driven,
    workload: &HttpWorkload,
    shared: bool,
    left: Option<String>,
    log: &Path,
) -> Measured {
    let outcome = &driven.outcome;
    let mut sample = sample(outcome, workload.disturbance.as_ref());
    match &workload.steps {
        Some(steps) => steps.tell(outcome, &mut sample),
        None => by_request::tell(outcome, &mut sample),
    }
    let mut marks = marks(outcome, &sample, shared);
    let used_from_ms = sample.steadiness.as_ref().map_or(0, |steadiness| steadiness.used_from_ms);
    // The steadiness of a window, where it is judged, says more than that of the warm-up.
    if driven.unsettled && sample.steadiness.is_none() {
        marks.push(Mark::Unsteady);
    }
    let closed_loop = workload.arrivals.is_none();
    // A connection that pauses is neither idle nor in a request.
    let is_busy = workload.pauses().all(|pause| pause.is_zero());
    if closed_loop && is_busy && (!workload.warm_up.most.is_zero() || used_from_ms > 0) {
        let found = against_littles_law(&sample, workload.connections * workload.streams);
        marks.extend(found.filter(|mark| !marks.contains(mark)));
    }
    let mut measured = Measured { reason: left, sample, marks, ..Measured::answered(None) };
    let warm_up = outcome.warm_up_errors.total();
    if warm_up > 0 && measured.reason.is_none() {
        let kinds = outcome.warm_up_errors.in_words();
        measured.reason = Some(format!("{warm_up} requests failed in the warm-up ({kinds})"));
    }
    if workload.idle_connections > 0 {
        let (asked, open) = (workload.idle_connections, outcome.idle_open);
        let counts = [("idle_open", open), ("idle_ended", outcome.idle_ended)];
        measured.sample.metrics.extend(counts.map(|(name, count)| (name.to_owned(), count as f64)));
        if open < asked as u64 && measured.reason.is_none() {
            measured.reason = Some(format!("{open} of {asked} idle connections were open at the end"));
        }
    }
    measured.marks.extend(&driven.noise.marks);
    measured.sample.noise.clone_from(&driven.noise.figures);
    if let Some(cpu_cores) = driven.cpu_cores(used_from_ms) {
        let metrics = &mut measured.sample.metrics;
        metrics.insert("cpu_cores".to_owned(), cpu_cores);
        if let Some(throughput_rps) = metrics.get("throughput_rps").filter(|rps| **rps > 0.0) {
            metrics.insert("cpu_us_per_request".to_owned(), cpu_cores * 1e6 / throughput_rps);
        }
    }
    measured.sample.series.columns.insert("cpu_cores".to_owned(), driven.cpu_series.clone());
    measured.sample.metrics.insert("peak_rss_bytes".to_owned(), driven.peak_rss_bytes as f64);
    let after = outcome.disturbed.map(|disturbed| (disturbed.errors.wrong(), disturbed.requests));
    let (wrong_after, all_after) = after.unwrap_or_default();
    let wrong = outcome.errors.wrong() + outcome.warm_up_errors.wrong() + wrong_after;
    if wrong > 0 {
        let all = outcome.requests + outcome.warm_up_requests + all_after;
        let first = outcome.first_wrong.as_deref().unwrap_or_default();
        let why = format!("{wrong} of {all} answers were wrong, the first: {first}");
        (measured.outcome, measured.reason) = (Outcome::Disqualified, Some(why));
    } else if let Some(why) = &driven.gone {
        (measured.outcome, measured.reason) = (Outcome::Failed, Some(chain(why)));
    } else if outcome.ok == 0 {
        let why = format!("no right answer under load ({}): {}", outcome.errors.in_words(), last_lines(log));
        (measured.outcome, measured.reason) = (Outcome::Failed, Some(why));
    } else if let Some(silence) = too_silent(outcome, workload) {
        let (seconds, log) = (silence.as_secs_f64(), last_lines(log));
        let why = format!("it stopped answering {seconds:.1} s before the end of the window; its log: {log}");
        (measured.outcome, measured.reason) = (Outcome::Failed, Some(why));
    }
    measured
}

/// The time for which the server had stopped answering when the window ended, if it is longer than a time-out. None
/// otherwise, and for a load in steps: there it is a result that a server stops answering at too high a rate.
fn too_silent(outcome: &kumite_load::Outcome, workload: &HttpWorkload) -> Option<Duration> {
    let silence = silent_before_end(outcome).filter(|_| workload.steps.is_none());
    // All connections may pause at once.
    let longest_pause = workload.pauses().max().unwrap_or_default();
    silence.filter(|silence| *silence > workload.timeout + longest_pause)
}
