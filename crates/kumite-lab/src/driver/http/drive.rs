//! Drives one load. The engine runs on threads of its own; this thread looks at the server ten times a second.
//!
//! For CPU time over an interval, the first look at or after its start is subtracted from the first look at or after
//! its end. Peak memory is the highest reading up to the window's end. Noise of the machine is measured over the
//! window, so that a figure and its doubts belong together. The server is shared with the engine by a lock, since a
//! disturbance stops and resumes it. When the server ends, writes too much, or cannot be looked at, the load is ended
//! early, and `gone` says why. Setting `stop` ends the load too. The result does not tell that, so the caller has to
//! check `stop` itself.

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

/// The outcome of a load, with the server's use of the machine in the same time.
pub(crate) struct Driven {
    pub outcome: load::Outcome,
    looks: Vec<PollSample>,
    /// The CPU cores that the server used in each interval of the outcome. None for an interval that the looks do not
    /// cover.
    pub cpu_series: Vec<Option<f64>>,
    /// The highest memory of the server up to the window's end, in bytes; 0 if it could never be looked at.
    pub peak_rss_bytes: u64,
    /// Noise from outside on this machine during the window; none at all if the load ended before the window opened.
    pub noise: Noise,
    /// Noise on the server's node during the window. None if the server is on this machine, its node could not be
    /// watched, or the load ended before the window opened.
    pub server_noise: Option<NodeNoise>,
    /// True if the warm-up was to end in a steady state, and did not.
    pub unsettled: bool,
    /// The fault that ended the load early: the server's, or a lost connection to its node. None if the load went to
    /// its end, or `stop` ended it.
    pub gone: Option<Error>,
}

/// One look at the server's processes.
struct PollSample {
    /// The time of the look in seconds since the window opened; negative before.
    when: f64,
    /// The time of the look on the clock of the server's node. It can only be compared with other readings of that
    /// clock.
    at: Duration,
    /// The CPU time that the server had used until the look.
    cpu: Duration,
    peak_rss_bytes: u64,
}

/// Drives the load from a thread on each of `cores`, or from one thread if the server has the same CPUs. The server has
/// `server_cores`, which are CPUs of its node. `seed` chooses the answers for the checker. An error if the engine
/// cannot offer the load, or if the server could not be stopped for a disturbance. A server that ends is no error:
/// `gone` says so.
//
// This function is long because it keeps together what both threads do: they share the server, and each tells the
// other to end. `stop` is the caller's; `halt` ends the engine.
pub(crate) fn drive(
    server: &mut Server,
    services: &mut Running,
    workload: &HttpWorkload,
    server_cores: &[usize],
    cores: &[usize],
    seed: u64,
    stop: &AtomicBool,
) -> Result<Driven, Halt> {
    let is_here = server.process.is_here();
    // If the server may use all CPUs, the engine has one thread, which may use them too.
    let shared = is_here && server_cores == cores;
    let cores_of_threads = if shared { Vec::new() } else { cores.to_vec() };
    let pace = if shared { load::Pace::Sleeping } else { load::Pace::Precise };
    let mut settling = Settling::new(workload);
    let opener = settling.opener.clone();
    let sampling = workload.sampling(seed);
    let load = load::Load { cores: cores_of_threads, pace, opener, sampling, ..server.load(workload) };
    let halt = AtomicBool::new(false);
    let pause_failed = AtomicBool::new(false);
    let (send, receive) = mpsc::channel();
    let mut gone = None;
    let mut looks = Vec::<PollSample>::new();
    let here = if is_here { server_cores } else { &[] };
    let all_cores = [here, cores].concat();
    let seconds = workload.duration.as_secs_f64();
    let mut machine = Window { cores: &all_cores, seconds, services, watch: None, noise: None };
    // The engine stops and resumes the process, and this thread looks at it.
    let process = Mutex::new(&mut server.process);
    let mut outcome = std::thread::scope(|scope| {
        let (load, halt, pause_failed, process) = (&load, &halt, &pause_failed, &process);
        // The warm-up counts from when the engine begins. That is a little after `began`: a thread has to start first.
        let began = Instant::now();
        let mut opens = began + workload.warm_up.most;
        let engine = scope.spawn(move || {
            load.run(halt, &mut |event| match event {
                load::Event::Interval(interval) => {
                    let _ = send.send(*interval);
                }
                load::Event::Pause => pause_failed.store(!lock(process).pause(), Ordering::Relaxed),
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
    if pause_failed.load(Ordering::Relaxed) {
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
    /// The mean number of cores that the server used from `from_ms` after the window opened until it closed. None if
    /// there are too few looks in that time.
    pub fn cpu_cores(&self, from_ms: u64) -> Option<f64> {
        cpu_between(&self.looks, from_ms as f64 / 1e3, self.outcome.elapsed.as_secs_f64())
    }
}

/// A watch on the machine's noise, from a look shortly before the window opens to the first one after it has closed.
struct Window<'a> {
    cores: &'a [usize],
    seconds: f64,
    services: &'a mut Running,
    /// The watch, and the readings at its start: the CPU time that the server and the services had used on this
    /// machine until then, and the server's waits. None before the start.
    watch: Option<(Watch, Duration, Option<Waits>)>,
    /// The noise on this machine, and on the server's node if it has one of its own. None before the watch has ended.
    noise: Option<(Noise, Option<NodeNoise>)>,
}

impl Window<'_> {
    /// Looks at the server. An error says why the load cannot go on: the server has ended, has written too much to
    /// its log, or its node does not answer.
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
            // The next look may be half a period late and miss the opening, so the watch begins at this one.
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

    /// The CPU time that the services and the server have used on this machine. A server on another node used none of
    /// it.
    fn used_here(&mut self, server: &dyn ServerProcess, cpu: Duration) -> Duration {
        self.services.cpu() + if server.is_here() { cpu } else { Duration::ZERO }
    }

    fn end(&mut self, server: &mut dyn ServerProcess, cpu: Duration) {
        let (used, now) = (self.used_here(server, cpu), server.waits());
        if let Some((watch, before, waits)) = &self.watch {
            let waited = now.zip(waits.as_ref()).map(|(now, then)| now.since(then));
            let noise = watch.end(&Ours { cpu: Some(used.saturating_sub(*before)), waited });
            // If the node does not answer, its noise stays unknown here. The trial then fails at its end, because the
            // node is lost.
            self.noise = Some((noise, server.end_watch().ok().flatten()));
        }
    }
}

/// The server's process, shared by the two threads that talk to it.
type Shared<'a> = Mutex<&'a mut Box<dyn ServerProcess>>;

fn lock<'a, 'b>(process: &'a Shared<'b>) -> std::sync::MutexGuard<'a, &'b mut Box<dyn ServerProcess>> {
    process.lock().expect("neither thread panics while it holds the process")
}

/// Seconds since `then`; negative if `then` is still to come.
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

/// CPU time a second between two moments, in cores. For each moment the first look at or after it is taken; if there
/// is none for `to`, the last look, which may be a little early. None if there is none for `from`, or the two looks
/// are too near to each other.
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
