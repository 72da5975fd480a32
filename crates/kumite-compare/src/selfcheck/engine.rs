//! The self-check of the load engine, against servers that record what they did.
//!
//! Both sides time every request: the engine's response time is the server's time and the way there and back. So each
//! percentile of the engine's is at least the server's, and is longer by what the way took.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use kumite_host::{Ours, Watch, cores};
use kumite_load::{Limit, Load, Outcome};
use kumite_process::available_cores;
use kumite_record::{EngineCheck, EngineFigure, Mark};

use super::Check;
use super::server::{Behaviour, Server};
use super::servers::{load, started};
use crate::compare::CompareError;

const CONNECTIONS: usize = 4;
/// The number of requests, so that ten lie beyond the 99th percentile.
const REQUESTS: u64 = 1_000;
const FAST: Duration = Duration::from_millis(1);
const SLOW: Duration = Duration::from_millis(20);
const SLOW_EVERY: u64 = 10;
const STALL: Duration = Duration::from_millis(300);
const TRIES: usize = 3;

/// The least ratio of the engine's time to the server's: the engine's histogram has three digits.
const LEAST: f64 = 0.998;
/// The share of a time that the way between server and engine may add to it.
const MORE: f64 = 0.02;
/// The microseconds that the way between server and engine may add to a percentile, besides [`MORE`].
const WAY_US: f64 = 500.0;
/// The microseconds that the way may add to the longest time, in place of [`WAY_US`]: one late wake-up is enough for
/// them.
const LONGEST_WAY_US: f64 = 5_000.0;

/// A server with two response times: nine of ten answers after 1 ms, the tenth after 20 ms.
struct TwoModes(Log);

/// A server that answers after 1 ms, but at one request stops all answers for 300 ms.
struct Stalls {
    log: Log,
    at: u64,
    gate: Mutex<()>,
}

/// A record of the time from each request to its answer.
#[derive(Default)]
struct Log(Mutex<Vec<Duration>>);

impl Log {
    fn add(&self, after: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(after);
    }

    fn take(&self) -> Vec<Duration> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Behaviour for TwoModes {
    fn before_answer(&self, nth: u64) {
        sleep(if nth.is_multiple_of(SLOW_EVERY) { SLOW } else { FAST });
    }

    fn answered(&self, after: Duration) {
        self.0.add(after);
    }
}

impl Behaviour for Stalls {
    fn before_answer(&self, nth: u64) {
        let open = self.gate.lock();
        if nth == self.at {
            sleep(STALL);
        }
        drop(open);
        sleep(FAST);
    }

    fn answered(&self, after: Duration) {
        self.log.add(after);
    }
}

impl Check<'_> {
    /// Checks the engine against two servers. If figures disagree the check is tried again: a machine that held up an
    /// answer does not do so each time, but an engine that counts wrong does.
    pub(super) fn engine(&mut self, found: &mut Vec<EngineCheck>) -> Result<(), CompareError> {
        (self.watch)("the load engine against a server with two modes");
        let two_modes = TwoModes(Log::default());
        let what = "nine of ten answers after 1 ms, the tenth after 20 ms";
        found.push(self.tried(what, Arc::new(two_modes), |server| server.0.take(), SLOW / 2)?);
        (self.watch)("the load engine against a server that stalls");
        let stalls = Stalls { log: Log::default(), at: REQUESTS / 2, gate: Mutex::new(()) };
        let what = "answers after 1 ms, and once stops for 300 ms";
        found.push(self.tried(what, Arc::new(stalls), |server| server.log.take(), STALL / 2)?);
        Ok(())
    }

    fn tried<B: Behaviour>(
        &self,
        what: &str,
        behaviour: Arc<B>,
        said: impl Fn(&B) -> Vec<Duration>,
        slow: Duration,
    ) -> Result<EngineCheck, CompareError> {
        let mut check = EngineCheck { server: what.to_owned(), ..EngineCheck::default() };
        let (cores, mut found) = (cores(), Vec::new());
        while found.len() < TRIES && !found.contains(&Some(true)) {
            self.go_on()?;
            let watch = Watch::begin(&available_cores());
            let outcome = offered(&cores.contender, &cores.engine, &behaviour, self.stop)?;
            // Server and engine are this process, which the watch knows.
            check.marks = watch.end(&Ours { cpu: Some(Duration::ZERO), waited: None }).marks;
            check.requests = outcome.requests;
            check.figures = compared(&said(&behaviour), &outcome, slow);
            found.push(truthful(&check.figures, &check.marks));
        }
        check.tries = found.len();
        check.truthful = all_alike(&found);
        Ok(check)
    }
}

