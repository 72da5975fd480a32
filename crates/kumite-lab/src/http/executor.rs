//! Trials of servers that the lab starts itself.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use kumite_load as load;
use kumite_process::{Spawn, Tree, Usage, pin_thread};
use kumite_record::{Cores, Mark, Outcome, Point};

use super::cores::server_cores;
use super::port::free_port;
use super::sample::{has_idle_connections, marks, sample};
use super::workload::HttpWorkload;
use crate::execute::{Executor, Measured, Order};
use crate::needs::{ended, last_lines};
use crate::prepare::Ready;
use crate::spec::Experiment;

/// A server that has not answered rightly after this long will not.
const READY_LIMIT: Duration = Duration::from_secs(30);
/// A server that has answered wrongly for so long is not just starting.
const WRONG_LIMIT: Duration = Duration::from_secs(3);
const READY_INTERVAL: Duration = Duration::from_millis(5);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

/// Starts each contender afresh, offers it the load, and stops it.
pub struct HttpExecutor<'a> {
    experiment: &'a Experiment,
    cores: Cores,
    state: &'a Path,
    logs: PathBuf,
}

impl<'a> HttpExecutor<'a> {
    /// `state` is the folder of the store; logs go below it. From now on this thread, and those it starts, stay on the
    /// engine's core.
    pub fn new(
        experiment: &'a Experiment,
        cores: Cores,
        state: &'a Path,
        run: &str,
    ) -> Result<HttpExecutor<'a>, String> {
        let logs = PathBuf::from("logs").join(run);
        std::fs::create_dir_all(state.join(&logs))
            .map_err(|error| format!("cannot make {}: {error}", state.join(&logs).display()))?;
        // Before the first contender, so that all of them inherit the same limit.
        let points = experiment.points();
        let most = points.iter().filter_map(|point| Some(experiment.http(point).ok()?.most_connections())).max();
        load::make_room(most.unwrap_or(1)).map_err(|error| error.to_string())?;
        pin_thread(&cores.engine).map_err(|error| error.to_string())?;
        kumite_process::become_subreaper().map_err(|error| error.to_string())?;
        Ok(HttpExecutor { experiment, cores, state, logs })
    }

    /// Starts the contender, waits for its first right answer and stops it. Returns the time to that answer; none if
    /// `stop` was set.
    pub fn check(
        &self,
        contender: &Ready,
        point: &Point,
        stop: &AtomicBool,
    ) -> Option<Result<Duration, String>> {
        let workload = match self.experiment.http(point) {
            Ok(workload) => workload,
            Err(why) => return Some(Err(why)),
        };
        let log = self.state.join(&self.logs).join(format!("{}.log", contender.name));
        let mut server = match Server::start(contender, &server_cores(&workload, &self.cores).0, &log) {
            Ok(server) => server,
            Err(why) => return Some(Err(why)),
        };
        let ready = server.wait_ready(&workload, stop)?;
        let ready = match ready {
            Ok(ready) => ready,
            Err((_, why)) => return Some(Err(why)),
        };
        Some(server.stop().map_or(Ok(ready), Err))
    }
}

