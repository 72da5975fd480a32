//! A server from its start until it answers rightly, and its end.
//!
//! Ready means: one right answer to the workload's own request, from a process of the contender. So neither a port
//! that somebody else holds nor a server that answers wrongly is measured. Every wait has the workload's limit.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kumite_load::{Limit, Load, Outcome, SampledAnswer, Session, Trust};

use super::protocol::Protocol;
use super::server_process::{Here, ServerProcess, There};
use super::workload::HttpWorkload;
use crate::contender::Ready;
use crate::credentials::Credentials;
use crate::error::{Error, Fault};
use crate::halt::Halt;
use crate::node::Remote;

/// The longest time for which a server may answer wrongly, or refuse connections while it listens elsewhere. After
/// that it is not just starting. For wrong answers it is half of the workload's limit, if that is less.
const WRONG_LIMIT: Duration = Duration::from_secs(3);
const READY_INTERVAL: Duration = Duration::from_millis(5);
/// The number of requests on one connection when a contender is checked.
const KEPT_FOR: u64 = 5;
pub(crate) struct Server {
    pub process: Box<dyn ServerProcess>,
    address: SocketAddrV4,
    trust: Trust,
    started: Instant,
}

/// The time until a server answered rightly. The error is an answer that is wrong under the right status.
pub(crate) type Answered = Result<Duration, Fault>;

impl Server {
    /// Starts a server on this machine, to listen at `host`. `env` has the variables for the addresses of services and
    /// for the protocol; `trust` says which certificate is accepted. Returns before the server answers. An error if
    /// there is no free port, or the command cannot be started.
    pub fn start(
        contender: &Ready,
        host: Ipv4Addr,
        env: Vec<(String, String)>,
        trust: Trust,
        cores: &[usize],
        log: &Path,
    ) -> Result<Server, Error> {
        let started = Instant::now();
        let here = Here::start(contender, host, env, cores, log)?;
        Ok(Server { address: here.address(), process: Box::new(here), trust, started })
    }

    /// Starts a server on another node. The server is given these `credentials` if it is to speak TLS; `trust` says
    /// which certificate is accepted. An error if the node cannot start it.
    pub fn start_there(
        node: &Remote,
        contender: &Ready,
        env: Vec<(String, String)>,
        credentials: Option<Credentials>,
        trust: Trust,
        cores: &[usize],
        log: &Path,
    ) -> Result<Server, Error> {
        let started = Instant::now();
        let (there, address) = There::start(node, &contender.name, env, credentials, cores, log)?;
        Ok(Server { address, process: Box::new(there), trust, started })
    }

    /// The load of a trial on this server.
    pub fn load(&self, workload: &HttpWorkload) -> Load {
        Load { trust: self.trust.clone(), ..workload.load(self.address) }
    }

    /// A load of one request, to see whether this server is ready.
    fn probe(&self, workload: &HttpWorkload) -> Load {
        Load { trust: self.trust.clone(), ..workload.probe(self.address) }
    }

    /// Ends the server. Returns the fault of its end in words; None if it ended well.
    pub fn stop(self) -> Option<String> {
        self.process.stop()
    }