/// `true` if all figures agree, `false` if not. `None` if it cannot be told: all wrong figures are too large, and
/// noise marked the measurement.
fn truthful(figures: &[EngineFigure], marks: &[Mark]) -> Option<bool> {
    let excused = |figure: &EngineFigure| !marks.is_empty() && figure.too_much();
    if figures.iter().all(EngineFigure::agrees) {
        return Some(true);
    }
    if figures.iter().all(|figure| figure.agrees() || excused(figure)) { None } else { Some(false) }
}

/// The answer from all tries, of which only the last may have agreed: `true` if it did, `false` if each was clearly
/// wrong, otherwise `None`.
fn all_alike(found: &[Option<bool>]) -> Option<bool> {
    match found.last() {
        Some(Some(true)) => Some(true),
        _ if found.iter().all(|of| *of == Some(false)) => Some(false),
        _ => None,
    }
}

fn offered<B: Behaviour>(
    server_cores: &[usize],
    engine_cores: &[usize],
    behaviour: &Arc<B>,
    stop: &AtomicBool,
) -> Result<Outcome, CompareError> {
    let server = started(Server::start(server_cores, Arc::clone(behaviour)))?;
    let limit = Limit { requests: Some(REQUESTS), duration: None };
    let load = Load { connections: CONNECTIONS, cores: engine_cores.to_vec(), ..load(&server, limit) };
    let outcome = load
        .run_watched(stop, &mut |_| {})
        .map_err(|source| CompareError::Load { url: format!("http://{}/", server.addr), source })?;
    match outcome.stopped {
        true => Err(CompareError::Interrupted),
        false => Ok(outcome),
    }
}