impl Executor for HttpExecutor<'_> {
    fn trial(&mut self, order: &Order, stop: &AtomicBool) -> Option<Measured> {
        let kept =
            self.logs.join(format!("{:04}-{}.log", order.seq, order.contender.name)).display().to_string();
        let log = self.state.join(&kept);
        let failed =
            |outcome, why| Some(Measured { log: Some(kept.clone()), ..Measured::failed(outcome, why) });
        let workload = match self.experiment.http(order.point) {
            Ok(workload) => workload,
            Err(why) => return failed(Outcome::Failed, why),
        };
        let (cores, shared) = server_cores(&workload, &self.cores);
        let mut server = match Server::start(order.contender, &cores, &log) {
            Ok(server) => server,
            Err(why) => return failed(Outcome::Failed, why),
        };
        let ready = match server.wait_ready(&workload, stop)? {
            Ok(ready) => ready,
            Err((outcome, why)) => return failed(outcome, why),
        };
        let engine = if shared { &cores } else { &self.cores.engine };
        let offered = server.offer(&workload, engine, stop);
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let Offered { outcome, cpu_cores, peak_rss_bytes, died } = match offered {
            Ok(offered) => offered,
            Err(why) => return failed(Outcome::Failed, why),
        };
        let mut measured = Measured {
            outcome: Outcome::Ok,
            reason: server.stop(),
            sample: sample(&outcome),
            marks: marks(&outcome, shared),
            ready_ms: Some(ready.as_secs_f64() * 1e3),
            log: Some(kept.clone()),
        };
        if !workload.warm_up.is_zero() && has_idle_connections(&outcome, workload.connections) {
            measured.marks.push(Mark::IdleConnections);
        }
        let warm_up = outcome.warm_up_errors.total();
        if warm_up > 0 && measured.reason.is_none() {
            let kinds = kinds(&outcome.warm_up_errors);
            measured.reason = Some(format!("{warm_up} requests failed in the warm-up ({kinds})"));
        }
        if let Some(cpu_cores) = cpu_cores {
            measured.sample.metrics.insert("cpu_cores".to_owned(), cpu_cores);
        }
        measured.sample.metrics.insert("peak_rss_bytes".to_owned(), peak_rss_bytes as f64);
        let wrong = outcome.errors.body + outcome.warm_up_errors.body;
        if wrong > 0 {
            let all = outcome.requests + outcome.warm_up_requests;
            let first = outcome.first_wrong.as_deref().unwrap_or_default();
            let why = format!("{wrong} of {all} answers were wrong, the first: {first}");
            (measured.outcome, measured.reason) = (Outcome::Disqualified, Some(why));
        } else if let Some(how) = died {
            let why = format!("it {how} under load; its log: {}", last_lines(&log));
            (measured.outcome, measured.reason) = (Outcome::Failed, Some(why));
        } else if outcome.ok == 0 {
            let why =
                format!("no right answer under load ({}): {}", kinds(&outcome.errors), last_lines(&log));
            (measured.outcome, measured.reason) = (Outcome::Failed, Some(why));
        }
        Some(measured)
    }
}

/// A contender that has been started.
struct Server<'a> {
    tree: Tree,
    port: u16,
    log: &'a Path,
    started: Instant,
}

struct Offered {
    outcome: load::Outcome,
    cpu_cores: Option<f64>,
    peak_rss_bytes: u64,
    /// How it ended, if it did not outlive the load.
    died: Option<String>,
}

