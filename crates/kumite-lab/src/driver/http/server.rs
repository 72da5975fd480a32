//! A contender that has been started: until it is ready, and how it ends.

use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kumite_process::{Listener, Spawn, Tree};

use super::workload::HttpWorkload;
use crate::contender::Ready;
use crate::driver::log::{check_size, last_lines, trim};
use crate::halt::Halt;
use crate::port::free_port;
use kumite_process::how_it_ended;

/// A server that has answered wrongly for so long is not just starting.
const WRONG_LIMIT: Duration = Duration::from_secs(3);
const READY_INTERVAL: Duration = Duration::from_millis(5);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

pub(crate) struct Server {
    pub tree: Tree,
    pub address: SocketAddrV4,
    pub log: PathBuf,
    started: Instant,
}

/// How long a server took until it answered rightly; or what is wrong with its answer.
pub(crate) type Answered = Result<Duration, String>;

impl Server {
    /// It is to listen at `host`. `services` is what tells it where those are.
    pub fn start(
        contender: &Ready,
        host: Ipv4Addr,
        services: Vec<(String, String)>,
        cores: &[usize],
        log: &Path,
    ) -> Result<Server, String> {
        let address = SocketAddrV4::new(host, free_port(host)?);
        let mut env = contender.env.clone();
        env.extend(services);
        env.push(("HOST".to_owned(), host.to_string()));
        env.push(("PORT".to_owned(), address.port().to_string()));
        let started = Instant::now();
        let spawn = Spawn {
            command: &contender.run,
            dir: &contender.folder,
            env: &env,
            keeps: None,
            cores,
            log,
            group: None,
        };
        let tree = Tree::start(&spawn).map_err(|error| error.to_string())?;
        Ok(Server { tree, address, log: log.to_owned(), started })
    }

    /// Ends it. Returns what was wrong with how it ended, if anything was.
    pub fn stop(self) -> Option<String> {
        let ended = self.tree.stop(GRACE);
        trim(&self.log);
        match (ended.killed, ended.left_behind) {
            (true, _) => Some(format!("it ignored SIGTERM for {} s and was killed", GRACE.as_secs())),
            (false, 0) => None,
            (false, left) => {
                Some(format!("it ended and left {left} of its processes behind, which were killed"))
            }
        }
    }

    /// Waits until the server answers rightly, and makes sure that it is the one that answers. Returns the time since its
    /// start, or what is wrong with its answers.
    pub fn wait_ready(&mut self, workload: &HttpWorkload, stop: &AtomicBool) -> Result<Answered, Halt> {
        let mut probe = workload.probe(self.address);
        let mut wrong_since = None;
        let failed = |why: String| Err(Halt::Failed(why));
        loop {
            // A server that takes a connection and never answers must not outlast the limit.
            let left = workload.ready.saturating_sub(self.started.elapsed());
            probe.timeout = probe.timeout.min(left.max(READY_INTERVAL));
            match self.tree.exited() {
                Ok(None) => {}
                Ok(Some(status)) => {
                    return failed(format!(
                        "it {} before it was ready; its log: {}",
                        how_it_ended(status),
                        last_lines(&self.log)
                    ));
                }
                Err(error) => return failed(error.to_string()),
            }
            // The probe may wait for an answer for long.
            let halt = AtomicBool::new(false);
            let mut too_much = check_size(&self.log);
            let asked = probe.run(&halt, &mut |_| {
                too_much = too_much.take().or_else(|| check_size(&self.log));
                halt.store(too_much.is_some() || stop.load(Ordering::Relaxed), Ordering::Relaxed);
            });
            if let Some(too_much) = too_much {
                return failed(too_much);
            }
            let asked = match asked {
                _ if stop.load(Ordering::Relaxed) => return Err(Halt::Interrupted),
                Ok(outcome) if outcome.ok == 1 => {
                    let ready = self.started.elapsed();
                    self.own_port()?;
                    return Ok(Ok(ready));
                }
                Ok(outcome) => outcome,
                Err(error) => return failed(error.to_string()),
            };
            let is_answer = asked.errors.refused + asked.errors.connect == 0;
            if let Some(answer) = asked.first_wrong.as_ref().filter(|_| is_answer) {
                let since = *wrong_since.get_or_insert_with(Instant::now);
                if since.elapsed() > WRONG_LIMIT.min(workload.ready / 2) {
                    let log = last_lines(&self.log);
                    let why = format!("its answer is wrong ({answer}); its log: {log}");
                    return if asked.errors.body > 0 { Ok(Err(why)) } else { failed(why) };
                }
            }
            let is_refused = asked.errors.refused > 0 && self.started.elapsed() > WRONG_LIMIT;
            if let Some(why) = is_refused.then(|| self.elsewhere()).flatten() {
                return failed(why);
            }
            if self.started.elapsed() > workload.ready {
                let (limit, errors) = (workload.ready.as_secs_f64(), asked.errors.in_words());
                let (ports, log) = (self.ports(), last_lines(&self.log));
                return failed(format!(
                    "it gave no right answer on PORT within {limit} s (last: {errors}; {ports}); its log: {log}"
                ));
            }
            std::thread::sleep(READY_INTERVAL);
        }
    }

    /// Whoever answers on the port is to be the contender: another's answers would be measured as its own.
    fn own_port(&mut self) -> Result<(), String> {
        let port = self.address.port();
        match self.tree.listeners(self.address) {
            Ok(Listener::Tree) => Ok(()),
            Ok(Listener::Nobody) => Err(format!("it answered once and no longer listens on PORT ({port})")),
            Ok(Listener::Stranger { pid, command }) => {
                let who = pid.map_or("another process".to_owned(), |pid| format!("process {pid}"));
                let command = command.map(|command| format!(" ({command})")).unwrap_or_default();
                let log = last_lines(&self.log);
                Err(format!(
                    "its PORT is held by {who}{command}, which is not of this contender: end that; {port} was free when it \
                     was given; its log: {log}"
                ))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Where it listens on PORT, if that is not HOST alone.
    pub fn elsewhere(&mut self) -> Option<String> {
        let (host, port) = (self.address.ip(), self.address.port());
        let listening = self.tree.listening();
        let other = listening.iter().find(|at| at.port() == port && at.ip() != IpAddr::V4(*host))?;
        Some(format!(
            "it listens on {other}, and HOST was {host}: it is to listen there alone, for a server on a node of its own has \
             another address"
        ))
    }

    fn ports(&mut self) -> String {
        let ports: Vec<String> = self.tree.listening().iter().map(ToString::to_string).collect();
        match ports.len() {
            0 => "it listens nowhere".to_owned(),
            _ => format!("it listens on {}", ports.join(", ")),
        }
    }
}
