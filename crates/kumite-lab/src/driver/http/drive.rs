//! Drives one load: the engine on its own threads, and from this one a look at the server ten times a second.
//!
//! CPU time and memory of the server are taken between the looks that are next to the window's ends, and noise of the
//! machine over the same time, so that a figure and its doubts are of one interval. The server is shared with the
//! engine by a lock, since a disturbance stops and resumes it. When the server ends, or writes too much, the load is
//! ended early and says why; when `stop` is set, it is ended, and the caller tells that from a failure.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use kumite_host::{Noise, Ours, Watch};
use kumite_load as load;
use kumite_process::Waits;

use super::INTERVAL_MS;
use super::server::Server;
use super::server_process::ServerProcess;
use super::settling::Settling;
use super::workload::HttpWorkload;
use crate::error::{Error, Fault};
use crate::halt::Halt;
use crate::service::Running;
use crate::work::NodeNoise;

const LOOK: Duration = Duration::from_millis(INTERVAL_MS);

/// A load that was offered to its end, with the server's use of the machine in the same time.
pub(crate) struct Driven {
    pub outcome: load::Outcome,
    looks: Vec<PollSample>,
    /// The same for each interval of the outcome, where it can be told.
    pub cpu_series: Vec<Option<f64>>,
    pub peak_rss_bytes: u64,
    /// The noise from outside, in the window.
    pub noise: Noise,
    /// The same of the server's node, if it has its own.
    pub server_noise: Option<NodeNoise>,
    /// The warm-up was to end in a steady state, and did not.
    pub unsettled: bool,
    /// The fault of the server that ended the load early; `None` if it went to its end.
    pub gone: Option<Error>,
}

/// A look at the server.
struct PollSample {
    /// When it was, since the window opened.
    when: f64,
    /// The same in the clock of the server's node, which no other is compared with.
    at: Duration,
    /// All CPU time that it had used until then.
    cpu: Duration,
    peak_rss_bytes: u64,
}

/// Drives the load from a thread on each of `cores`; the server has `server_cores`, which are none of this machine's if it
/// is on another node.
//
// Long, for what both threads do stands in one place: they share the server, and each tells the other to end.
pub(crate) fn drive(
    server: &mut Server,
    services: &mut Running,
    workload: &HttpWorkload,
    server_cores: &[usize],
    cores: &[usize],
    stop: &AtomicBool,
) -> Result<Driven, Halt> {
    let is_here = server.process.is_here();
    // Where the server may use every CPU, so may the engine's one thread.
    let shared = is_here && server_cores == cores;
    let cores_of_threads = if shared { Vec::new() } else { cores.to_vec() };
    let pace = if shared { load::Pace::Sleeping } else { load::Pace::Precise };
    let mut settling = Settling::new(workload);
    let opener = settling.opener.clone();
    let load = load::Load { cores: cores_of_threads, pace, opener, ..workload.load(server.address) };
    let halt = AtomicBool::new(false);
    let moves = AtomicBool::new(false);
    let (send, receive) = mpsc::channel();
    let mut gone = None;
    let mut looks = Vec::<PollSample>::new();
    let here = if is_here { server_cores } else { &[] };
    let all_cores = [here, cores].concat();
    let seconds = workload.duration.as_secs_f64();
    let mut machine = Window { cores: &all_cores, seconds, services, watch: None, noise: None };
    // The engine stops and resumes it, this thread looks at it.
    let process = Mutex::new(&mut server.process);
    let mut outcome = std::thread::scope(|scope| {
        let (load, halt, moves, process) = (&load, &halt, &moves, &process);
        // The warm-up counts from when the engine begins; what lies between is starting a thread.
        let began = Instant::now();
        let mut opens = began + workload.warm_up.most;
        let engine = scope.spawn(move || {
            load.run(halt, &mut |event| match event {
                load::Event::Interval(interval) => {
                    let _ = send.send(*interval);
                }
                load::Event::Pause => moves.store(!lock(process).pause(), Ordering::Relaxed),
                load::Event::Resume => lock(process).resume(),
            })
        });
        loop {
            match machine.look(lock(process).as_mut(), opens) {
                Ok(look) => looks.push(look),
                Err(why) => gone = gone.take().or(Some(why)),
            }
            if gone.is_some() || stop.load(Ordering::Relaxed) {
                halt.store(true, Ordering::Relaxed);
            }
            let sooner = match receive.recv_timeout(LOOK) {
                Ok(interval) => settling.take(&interval).map(|after| began + after),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Some(sooner) = sooner.filter(|sooner| *sooner < opens) {
                let by = (opens - sooner).as_secs_f64();
                looks.iter_mut().for_each(|look| look.when += by);
                opens = sooner;
            }
        }
        engine.join().expect("the load engine does not panic")
    })?;
    if moves.load(Ordering::Relaxed) {
        let why = "it could not be stopped for the disturbance: some of its processes went on";
        return Err(Halt::fault(why));
    }
    if let Some(steps) = &workload.steps {
        steps.recover(&mut outcome);
    }
    let window = outcome.elapsed.as_secs_f64();
    let last = looks.get(first_at(&looks, window)).or(looks.last());
    let peak_rss_bytes = last.map_or(0, |look| look.peak_rss_bytes);
    if machine.noise.is_none() {
        let process = server.process.as_mut();
        let used = process.look().map_or(Duration::ZERO, |look| Duration::from_nanos(look.cpu_ns));
        machine.end(process, used);
    }
    let cpu_series = outcome.intervals.iter().map(|interval| cpu_in(&looks, interval)).collect();
    let (noise, server_noise) = machine.noise.unwrap_or_default();
    let unsettled = settling.is_unsettled();
    Ok(Driven { looks, cpu_series, peak_rss_bytes, noise, server_noise, unsettled, gone, outcome })
}

impl Driven {
    /// CPU time from so many ms after the window's opening to its end, divided by time.
    pub fn cpu_cores(&self, from_ms: u64) -> Option<f64> {
        cpu_between(&self.looks, from_ms as f64 / 1e3, self.outcome.elapsed.as_secs_f64())
    }
}

/// An eye on the machine, from the last look before the window opens to the first one after it has closed.
struct Window<'a> {
    cores: &'a [usize],
    seconds: f64,
    services: &'a mut Running,
    /// With what the server and the services had used here, and how the server had waited, when it began.
    watch: Option<(Watch, Duration, Option<Waits>)>,
    noise: Option<(Noise, Option<NodeNoise>)>,
}

