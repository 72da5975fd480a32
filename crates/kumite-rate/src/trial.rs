//! Trials at a rate.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_load::{Arrivals, Error, Gaps, Histogram, Limit, Load, Outcome, Piece, StepOutcome};
use kumite_record::{RateTrial, RateVerdict, VoidReason};

use crate::error::RateError;
use crate::objective::Objective;
use crate::search::NoTrial;
use crate::slo::Slo;

/// The number of void trials at one rate that count as the engine's limit. A single one may be void because something
/// else had the CPU.
const VOID_TRIALS: usize = 3;
/// The lateness of sending that makes no trial void, as a share of the shortest time in the SLO.
const LAG_SHARE: f64 = 0.1;
/// The least share of the requests asked for that counts as offering the rate.
const OFFERED_SHARE: f64 = 0.99;
/// The longest time that a server has to come to rest before a trial.
const SETTLING: Duration = Duration::from_secs(5);
const PROBES: u64 = 3;
const BETWEEN_PROBES: Duration = Duration::from_millis(50);

/// A way to offer loads, with the clock that their time is taken from. Tests use a simulated server.
pub trait Offers {
    /// Offers a load until it ends or `stop` is set, and returns its outcome. [`Outcome::stopped`] says if `stop` ended
    /// it.
    ///
    /// # Errors
    ///
    /// If the load engine could not run.
    fn offer(&self, load: &Load, stop: &AtomicBool) -> Result<Outcome, Error>;
    /// The time since a fixed moment. It never goes back.
    fn now(&self) -> Duration;
    /// Returns when `time` has passed on this clock.
    fn sleep(&self, time: Duration);
}

/// The trials of a server: those that were made, and all that is needed to make another.
pub(crate) struct Trials<'a> {
    pub offers: &'a dyn Offers,
    pub load: &'a Load,
    pub objective: Objective,
    /// The shortest time of a trial.
    pub shortest: Duration,
    /// The median response time before the first trial, to one request at a time.
    pub at_rest: Duration,
    /// The moment at which the last trial must be over.
    pub until: Duration,
    pub gaps: Gaps,
    pub burst: u32,
    pub stop: &'a AtomicBool,
    pub made: Vec<RateTrial>,
}

/// The reasons why a rate has no verdict.
pub(crate) enum NoVerdict {
    NoTrial(NoTrial),
    Failed(Error),
}

impl From<NoTrial> for NoVerdict {
    fn from(halt: NoTrial) -> NoVerdict {
        NoVerdict::NoTrial(halt)
    }
}

impl From<Error> for NoVerdict {
    fn from(error: Error) -> NoVerdict {
        NoVerdict::Failed(error)
    }
}

