//! The threads of a load: one for each CPU, each with an engine of its own and an equal part of the load.
//!
//! Engines share only the instant at which they begin, the flag that stops them and, in a warm-up, the handle that
//! may open the window sooner. Each gives away its counts every tenth of a second, and one aggregate makes a single
//! outcome of them. If the engines have threads of their own, the calling thread aggregates.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::sync::{Barrier, OnceLock, mpsc};
use std::time::{Duration, Instant};

use kumite_limits::RealTime;
use rustix::io::Errno;

use crate::engine::Engine;
use crate::engine::duty::Duty;
use crate::engine::opening::is_local_shortage;
use crate::protocol::layers::Dialect;
use crate::record::aggregate::{Aggregate, EngineEvent, IntervalCounts};
use crate::request::source::RequestSource;
use crate::transport::epoll::Epoll;
use crate::transport::uring::Uring;
use crate::{Error, Event, Io, Load, Outcome};

/// The largest share of the time for which a thread with real-time priority may be awake. A thread that is awake for
/// longer gets no such priority, because it would keep all others from its CPU.
const MOSTLY: f64 = 0.9;

pub(crate) fn run(load: &Load, stop: &AtomicBool, on_event: &mut dyn FnMut(Event)) -> Result<Outcome, Error> {
    let (requests, dialect) = (RequestSource::new(load)?, Dialect::new(load)?);
    let burst = load.disturbance.map_or(0, |disturbance| disturbance.connections());
    kumite_limits::make_room(load.connections.saturating_add(burst).saturating_add(load.idle_connections))?;
    let threads = Threads { load, requests, dialect, count: load.threads() };
    let mut aggregate = Aggregate::new(threads.count, load.arrivals.is_some(), on_event);
    // With a disturbance the engine calls `on_event` itself: the server must be stopped when that returns, not some
    // time later.
    let outcomes = if load.cores.is_empty() || load.disturbance.is_some() {
        vec![threads.run_one(0, stop, &mut |event| aggregate.take(event), &Instant::now)?]
    } else {
        threads.run_all(stop, &mut aggregate)?
    };
    Ok(aggregate.finish(outcomes, load.pace))
}

struct Threads<'a> {
    load: &'a Load,
    requests: RequestSource,
    dialect: Dialect,
    count: usize,
}

impl Threads<'_> {
    /// Runs all threads, and aggregates in the calling thread, because that takes longer than requests can wait. All
    /// engines begin at the same instant, which is when the last one is ready.
    fn run_all(&self, stop: &AtomicBool, aggregate: &mut Aggregate) -> Result<Vec<Outcome>, Error> {
        let (ready, began) = (Barrier::new(self.count), OnceLock::new());
        let (send, receive) = mpsc::channel::<IntervalCounts>();
        std::thread::scope(|scope| {
            let run = |thread| {
                let (send, ready, began) = (send.clone(), &ready, &began);
                scope.spawn(move || {
                    let mut tell = |event: EngineEvent| {
                        // Pause and Resume are told only by the one thread of a load with a disturbance.
                        if let EngineEvent::Interval(counts) = event {
                            let _ = send.send(counts.clone());
                        }
                    };
                    let waited = Cell::new(false);
                    let start = || {
                        waited.set(true);
                        ready.wait();
                        *began.get_or_init(Instant::now)
                    };
                    let outcome = self.run_one(thread, stop, &mut tell, &start);
                    if !waited.get() {
                        // It failed before it was ready, and the others wait at the barrier.
                        ready.wait();
                    }
                    outcome
                })
            };
            let threads: Vec<_> = (0..self.count).map(run).collect();
            drop(send);
            for counts in receive {
                aggregate.take(EngineEvent::Interval(&counts));
            }
            threads.into_iter().map(|thread| thread.join().expect("the load engine does not panic")).collect()
        })
    }

    /// Runs one thread's part of the load in the calling thread.
    fn run_one(
        &self,
        thread: usize,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(EngineEvent),
        start: &dyn Fn() -> Instant,
    ) -> Result<Outcome, Error> {
        let Threads { load, requests, dialect, count } = self;
        let duty = Duty::of_thread(load, requests, dialect, thread, *count);
        if let Some(&core) = load.cores.get(thread) {
            pin(core)?;
        }
        // Real-time priority only where CPUs were given to the engine: there it keeps nobody from them.
        let time = load.limit.duration.unwrap_or(Duration::from_secs(1));
        let rate = load.arrivals.as_ref().map(|arrivals| arrivals.mean_rate(time) / *count as f64);
        let sleeps = rate.is_some_and(|rate| load.pace.awake(rate) < MOSTLY);
        let priority = (sleeps && !load.cores.is_empty()).then(RealTime::take).flatten();
        let outcome = engine(load, duty, requests.of_thread(thread, *count), stop, tell, start)?;
        Ok(Outcome { real_time: priority.is_some(), ..outcome })
    }
}

fn engine(
    load: &Load,
    duty: Duty,
    requests: RequestSource,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(EngineEvent),
    start: &dyn Fn() -> Instant,
) -> Result<Outcome, Error> {
    let (io, address, connections) = (load.io, requests.address.clone(), duty.all_connections());
    let fixed = requests.fixed.clone();
    let place = address.to_string();
    let wait = |io| {
        let place = place.clone();
        move |error: Errno| match error {
            Errno::ADDRNOTAVAIL => Error::NoPort { place },
            error if is_local_shortage(error) => Error::NoDescriptor { place, source: error.into() },
            error => Error::Wait { io, source: error.into() },
        }
    };
    if io != Io::Epoll {
        match Uring::new(address.clone(), fixed.clone(), connections) {
            Ok(uring) => {
                let outcome = Engine::new(load, duty, requests, uring, Instant::now(), tell).run(stop, start);
                return outcome.map(|outcome| Outcome { io: Io::Uring, ..outcome }).map_err(wait(Io::Uring));
            }
            Err(error) if io == Io::Uring => return Err(Error::Uring(error)),
            Err(_) => {}
        }
    }
    let epoll = Epoll::new(address.clone(), fixed, connections).map_err(wait(Io::Epoll))?;
    let outcome = Engine::new(load, duty, requests, epoll, Instant::now(), tell).run(stop, start);
    outcome.map(|outcome| Outcome { io: Io::Epoll, ..outcome }).map_err(wait(Io::Epoll))
}

fn pin(core: usize) -> Result<(), Error> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    rustix::thread::sched_setaffinity(None, &set).map_err(|error| Error::Core { core, source: error.into() })
}
