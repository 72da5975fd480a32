//! A server of known capacity on a clock of its own, for tests.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_load::{Arrivals, Error, Errors, Load, Outcome};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::trial::Offers;

/// A server that answers `capacity_rps` requests a second, each `service` after its turn has come. Further requests
/// wait, and those that wait for longer than the time-out are lost.
pub struct Server<'a> {
    pub capacity_rps: f64,
    pub service: Duration,
    pub now: Cell<Duration>,
    pub offered: RefCell<Vec<f64>>,
    /// The standard deviation of the capacity's logarithm from load to load, and the source of the random numbers;
    /// `None` for a server that is always alike.
    pub scatters: Option<(f64, RefCell<ChaCha8Rng>)>,
    /// The number of loads after which the user stops, and the flag for it; `None` for never.
    pub stops: Option<(usize, &'a AtomicBool)>,
}

impl Server<'_> {
    /// The sum of twelve uniform draws less six is as good as normal.
    fn scatter(&self) -> f64 {
        self.scatters.as_ref().map_or(0.0, |(deviation, random)| {
            let mut random = random.borrow_mut();
            deviation * ((0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0)
        })
    }
}

impl Offers for Server<'_> {
    fn offer(&self, load: &Load, stop: &AtomicBool) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        let Some(Arrivals::Rate { pieces, .. }) = &load.arrivals else {
            // A probe.
            outcome.requests = load.limit.requests.unwrap_or_default();
            (outcome.ok, outcome.stopped) = (outcome.requests, stop.load(Ordering::Relaxed));
            outcome.response.record_n(self.service.as_nanos() as u64, outcome.ok).unwrap();
            outcome.service = outcome.response.clone();
            return Ok(outcome);
        };
        let (rate, time) = (pieces[0].from, load.limit.duration.unwrap());
        self.offered.borrow_mut().push(rate);
        if let Some((after, flag)) = self.stops
            && self.offered.borrow().len() > after
        {
            flag.store(true, Ordering::Relaxed);
            outcome.stopped = true;
            return Ok(outcome);
        }
        let capacity_rps = self.capacity_rps * self.scatter().exp();
        outcome.requests = (rate * time.as_secs_f64()).round() as u64;
        for nth in 0..outcome.requests {
            let (due, turn) = (nth as f64 / rate, nth as f64 / capacity_rps);
            let waited = Duration::from_secs_f64((turn - due).max(0.0)) + self.service;
            if waited > load.timeout {
                outcome.errors = Errors { timeout: outcome.errors.timeout + 1, ..outcome.errors };
            } else {
                outcome.ok += 1;
                outcome.response.record(waited.as_nanos() as u64).unwrap();
                outcome.service.record(self.service.as_nanos() as u64).unwrap();
            }
        }
        outcome.elapsed = time;
        self.now.set(self.now.get() + time);
        Ok(outcome)
    }

    fn now(&self) -> Duration {
        self.now.get()
    }

    fn sleep(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }
}

/// A server that answers `capacity_rps` requests a second, each in `service_ms` ms. It is always alike, and nobody
/// stops it.
pub fn server<'a>(capacity_rps: f64, service_ms: u64) -> Server<'a> {
    Server {
        capacity_rps,
        service: Duration::from_millis(service_ms),
        now: Cell::default(),
        offered: RefCell::default(),
        scatters: None,
        stops: None,
    }
}

/// A flag that nobody sets.
pub fn never() -> AtomicBool {
    AtomicBool::new(false)
}
