//! Load on one thread, and an eye on the server from another.

use std::path::Path;
use std::process::ExitStatus;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use kumite_host::{Noise, Ours, Watch};
use kumite_load as load;
use kumite_process::{Tree, Usage, Waits};

use super::INTERVAL_MS;
use super::server::Server;
use super::settling::Settling;
use super::workload::HttpWorkload;
use crate::driver::log::{check_size, last_lines};
use crate::service::Running;
use kumite_process::how_it_ended;

const LOOK: Duration = Duration::from_millis(INTERVAL_MS);

/// What a load brought, and what the server used meanwhile.
pub(crate) struct Driven {
    pub outcome: load::Outcome,
    looks: Vec<Look>,
    /// The same for each interval of the outcome, where it can be told.
    pub cpu_series: Vec<Option<f64>>,
    pub peak_rss_bytes: u64,
    /// What came from outside in the window.
    pub noise: Noise,
    /// Whether the warm-up was to end in a steady state, and did not.
    pub unsettled: bool,
    /// What was wrong with it, if the load was ended for that.
    pub gone: Option<String>,
}

/// A look at the server: when, since the window opened, and what it had used until then.
type Look = (f64, Usage);

/// Drives the load from a thread on each of `cores`; the server has `server_cores`.
//
// Long, for what both threads do stands in one place: they share the server, and each tells the other to end.
pub(crate) fn drive(
    server: &mut Server,
    services: &mut Running,
    workload: &HttpWorkload,
    server_cores: &[usize],
    cores: &[usize],
    stop: &AtomicBool,
) -> Result<Driven, String> {
    // Where the server may use every CPU, so may the engine's one thread.
    let shared = server_cores == cores;
    let cores_of_threads = if shared { Vec::new() } else { cores.to_vec() };
    let pace = if shared { load::Pace::Sleeping } else { load::Pace::Precise };
    let mut settling = Settling::of(workload);
    let opener = settling.opener.clone();
    let load = load::Load { cores: cores_of_threads, pace, opener, ..workload.load(server.address) };
    let halt = AtomicBool::new(false);
    let moves = AtomicBool::new(false);
    let (send, receive) = mpsc::channel();
    let mut gone = None;
    let mut looks = Vec::<Look>::new();
    let all_cores = [server_cores, cores].concat();
    let seconds = workload.duration.as_secs_f64();
    let mut machine = Window { cores: &all_cores, seconds, services, watch: None, noise: None };
    let log = &server.log;
    // The engine stops and resumes it, this thread looks at it.
    let tree = Mutex::new(&mut server.tree);
    let mut outcome = std::thread::scope(|scope| {
        let (load, halt, moves, tree) = (&load, &halt, &moves, &tree);
        // The warm-up counts from when the engine begins; what lies between is starting a thread.
        let began = Instant::now();
        let mut opens = began + workload.warm_up.most;
        let engine = scope.spawn(move || {
            load.run(halt, &mut |event| match event {
                load::Event::Interval(interval) => {
                    let _ = send.send(*interval);
                }
                load::Event::Pause => moves.store(!lock(tree).pause(), Ordering::Relaxed),
                load::Event::Resume => lock(tree).resume(),
            })
            .map_err(|error| error.to_string())
        });
        loop {
            let exited = lock(tree).exited().ok().flatten();
            gone = gone.take().or_else(|| why_gone(exited, log));
            if gone.is_some() || stop.load(Ordering::Relaxed) {
                halt.store(true, Ordering::Relaxed);
            }
            looks.push(machine.look(&mut lock(tree), opens));
            let sooner = match receive.recv_timeout(LOOK) {
                Ok(interval) => settling.take(&interval).map(|after| began + after),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Some(sooner) = sooner.filter(|sooner| *sooner < opens) {
                let by = (opens - sooner).as_secs_f64();
                looks.iter_mut().for_each(|(when, _)| *when += by);
                opens = sooner;
            }
        }
        engine.join().expect("the load engine does not panic")
    })?;
    if moves.load(Ordering::Relaxed) {
        return Err("it could not be stopped for the disturbance: some of its processes went on".to_owned());
    }
    if let Some(steps) = &workload.steps {
        steps.recover(&mut outcome);
    }
    let window = outcome.elapsed.as_secs_f64();
    let last = looks.get(first_at(&looks, window)).or(looks.last());
    let peak_rss_bytes = last.map_or(0, |(_, usage)| usage.peak_rss_bytes);
    if machine.noise.is_none() {
        let usage = server.tree.usage();
        machine.end(&server.tree, &usage);
    }
    let cpu_series = outcome.intervals.iter().map(|interval| cpu_in(&looks, interval)).collect();
    let (noise, unsettled) = (machine.noise.unwrap_or_default(), settling.is_unsettled());
    Ok(Driven { looks, cpu_series, peak_rss_bytes, noise, unsettled, gone, outcome })
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
    /// With what the server and the services had used, and how the server had waited, when it began.
    watch: Option<(Watch, Duration, Waits)>,
    noise: Option<Noise>,
}

impl Window<'_> {
    fn look(&mut self, tree: &mut Tree, opens: Instant) -> Look {
        let (when, usage) = (since(opens), tree.usage());
        match &self.watch {
            // The next look may be a little late.
            None if when + 1.5 * LOOK.as_secs_f64() >= 0.0 => {
                let cpu = usage.cpu + self.services.cpu();
                self.watch = Some((Watch::begin(self.cores), cpu, tree.waits()));
            }
            Some(_) if when >= self.seconds && self.noise.is_none() => self.end(tree, &usage),
            _ => {}
        }
        (when, usage)
    }

    fn end(&mut self, tree: &Tree, usage: &Usage) {
        if let Some((watch, cpu, waits)) = &self.watch {
            let used = usage.cpu + self.services.cpu();
            let (cpu, waited) = (used.saturating_sub(*cpu), tree.waits().since(waits));
            self.noise = Some(watch.end(&Ours { cpu: Some(cpu), waited: Some(waited) }));
        }
    }
}