    /// Waits until the server answers rightly, for no longer than the workload's limit, and makes sure that it is the
    /// contender that answers. Returns the time since its start, or a fault if its answer is wrong under the right
    /// status. Any other fault, such as a wrong status, no right answer in time, an end, too long a log, or another
    /// program on the port, is an error.
    pub fn wait_ready(&mut self, workload: &HttpWorkload, stop: &AtomicBool) -> Result<Answered, Halt> {
        let mut probe = self.probe(workload);
        let mut wrong_since = None;
        let failed = |why: String| Err(Halt::fault(why));
        loop {
            // A server that takes a connection and never answers must not outlast the limit.
            let left = workload.ready.saturating_sub(self.started.elapsed());
            probe.timeout = probe.timeout.min(left.max(READY_INTERVAL));
            let process = &mut self.process;
            let look = process.look()?;
            if let Some(how) = look.exited {
                return failed(format!("it {how} before it was ready; its log: {}", process.last_lines()));
            }
            // The probe may wait long for an answer, so the server is looked at meanwhile.
            let halt = AtomicBool::new(false);
            let mut too_much = look.too_much.map(|why| Error::from(Fault::new(why)));
            let asked = probe.run(&halt, &mut |_| {
                let look = || match process.look() {
                    Ok(look) => look.too_much.map(|why| Fault::new(why).into()),
                    Err(why) => Some(why),
                };
                too_much = too_much.take().or_else(look);
                halt.store(too_much.is_some() || stop.load(Ordering::Relaxed), Ordering::Relaxed);
            });
            if let Some(too_much) = too_much {
                return Err(too_much.into());
            }
            let asked = match asked {
                _ if stop.load(Ordering::Relaxed) => return Err(Halt::Interrupted),
                Ok(outcome) if outcome.ok == 1 => {
                    let ready = self.started.elapsed();
                    process.own_port()?;
                    return Ok(Ok(ready));
                }
                Ok(outcome) => outcome,
                Err(error) => return Err(error.into()),
            };
            // A handshake is part of connecting, and its failure says that the server is there.
            let has_handshake = workload.protocol != Protocol::Http;
            let is_answer = asked.errors.refused == 0 && (asked.errors.connect == 0 || has_handshake);
            if let Some(answer) = asked.first_wrong.as_ref().filter(|_| is_answer) {
                let since = *wrong_since.get_or_insert_with(Instant::now);
                if since.elapsed() > WRONG_LIMIT.min(workload.ready / 2) {
                    let log = process.last_lines();
                    if asked.errors.connect > 0 {
                        let demand = workload.protocol.demand();
                        return failed(format!("it does not speak {demand}: {answer}; its log: {log}"));
                    }
                    let why = format!("its answer is wrong ({answer}); its log: {log}");
                    return if asked.errors.wrong() > 0 { Ok(Err(Fault::new(why))) } else { failed(why) };
                }
            }
            let is_refused = asked.errors.refused > 0 && self.started.elapsed() > WRONG_LIMIT;
            if let Some(why) = is_refused.then(|| process.listens_elsewhere()).flatten() {
                return failed(why);
            }
            if self.started.elapsed() > workload.ready {
                let (limit, errors) = (workload.ready.as_secs_f64(), asked.errors.in_words());
                let (ports, log) = (process.listening(), process.last_lines());
                return failed(format!(
                    "it gave no right answer on PORT within {limit} s (last: {errors}; {ports}); its log: {log}"
                ));
            }
            std::thread::sleep(READY_INTERVAL);
        }
    }

    /// Asks every request once: plain ones by themselves, those of a session in their order. Returns the answers that
    /// the checker is to look at. The inner error is about an answer that is wrong under the right status, the outer
    /// one about any other failure. Both name the request.
    pub fn answers_all(
        &mut self,
        workload: &HttpWorkload,
        stop: &AtomicBool,
    ) -> Result<Result<Vec<SampledAnswer>, Fault>, Halt> {
        let mut answers = Vec::new();
        for (load, session) in workload.walks(self.address).zip(workload.sessions()) {
            let asked = Load { trust: self.trust.clone(), ..load }.run(stop, &mut |_| ())?;
            Halt::if_set(stop)?;
            if asked.errors.total() == 0 {
                answers.extend(asked.sampled);
                continue;
            }
            let why = format!("{}; its log: {}", failed_request(&asked, session), self.process.last_lines());
            if asked.errors.wrong() > 0 {
                return Ok(Err(Fault::new(why)));
            }
            return Err(Halt::fault(why));
        }
        Ok(Ok(answers))
    }

    /// A fault if the server closes a connection within a few requests without having announced it: such a server would
    /// lose requests under load. An error too if the engine fails.
    pub fn keeps(&self, workload: &HttpWorkload, stop: &AtomicBool) -> Result<(), Halt> {
        let limit = Limit { requests: Some(KEPT_FOR), duration: None };
        let asked = Load { limit, ..self.probe(workload) }.run(stop, &mut |_| ())?;
        let lost = asked.errors.closed + asked.errors.reset;
        if lost == 0 {
            return Ok(());
        }
        let first = asked.first_wrong.unwrap_or_default();
        Err(Halt::fault(format!(
            "it closes connections that it promised to keep: {lost} of {KEPT_FOR} requests, sent one after the other, got \
             no answer ({first}); keep the connection, or announce its end with Connection: close"
        )))
    }
}

/// The first request of a session that failed, and its answer, in words.
fn failed_request(asked: &Outcome, session: &Session) -> String {
    let kinds = asked.errors.in_words();
    let what = asked.first_wrong.as_ref().unwrap_or(&kinds);
    let mut steps = asked.sessions.iter().flat_map(|session| &session.steps);
    match steps.find(|step| step.errors.total() > 0) {
        Some(step) => {
            // The engine names the request, too, where it has the answer.
            let place = format!("; from {} of {}", step.name, session.name);
            let what = what.strip_suffix(&place).unwrap_or(what);
            format!("its answer to '{}' of '{}' is wrong ({what})", step.name, session.name)
        }
        None => format!("its answer to '{}' is wrong ({what})", session.name),
    }
}
