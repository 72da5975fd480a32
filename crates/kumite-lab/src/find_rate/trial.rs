//! One trial at a rate, by real load on a real server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kumite_load::{Arrivals, Error, Gaps, Limit, Load, Outcome, Piece};
use kumite_record::{RateTrial, RateVerdict};

use super::search::Halt;
use super::slo::Slo;
use crate::http::{is_bound, offer_to_external};

/// Trials at one rate that may be void before it counts as the engine's limit: something else may have had the CPU.
const VOID_TRIALS: usize = 3;
/// The engine may send late by this share of the shortest time in the SLO.
const LAG_SHARE: f64 = 0.1;
/// So much less than asked for is not what was asked for.
const OFFERED_SHARE: f64 = 0.99;
/// How long a server may take to come to rest.
const SETTLING: Duration = Duration::from_secs(5);
const PROBES: u64 = 3;
const BETWEEN_PROBES: Duration = Duration::from_millis(50);

/// Makes trials.
pub(super) struct Trials<'a> {
    pub load: &'a Load,
    pub slo: &'a Slo,
    /// The shortest time of one.
    pub shortest: Duration,
    /// When the last one has to be over.
    pub until: Instant,
    pub gaps: Gaps,
    pub burst: u32,
    pub stop: &'a AtomicBool,
    pub made: Vec<RateTrial>,
}

/// Why there is none.
pub(super) enum Ended {
    Halt(Halt),
    Failed(Error),
}

impl From<Halt> for Ended {
    fn from(halt: Halt) -> Ended {
        Ended::Halt(halt)
    }
}

impl From<Error> for Ended {
    fn from(error: Error) -> Ended {
        Ended::Failed(error)
    }
}

impl Trials<'_> {
    /// What trials at this rate say: the first that is not void, or that several were.
    pub fn at(&mut self, rate: f64, watch: &mut dyn FnMut(&RateTrial)) -> Result<RateVerdict, Ended> {
        let mut time = self.length(rate);
        let mut void = 0;
        loop {
            let settled = self.settle()?;
            let (trial, too_few) = self.once(rate, time, settled)?;
            let verdict = trial.verdict;
            watch(&trial);
            self.made.push(trial);
            match verdict {
                // Failures took the place of the answers that were reckoned with.
                RateVerdict::Met if too_few => time *= 2,
                RateVerdict::Void if void + 1 < VOID_TRIALS => void += 1,
                verdict => return Ok(verdict),
            }
        }
    }

    /// Long enough for every percentile to have ten requests beyond it.
    pub fn length(&self, rate: f64) -> Duration {
        let needed = self.slo.requests_needed() as f64;
        // Four standard deviations of a Poisson process, or the last burst.
        let spare = if self.gaps == Gaps::Even {
            f64::from(self.burst)
        } else {
            4.0 * needed.sqrt() * f64::from(self.burst).sqrt()
        };
        let seconds = (needed + spare) / rate;
        self.shortest.max(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }

    fn once(&self, rate: f64, time: Duration, settled: bool) -> Result<(RateTrial, bool), Ended> {
        let whole = self.load.warm_up.saturating_add(time).saturating_add(self.load.timeout.min(time));
        if Instant::now().checked_add(whole).is_none_or(|end| end > self.until) {
            return Err(Halt::OutOfTime.into());
        }
        let gaps = match self.gaps {
            Gaps::Even => Gaps::Even,
            Gaps::Poisson { seed } => Gaps::Poisson { seed: seed.wrapping_add(self.made.len() as u64) },
        };
        let pieces = vec![Piece { from: rate, to: rate, lasts: None }];
        let load = Load {
            arrivals: Some(Arrivals::Rate { pieces, gaps, burst: self.burst }),
            limit: Limit { requests: None, duration: Some(time) },
            disturbance: None,
            ..self.load.clone()
        };
        let outcome = offer_to_external(&load, self.stop, &mut |_| {})?;
        if outcome.stopped {
            return Err(Halt::Interrupted.into());
        }
        Ok(self.judge(rate, &outcome, settled))
    }

    /// The trial, and whether it is too short for a figure that the SLO names.
    fn judge(&self, rate: f64, outcome: &Outcome, settled: bool) -> (RateTrial, bool) {
        let judged = self.slo.judge(outcome, self.load.timeout);
        let lag_us = outcome.send_lag.value_at_quantile(0.99) as f64 / 1e3;
        let most_lag_us = self.slo.times().map(|(shortest, _)| shortest.as_secs_f64() * 1e6 * LAG_SHARE);
        let late = most_lag_us.is_some_and(|most| lag_us > most);
        let offered = self.is_offered(rate, outcome);
        let verdict = match (judged.broke.is_empty(), offered) {
            // Whatever the engine did late is in the times that were met.
            (true, true) => RateVerdict::Met,
            (false, true) if !is_bound(outcome) && !late => RateVerdict::Unmet,
            _ => RateVerdict::Void,
        };
        let trial = RateTrial {
            rate_rps: rate,
            seconds: outcome.elapsed.as_secs_f64(),
            requests: outcome.requests,
            errors: outcome
                .errors
                .iter()
                .filter(|(_, n)| *n > 0)
                .map(|(kind, n)| (kind.to_owned(), n))
                .collect(),
            figures: judged.figures,
            verdict,
            broke: judged.broke,
            waited: judged.waited,
            send_lag_p99_us: lag_us,
            engine_busy: outcome.busiest,
            settled,
        };
        (trial, judged.too_few)
    }

    fn is_offered(&self, rate: f64, outcome: &Outcome) -> bool {
        let asked = rate * outcome.elapsed.as_secs_f64();
        let chance = if self.gaps == Gaps::Even { 1.0 } else { 4.0 * asked.sqrt() };
        outcome.requests as f64 >= asked * OFFERED_SHARE - chance * f64::from(self.burst)
    }

    /// Waits until the server is done with what an overloaded trial has left it, and answers within the SLO's shortest time.
    /// Whether it came to that.
    fn settle(&self) -> Result<bool, Ended> {
        let until = Instant::now() + SETTLING;
        let limit = self.slo.times().map_or(self.load.timeout, |(shortest, _)| shortest);
        loop {
            let probed = self.probe()?;
            if self.stop.load(Ordering::Relaxed) {
                return Err(Halt::Interrupted.into());
            }
            let fast = Duration::from_nanos(probed.response.value_at_quantile(0.5)) <= limit;
            if probed.ok * 2 > PROBES && fast {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            thread::sleep(BETWEEN_PROBES);
        }
    }

    /// A few requests, one after the other.
    pub fn probe(&self) -> Result<Outcome, Error> {
        let load = Load {
            arrivals: None,
            connections: 1,
            pipeline: 1,
            warm_up: Duration::ZERO,
            limit: Limit { requests: Some(PROBES), duration: None },
            disturbance: None,
            ..self.load.clone()
        };
        offer_to_external(&load, self.stop, &mut |_| {})
    }
}