fn lock<'a, 'b>(tree: &'a Mutex<&'b mut Tree>) -> std::sync::MutexGuard<'a, &'b mut Tree> {
    tree.lock().expect("neither thread panics while it holds the tree")
}

/// What is wrong with a server that has ended, or that writes too much.
fn why_gone(exited: Option<ExitStatus>, log: &Path) -> Option<String> {
    let died =
        exited.map(|status| format!("it {} under load; its log: {}", how_it_ended(status), last_lines(log)));
    died.or_else(|| check_size(log))
}

/// Seconds since then, below 0 before it.
fn since(then: Instant) -> f64 {
    let now = Instant::now();
    match now.checked_duration_since(then) {
        Some(after) => after.as_secs_f64(),
        None => -then.duration_since(now).as_secs_f64(),
    }
}

fn cpu_in(looks: &[Look], interval: &load::Interval) -> Option<f64> {
    let start = interval.start_ms as f64 / 1e3;
    cpu_between(looks, start, start + LOOK.as_secs_f64())
}

/// The position of the first look at or after a moment.
fn first_at(looks: &[Look], moment: f64) -> usize {
    looks.partition_point(|(when, _)| *when < moment)
}

/// CPU time a second between two moments, from the looks that are next to them: the first at or after each, but for the
/// last look, which may be a little early.
fn cpu_between(looks: &[Look], from: f64, to: f64) -> Option<f64> {
    let (from, before) = looks.get(first_at(looks, from))?;
    let (to, after) = looks.get(first_at(looks, to)).or(looks.last())?;
    let seconds = to - from;
    (seconds > LOOK.as_secs_f64() / 4.0).then(|| after.cpu.saturating_sub(before.cpu).as_secs_f64() / seconds)
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
            (when, Usage { cpu: Duration::from_secs_f64(cpu), ..Usage::default() })
        };
        let looks: Vec<Look> = (-10..=10).map(look).collect();
        let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-6;
        assert!(close(cpu_between(&looks, 0.0, 1.0), 1.0));
        assert!(close(cpu_between(&looks, -0.5, -0.2), 0.5));
        // The last look is all there is of the end.
        assert!(close(cpu_between(&looks, 0.5, 1.1), 1.0));
        assert_eq!(cpu_between(&looks, 1.5, 2.0), None);
        assert_eq!(cpu_between(&[], 0.0, 1.0), None);
    }
}