/// The server's figures beside the engine's, with the range in which the engine's may lie. An answer that took longer
/// than `slow` counts as slow.
fn compared(server: &[Duration], engine: &Outcome, slow: Duration) -> Vec<EngineFigure> {
    let mut server: Vec<f64> = server.iter().map(|after| after.as_secs_f64() * 1e6).collect();
    server.sort_unstable_by(f64::total_cmp);
    let nearest = |quantile: f64| {
        let rank = (quantile * server.len() as f64).ceil() as usize;
        server.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    };
    let time = |name: &str, quantile: f64, way_us: f64| {
        let did = nearest(quantile);
        EngineFigure {
            name: name.to_owned(),
            server: did,
            engine: engine.response.value_at_quantile(quantile) as f64 / 1e3,
            least: did * LEAST,
            most: did * (1.0 + MORE) + way_us,
        }
    };
    let exactly = |name: &str, server: usize, engine: u64| {
        let server = server as f64;
        EngineFigure { name: name.to_owned(), server, engine: engine as f64, least: server, most: server }
    };
    let slow_us = slow.as_secs_f64() * 1e6;
    let slow_here = server.iter().filter(|after| **after > slow_us).count();
    let slow_there = engine.response.len() - engine.response.count_between(0, slow.as_nanos() as u64);
    vec![
        exactly("right_answers", server.len(), engine.ok),
        time("p50_us", 0.5, WAY_US),
        time("p99_us", 0.99, WAY_US),
        time("max_us", 1.0, LONGEST_WAY_US),
        exactly("slow_answers", slow_here, slow_there),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn names(figures: &[EngineFigure]) -> Vec<&str> {
        figures.iter().filter(|figure| !figure.agrees()).map(|figure| &*figure.name).collect()
    }

    /// The outcome of an engine that did its work, with a server that did this: each answer a little later.
    fn seen(did: &[Duration]) -> Outcome {
        let mut outcome = Outcome { requests: did.len() as u64, ok: did.len() as u64, ..Outcome::default() };
        let way = Duration::from_secs_f64(WAY_US / 2e6);
        did.iter().for_each(|after| outcome.response.record((*after + way).as_nanos() as u64).unwrap());
        outcome
    }

    fn two_modes() -> Vec<Duration> {
        (1..=REQUESTS).map(|nth| if nth.is_multiple_of(SLOW_EVERY) { SLOW } else { FAST }).collect()
    }

    #[test]
    fn a_server_that_lies_about_what_it_did_is_found_out() {
        let did = two_modes();
        let outcome = seen(&did);
        let told = |lie: fn(usize, Duration) -> Option<Duration>| {
            let told: Vec<Duration> =
                did.iter().enumerate().filter_map(|(nth, after)| lie(nth, *after)).collect();
            names(&compared(&told, &outcome, SLOW / 2)).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(told(|_, after| Some(after)), [""; 0], "the truth");
        // It says that it was slower, that it was quicker, and that it answered one fewer than it did.
        assert_eq!(told(|_, after| Some(after * 20)), ["p50_us", "p99_us", "max_us", "slow_answers"]);
        let quicker = told(|_, after| Some(if after > SLOW / 2 { after / 20 } else { after }));
        assert_eq!(quicker, ["p99_us", "max_us", "slow_answers"]);
        assert_eq!(told(|nth, after| (nth > 0).then_some(after)), ["right_answers"]);
    }

    #[test]
    fn a_stall_is_seen_by_all_who_wait() {
        let waited = |nth: u64| if nth < CONNECTIONS as u64 { STALL } else { FAST };
        let did: Vec<Duration> = (0..REQUESTS).map(waited).collect();
        assert_eq!(names(&compared(&did, &seen(&did), STALL / 2)), [""; 0]);
        // An engine that left out what took so long, as one does that stops its clock for a stall.
        let blind: Vec<Duration> = did.iter().map(|after| (*after).min(2 * FAST)).collect();
        assert_eq!(names(&compared(&did, &seen(&blind), STALL / 2)), ["max_us", "slow_answers"]);
    }

    /// On sockets only counts are looked at: times are the machine's.
    #[test]
    fn engine_and_server_count_alike() {
        let server = Arc::new(TwoModes(Log::default()));
        let outcome = offered(&cores().contender, &cores().engine, &server, &NEVER).unwrap();
        let did = server.0.take();
        assert_eq!((did.len(), outcome.ok), (1_000, 1_000));
        assert!(did.iter().filter(|after| **after >= SLOW).count() >= 100, "every tenth is slow");
        assert!(!names(&compared(&did, &outcome, SLOW / 2)).contains(&"right_answers"));
    }

    #[test]
    #[ignore = "timing"]
    fn the_engine_sees_what_servers_do() {
        let two_modes = Arc::new(TwoModes(Log::default()));
        let outcome = offered(&cores().contender, &cores().engine, &two_modes, &NEVER).unwrap();
        let did = two_modes.0.take();
        assert_eq!(names(&compared(&did, &outcome, SLOW / 2)), [""; 0]);
        let stalls = Arc::new(Stalls { log: Log::default(), at: REQUESTS / 2, gate: Mutex::new(()) });
        let outcome = offered(&cores().contender, &cores().engine, &stalls, &NEVER).unwrap();
        let did = stalls.log.take();
        assert_eq!(did.iter().filter(|after| **after > STALL / 2).count(), CONNECTIONS);
        assert_eq!(names(&compared(&did, &outcome, STALL / 2)), [""; 0]);
    }

    #[test]
    fn what_disturbs_the_machine_excuses_lateness_and_nothing_else() {
        let figure = |engine| EngineFigure { engine, least: 1.0, most: 2.0, ..EngineFigure::default() };
        let marked = [Mark::OtherProcesses];
        assert_eq!(truthful(&[figure(1.5)], &[]), Some(true));
        assert_eq!(truthful(&[figure(1.5), figure(2.5)], &[]), Some(false));
        assert_eq!(truthful(&[figure(1.5), figure(2.5)], &marked), None);
        assert_eq!(truthful(&[figure(0.5), figure(2.5)], &marked), Some(false));
        assert_eq!(all_alike(&[Some(false), None, Some(true)]), Some(true));
        assert_eq!(all_alike(&[Some(false), None, Some(false)]), None);
        assert_eq!(all_alike(&[Some(false); TRIES]), Some(false));
    }

    #[test]
    fn a_figure_agrees_between_its_bounds_and_nowhere_else() {
        let figure = |engine| EngineFigure { engine, least: 99.8, most: 110.0, ..EngineFigure::default() };
        assert!([99.8, 105.0, 110.0].into_iter().all(|engine| figure(engine).agrees()));
        assert!(![99.7, 110.1, f64::NAN].into_iter().any(|engine| figure(engine).agrees()));
    }
}
