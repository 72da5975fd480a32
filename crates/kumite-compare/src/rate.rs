//! The search for the highest rate at which a server meets an objective, and the judgement at one rate, with the real
//! load engine.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use kumite_load::{Error, Load, Outcome};
use kumite_rate::{Offers, RateError, RateRules, Slo, SloRules};
use kumite_record::{FoundRate, RateTrial, SloResult};

/// The load engine of this machine, with the machine's clock.
struct Engine(Instant);

impl Offers for Engine {
    fn offer(&self, load: &Load, stop: &AtomicBool) -> Result<Outcome, Error> {
        load.run_watched(stop, &mut |_| {})
    }

    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// Searches for the highest rate at which the server meets the SLO, as [`kumite_rate::find_rate`] does.
///
/// # Errors
///
/// [`RateError`] says why there is nothing to search, or how the load engine failed.
pub fn find_rate(
    load: &Load,
    slo: &Slo,
    rules: &RateRules,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(&RateTrial),
) -> Result<FoundRate, RateError> {
    kumite_rate::find_rate(&Engine(Instant::now()), load, slo, rules, stop, watch)
}

/// Judges whether the server meets the SLO at the load's rate, as [`kumite_rate::meets`] does.
///
/// # Errors
///
/// [`RateError`] says why the load cannot be judged by the SLO, or how the load engine failed.
pub fn meets(
    load: &Load,
    slo: &Slo,
    rules: &SloRules,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(&RateTrial),
) -> Result<SloResult, RateError> {
    kumite_rate::meets(&Engine(Instant::now()), load, slo, rules, stop, watch)
}