impl<'a> Server<'a> {
    fn start(contender: &Ready, cores: &[usize], log: &'a Path) -> Result<Server<'a>, String> {
        let port = free_port()?;
        let env = [contender.env.as_slice(), &[("PORT".to_owned(), port.to_string())]].concat();
        let started = Instant::now();
        let spawn = Spawn { command: &contender.run, dir: &contender.folder, env: &env, cores, log };
        let tree = Tree::start(&spawn).map_err(|error| error.to_string())?;
        Ok(Server { tree, port, log, started })
    }

    /// Ends it. Returns what was wrong with how it ended, if anything was.
    fn stop(self) -> Option<String> {
        let ended = self.tree.stop(GRACE);
        match (ended.killed, ended.left_behind) {
            (true, _) => Some(format!("it ignored SIGTERM for {} s and was killed", GRACE.as_secs())),
            (false, 0) => None,
            (false, left) => {
                Some(format!("it ended and left {left} of its processes behind, which were killed"))
            }
        }
    }

    /// Waits until the server answers rightly. None if `stop` was set.
    fn wait_ready(
        &mut self,
        workload: &HttpWorkload,
        stop: &AtomicBool,
    ) -> Option<Result<Duration, (Outcome, String)>> {
        let mut probe = workload.probe(self.port);
        let mut wrong_since = None;
        loop {
            // A server that takes a connection and never answers must not outlast the limit.
            let left = READY_LIMIT.saturating_sub(self.started.elapsed());
            probe.timeout = probe.timeout.min(left.max(READY_INTERVAL));
            match self.tree.exited() {
                Ok(None) => {}
                Ok(Some(status)) => {
                    let why = format!(
                        "it {} before it was ready; its log: {}",
                        ended(status),
                        last_lines(self.log)
                    );
                    return Some(Err((Outcome::Failed, why)));
                }
                Err(error) => return Some(Err((Outcome::Failed, error.to_string()))),
            }
            let asked = probe.run(stop, &mut |_| {});
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let asked = match asked {
                Ok(outcome) if outcome.ok == 1 => return Some(Ok(self.started.elapsed())),
                Ok(outcome) => outcome,
                Err(error) => return Some(Err((Outcome::Failed, error.to_string()))),
            };
            if let Some(answer) = &asked.first_wrong {
                let since = *wrong_since.get_or_insert_with(Instant::now);
                if since.elapsed() > WRONG_LIMIT {
                    let wrong = if asked.errors.body > 0 { Outcome::Disqualified } else { Outcome::Failed };
                    let log = last_lines(self.log);
                    return Some(Err((wrong, format!("its answer is wrong ({answer}); its log: {log}"))));
                }
            }
            if self.started.elapsed() > READY_LIMIT {
                let (limit, errors) = (READY_LIMIT.as_secs(), kinds(&asked.errors));
                let log = last_lines(self.log);
                let why = format!(
                    "it gave no right answer on PORT within {limit} s (last: {errors}); its log: {log}"
                );
                return Some(Err((Outcome::Failed, why)));
            }
            std::thread::sleep(READY_INTERVAL);
        }
    }

    /// Offers the load, on a thread of its own on the engine's cores, while this one watches the server.
    fn offer(
        &mut self,
        workload: &HttpWorkload,
        cores: &[usize],
        stop: &AtomicBool,
    ) -> Result<Offered, String> {
        let load = workload.load(self.port);
        let window_ms = workload.duration.as_millis() as i64;
        let halt = AtomicBool::new(false);
        let (send, receive) = mpsc::channel();
        let began = Instant::now();
        let mut first: Option<(Instant, Usage)> = None;
        let mut last: Option<(Instant, Usage)> = None;
        let mut died = None;
        let outcome = std::thread::scope(|scope| {
            let (load, halt) = (&load, &halt);
            let engine = scope.spawn(move || {
                pin_thread(cores).map_err(|error| error.to_string())?;
                load.run(halt, &mut |event| {
                    if let load::Event::Interval(interval) = event {
                        let _ = send.send(interval.start_ms);
                    }
                })
                .map_err(|error| error.to_string())
            });
            loop {
                // CPU time is accounted from the end of the warm-up to that of the window's last interval.
                let to_warm = workload.warm_up.saturating_sub(began.elapsed());
                let waited = receive.recv_timeout(match first {
                    None => to_warm.min(Duration::from_millis(100)),
                    Some(_) => Duration::from_millis(100),
                });
                if matches!(waited, Err(RecvTimeoutError::Disconnected)) {
                    break;
                }
                if let Ok(Some(status)) = self.tree.exited() {
                    died = Some(ended(status));
                }
                if died.is_some() || stop.load(Ordering::Relaxed) {
                    halt.store(true, Ordering::Relaxed);
                }
                let in_window = match waited {
                    Ok(start_ms) => (-100..window_ms).contains(&start_ms),
                    Err(_) => first.is_none() && began.elapsed() >= workload.warm_up,
                };
                if in_window {
                    let now = (Instant::now(), self.tree.usage());
                    first.get_or_insert(now);
                    last = Some(now);
                }
            }
            engine.join().expect("the load engine does not panic")
        })?;
        let cpu_cores = first.zip(last.as_ref()).and_then(|((from, before), (to, after))| {
            let seconds = to.duration_since(from).as_secs_f64();
            (seconds > 0.0).then(|| (after.cpu.saturating_sub(before.cpu)).as_secs_f64() / seconds)
        });
        let peak_rss_bytes = last.map_or(0, |(_, usage)| usage.peak_rss_bytes);
        Ok(Offered { outcome, cpu_cores, peak_rss_bytes, died })
    }
}

/// Failures by kind, in words.
fn kinds(errors: &load::Errors) -> String {
    let found: Vec<String> = errors
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    if found.is_empty() { "no answer".to_owned() } else { found.join(", ") }
}