impl<'a> Trials<'a> {
    /// The trials of a server at rest, none of which is made yet. If `load.arrivals` is a rate, its gaps and its burst
    /// are kept. An error if the load cannot be judged by the objective.
    pub fn new(
        offers: &'a dyn Offers,
        load: &'a Load,
        slo: &'a Slo,
        shortest: Duration,
        stop: &'a AtomicBool,
    ) -> Result<Trials<'a>, RateError> {
        let (gaps, burst) = match &load.arrivals {
            None => (Gaps::Even, 1),
            Some(Arrivals::Rate { gaps, burst, .. }) => (*gaps, *burst),
            Some(Arrivals::At(_)) => return Err(RateError::Recorded),
        };
        let objective = Objective::new(slo, load)?;
        if let Some(longest) = objective.longest_request().filter(|longest| *longest >= load.timeout) {
            return Err(RateError::Timeout { timeout: load.timeout, longest });
        }
        let (at_rest, until, made) = (Duration::ZERO, Duration::MAX, Vec::new());
        Ok(Trials { offers, load, objective, shortest, at_rest, until, gaps, burst, stop, made })
    }

    /// Learns how fast the server answers at rest. An error if it does not, even to single requests.
    pub fn learn_rest(&mut self) -> Result<(), RateError> {
        let probed = self.probe()?;
        if probed.ok == 0 && !probed.stopped {
            let why = probed.first_wrong.unwrap_or_else(|| probed.errors.in_words());
            return Err(RateError::NoAnswer { why });
        }
        self.at_rest = median(&probed.response);
        Ok(())
    }

    /// Makes trials at this rate, in requests a second, until one is not void, or three are. A trial that met the SLO
    /// with too few answers is repeated for twice as long. Returns the verdict of the last trial. An error if there can
    /// be no verdict: the search is to end, or the engine failed.
    pub fn at(&mut self, rate: f64, watch: &mut dyn FnMut(&RateTrial)) -> Result<RateVerdict, NoVerdict> {
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

    /// The length of a trial at this rate: at least the shortest, and long enough for the requests that the SLO
    /// needs: ten beyond every percentile.
    pub fn length(&self, rate: f64) -> Duration {
        let needed = self.objective.requests_needed() as f64;
        // Four standard deviations of a Poisson process, or the last burst.
        let spare = if self.gaps == Gaps::Even {
            f64::from(self.burst)
        } else {
            4.0 * needed.sqrt() * f64::from(self.burst).sqrt()
        };
        let seconds = (needed + spare) / rate;
        self.shortest.max(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }

    /// Makes one trial of this length, and returns it with `true` if it is too short for a figure that the SLO names.
    pub fn once(&self, rate: f64, time: Duration, settled: bool) -> Result<(RateTrial, bool), NoVerdict> {
        let whole = self.load.warm_up.saturating_add(time).saturating_add(self.load.timeout.min(time));
        if self.offers.now().checked_add(whole).is_none_or(|end| end > self.until) {
            return Err(NoTrial::OutOfTime.into());
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
        let outcome = self.offers.offer(&load, self.stop)?;
        if outcome.stopped {
            return Err(NoTrial::Interrupted.into());
        }
        Ok(self.judge(rate, &outcome, settled))
    }

    /// The trial with its verdict, and `true` if it is too short for a figure that the SLO names.
    fn judge(&self, rate: f64, outcome: &Outcome, settled: bool) -> (RateTrial, bool) {
        let judged = self.objective.judge(outcome, self.load.timeout);
        let lag_us = outcome.send_lag.value_at_quantile(0.99) as f64 / 1e3;
        let void = if !self.is_offered(rate, outcome) {
            Some(VoidReason::NotOffered)
        } else if judged.broke.is_empty() {
            // Whatever the engine did late is in the times that were met.
            None
        } else if outcome.is_bound() {
            Some(VoidReason::NoHeadroom)
        } else {
            self.may_be_lag(lag_us, judged.excess_us).then_some(VoidReason::SentLate)
        };
        let verdict = match void {
            Some(_) => RateVerdict::Void,
            None if judged.broke.is_empty() => RateVerdict::Met,
            None => RateVerdict::Unmet,
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
            first_wrong: outcome.first_wrong.clone(),
            figures: judged.figures,
            parts: judged.parts,
            verdict,
            void,
            broke: judged.broke,
            // A server that is itself busy is not helped by more connections.
            waited: judged.waited && median(&outcome.service) <= self.at_rest * 2,
            send_lag_p99_us: lag_us,
            engine_busy: outcome.busiest,
            settled,
        };
        (trial, judged.too_few)
    }

    /// `true` if the SLO might have been met had the engine sent in time: it reads answers as late as it sends. A lag
    /// that is small beside the SLO's times does not count; otherwise trials that only just fail would be void, and
    /// answers too high.
    fn may_be_lag(&self, lag_us: f64, excess_us: f64) -> bool {
        let shortest_us = self.objective.shortest().map(|shortest| shortest.as_secs_f64() * 1e6);
        shortest_us.is_some_and(|shortest| lag_us > shortest * LAG_SHARE) && excess_us <= 2.0 * lag_us
    }

    fn is_offered(&self, rate: f64, outcome: &Outcome) -> bool {
        let asked = rate * outcome.elapsed.as_secs_f64();
        let chance = if self.gaps == Gaps::Even { 1.0 } else { 4.0 * asked.sqrt() };
        begun(outcome) as f64 >= asked * OFFERED_SHARE - chance * f64::from(self.burst)
    }

    /// Waits until the server has worked off what an overloaded trial has left, and answers within the SLO's shortest
    /// time, or within twice its response time at rest. `false` if it does not within [`SETTLING`].
    pub fn settle(&self) -> Result<bool, NoVerdict> {
        let until = self.offers.now() + SETTLING;
        let limit = self.objective.shortest().unwrap_or(self.load.timeout).max(self.at_rest * 2);
        loop {
            let probed = self.probe()?;
            if self.stop.load(Ordering::Relaxed) {
                return Err(NoTrial::Interrupted.into());
            }
            if probed.ok * 2 > PROBES && median(&probed.response) <= limit {
                return Ok(true);
            }
            if self.offers.now() >= until {
                return Ok(false);
            }
            self.offers.sleep(BETWEEN_PROBES);
        }
    }

    /// Sends a few requests, one after the other on one connection, and returns their outcome. An error if the engine
    /// failed.
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
        self.offers.offer(&load, self.stop)
    }
}

/// True if the rates of a load count sessions and not requests, because at least one of its sessions has several steps.
pub fn is_of_sessions(load: &Load) -> bool {
    load.sessions.iter().any(|session| session.steps.len() > 1)
}

/// The number of requests that were due by the rate: of sessions the first ones alone.
fn begun(outcome: &Outcome) -> u64 {
    match outcome.sessions.as_slice() {
        [] => outcome.requests,
        sessions => {
            sessions.iter().filter_map(|session| session.steps.first()).map(StepOutcome::requests).sum()
        }
    }
}

fn median(times: &Histogram<u64>) -> Duration {
    Duration::from_nanos(times.value_at_quantile(0.5))
}

#[cfg(test)]
mod tests {
    use kumite_load::Target;

    use super::*;

    /// Offers nothing: outcomes are given.
    struct Nobody;

    impl Offers for Nobody {
        fn offer(&self, _: &Load, _: &AtomicBool) -> Result<Outcome, Error> {
            Ok(Outcome::default())
        }

        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn sleep(&self, _: Duration) {}
    }

    /// The outcome of a second at 1,000/s in which all answers took `response_us`, of which they were sent `lag_us`
    /// late.
    fn outcome(response_us: u64, lag_us: u64, busiest: f64) -> Outcome {
        let mut outcome = Outcome { requests: 1000, ok: 1000, busiest, ..Outcome::default() };
        outcome.elapsed = Duration::from_secs(1);
        for (times, us) in [
            (&mut outcome.response, response_us),
            (&mut outcome.service, response_us - lag_us),
            (&mut outcome.send_lag, lag_us),
        ] {
            times.record_n(us * 1000, 1000).unwrap();
        }
        outcome
    }

    fn trial(rate: f64, outcome: &Outcome) -> RateTrial {
        let target = Target::parse("http://127.0.0.1:1/").unwrap();
        let (load, slo) = (Load::new(target, Limit::default()), Slo::parse("p99 < 10ms").unwrap());
        let stop = AtomicBool::new(false);
        let trials = Trials::new(&Nobody, &load, &slo, Duration::from_secs(1), &stop).unwrap();
        let trials = Trials { at_rest: Duration::from_millis(1), ..trials };
        trials.judge(rate, outcome, true).0
    }

    fn judge(rate: f64, outcome: &Outcome) -> (RateVerdict, Option<VoidReason>) {
        let trial = trial(rate, outcome);
        (trial.verdict, trial.void)
    }

    #[test]
    fn connections_are_short_only_where_the_server_is_as_fast_as_at_rest() {
        let served_in = |us: u64| {
            let mut outcome = outcome(50_000, 50, 0.2);
            outcome.service.clear();
            outcome.service.record_n(us * 1000, 1000).unwrap();
            trial(1000.0, &outcome).waited
        };
        assert_eq!([1_100, 5_000, 20_000].map(served_in), [true, false, false]);
    }

    #[test]
    fn a_trial_is_void_where_the_engine_may_be_the_reason() {
        assert_eq!(judge(1000.0, &outcome(9_000, 50, 0.2)), (RateVerdict::Met, None));
        assert_eq!(judge(1000.0, &outcome(9_000, 3_000, 0.95)), (RateVerdict::Met, None));
        assert_eq!(judge(1000.0, &outcome(11_000, 50, 0.2)), (RateVerdict::Unmet, None));
        assert_eq!(judge(1000.0, &outcome(10_080, 50, 0.2)), (RateVerdict::Unmet, None), "only just");
        assert_eq!(judge(1000.0, &outcome(20_000, 3_000, 0.2)), (RateVerdict::Unmet, None), "late or not");
        let void = |reason| (RateVerdict::Void, Some(reason));
        assert_eq!(judge(1000.0, &outcome(11_000, 3_000, 0.2)), void(VoidReason::SentLate));
        assert_eq!(judge(1000.0, &outcome(20_000, 50, 0.95)), void(VoidReason::NoHeadroom));
        assert_eq!(judge(1020.0, &outcome(9_000, 50, 0.2)), void(VoidReason::NotOffered));
    }
}