impl Window<'_> {
    /// An error says what is wrong with the server: it has ended, or writes too much.
    fn look(&mut self, server: &mut dyn ServerProcess, opens: Instant) -> Result<PollSample, Error> {
        let when = since(opens);
        let looked = server.look()?;
        if let Some(how) = looked.exited {
            let log = server.last_lines();
            return Err(Fault::new(format!("it {how} under load; its log: {log}")).into());
        }
        if let Some(too_much) = looked.too_much {
            return Err(Fault::new(too_much).into());
        }
        let cpu = Duration::from_nanos(looked.cpu_ns);
        match &self.watch {
            // The next look may be a little late.
            None if when + 1.5 * LOOK.as_secs_f64() >= 0.0 => {
                let (used, waits) = (self.used_here(server, cpu), server.waits());
                server.begin_watch()?;
                self.watch = Some((Watch::begin(self.cores), used, waits));
            }
            Some(_) if when >= self.seconds && self.noise.is_none() => self.end(server, cpu),
            _ => {}
        }
        let at = Duration::from_nanos(looked.at_ns);
        Ok(PollSample { when, at, cpu, peak_rss_bytes: looked.peak_rss_bytes })
    }

    /// Of a server on another node no CPU time was used here.
    fn used_here(&mut self, server: &dyn ServerProcess, cpu: Duration) -> Duration {
        self.services.cpu() + if server.is_here() { cpu } else { Duration::ZERO }
    }

    fn end(&mut self, server: &mut dyn ServerProcess, cpu: Duration) {
        let (used, now) = (self.used_here(server, cpu), server.waits());
        if let Some((watch, before, waits)) = &self.watch {
            let waited = now.zip(waits.as_ref()).map(|(now, then)| now.since(then));
            let noise = watch.end(&Ours { cpu: Some(used.saturating_sub(*before)), waited });
            // Should the node not answer now, the end of the trial fails by that.
            self.noise = Some((noise, server.end_watch().ok().flatten()));
        }
    }
}

/// A process that both threads talk to.
type Shared<'a> = Mutex<&'a mut Box<dyn ServerProcess>>;

fn lock<'a, 'b>(process: &'a Shared<'b>) -> std::sync::MutexGuard<'a, &'b mut Box<dyn ServerProcess>> {
    process.lock().expect("neither thread panics while it holds the process")
}

/// Seconds since then, below 0 before it.
fn since(then: Instant) -> f64 {
    let now = Instant::now();
    match now.checked_duration_since(then) {
        Some(after) => after.as_secs_f64(),
        None => -then.duration_since(now).as_secs_f64(),
    }
}

fn cpu_in(looks: &[PollSample], interval: &load::Interval) -> Option<f64> {
    let start = interval.start_ms as f64 / 1e3;
    cpu_between(looks, start, start + LOOK.as_secs_f64())
}

/// The position of the first look at or after a moment.
fn first_at(looks: &[PollSample], moment: f64) -> usize {
    looks.partition_point(|look| look.when < moment)
}

/// CPU time a second between two moments, from the looks that are next to them: the first at or after each, but for the
/// last look, which may be a little early.
fn cpu_between(looks: &[PollSample], from: f64, to: f64) -> Option<f64> {
    let before = looks.get(first_at(looks, from))?;
    let after = looks.get(first_at(looks, to)).or(looks.last())?;
    let time = after.at.saturating_sub(before.at);
    let used = || after.cpu.saturating_sub(before.cpu).as_secs_f64() / time.as_secs_f64();
    (time > LOOK / 4).then(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_is_accounted_between_the_looks_next_to_two_moments() {
        // A look every 100 ms, a little late; half a core before the window opens, a whole one after.
        let look = |nth: i32| {
            let when = f64::from(nth) / 10.0 + 0.01;
            let cpu = if nth < 0 { 5.0 + when * 0.5 } else { 5.005 + when - 0.01 };
            // The clock of its node, which had another beginning.
            let at = Duration::from_secs_f64(when + 100.0);
            PollSample { when, at, cpu: Duration::from_secs_f64(cpu), peak_rss_bytes: 0 }
        };
        let looks: Vec<PollSample> = (-10..=10).map(look).collect();
        let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-6;
        assert!(close(cpu_between(&looks, 0.0, 1.0), 1.0));
        assert!(close(cpu_between(&looks, -0.5, -0.2), 0.5));
        // The last look is all there is of the end.
        assert!(close(cpu_between(&looks, 0.5, 1.1), 1.0));
        assert_eq!(cpu_between(&looks, 1.5, 2.0), None);
        assert_eq!(cpu_between(&[], 0.0, 1.0), None);
    }
}
