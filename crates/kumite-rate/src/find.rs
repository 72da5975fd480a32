//! The search for the highest rate that a server sustains.
//!
//! The answer is *the rate at which a trial of so many seconds meets the SLO in half of the trials*. The length of a
//! trial is part of it: a server that is offered a little more than it can do falls behind by a little more each
//! second, so longer trials give lower answers, down to what the server can do for ever.
//!
//! - A trial is an open loop at one rate: requests come whatever the server makes of them, and their times count from
//!   when they were due. It meets the SLO, or it does not, or it is void. It is void if the load engine did not offer
//!   the rate, or if the SLO is not met and the engine may be the reason: its busiest thread used its CPU up, or it
//!   sent so late that this would explain it. Three void trials at a rate are the engine's limit, and a bisection
//!   that ends there ends the search without an answer.
//! - Before each trial the server is probed until it answers within the SLO's shortest time, or about as fast as
//!   before the search, for at most 5 s. So the backlog of one trial does not fail the next.
//! - The module `search` says which rates are tried, and how an answer and its interval are made of it.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_load::Load;
use kumite_record::{FoundRate, RateEstimate, RateTrial, RateVerdict, SCHEMA, SearchEnd};

use crate::error::RateError;
use crate::search::{Known, NoTrial, search};
use crate::slo::Slo;
use crate::trial::{NoVerdict, Offers, Trials, is_of_sessions};

/// The limits of a search, its seed, and its description for the record.
#[derive(Clone, Debug)]
pub struct RateRules {
    /// The shortest length of a trial. A trial is longer if the SLO needs more requests than come in this time.
    pub trial: Duration,
    /// The longest time for the whole search, with the pauses between trials. A trial that would likely end later is
    /// not begun.
    pub budget: Duration,
    /// The seed of the random choices. The same seed and the same outcomes give the same rates.
    pub seed: u64,
    /// The command that repeats the search, for the record.
    pub command: String,
    /// The address of the server, for the record.
    pub url: String,
}

/// The approximate number of trials in a search. Before a trial has met the SLO, no rate is tried at which a trial
/// takes longer than the budget divided by this number.
const TRIALS: u32 = 40;

/// Searches for the highest rate at which the server meets the SLO. Each trial offers `load` at another rate, with
/// another limit, and without its disturbance. If `load.arrivals` is a rate, its gaps and its burst are kept; if there
/// are no arrivals, requests come evenly and one by one. `watch` is called after each trial. If `stop` is set, the
/// search ends early.
///
/// # Errors
///
/// [`RateError`] if the load cannot be judged by the SLO, if the server gives no right answer even to single requests,
/// or if the load engine fails. A search that ends early or without an answer is no error: [`FoundRate::ended`] has the
/// reason.
pub fn find_rate(
    offers: &dyn Offers,
    load: &Load,
    slo: &Slo,
    rules: &RateRules,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(&RateTrial),
) -> Result<FoundRate, RateError> {
    let began = offers.now();
    let mut trials = Trials::new(offers, load, slo, rules.trial, stop)?;
    trials.until = began + rules.budget;
    trials.learn_rest()?;

    let needed = trials.objective.requests_needed() as f64;
    let rate_of = |time: Duration| (needed / time.as_secs_f64()).max(1.0);
    let (start, lowest) = (rate_of(rules.trial), rate_of(rules.trial.max(rules.budget / TRIALS)));
    let mut failure = None;
    let mut attempt = |rate| match trials.at(rate, watch) {
        Ok(verdict) => Ok(verdict),
        Err(NoVerdict::NoTrial(halt)) => Err(halt),
        Err(NoVerdict::Failed(error)) => {
            failure = Some(error);
            Err(NoTrial::Interrupted)
        }
    };
    let (known, halt) = search(&mut attempt, start, lowest, rules.seed);
    if let Some(error) = failure {
        return Err(error.into());
    }
    Ok(found(load, slo, rules, offers.now().saturating_sub(began), &known, halt, trials.made))
}

fn found(
    load: &Load,
    slo: &Slo,
    rules: &RateRules,
    took: Duration,
    known: &Known,
    halt: Option<NoTrial>,
    trials: Vec<RateTrial>,
) -> FoundRate {
    let interval = known.interval().filter(|_| halt != Some(NoTrial::EngineLimit));
    let ended = match halt {
        None => SearchEnd::Found,
        Some(NoTrial::OutOfTime) if interval.is_some() => SearchEnd::Found,
        Some(NoTrial::OutOfTime) => SearchEnd::OutOfTime,
        Some(NoTrial::Interrupted) => SearchEnd::Interrupted,
        Some(NoTrial::EngineLimit) => SearchEnd::EngineLimit,
        Some(NoTrial::NeverMet) => SearchEnd::NeverMet,
    };
    let mut broke = BTreeMap::new();
    let (mut failed_near, mut waited_near) = (0, 0);
    let near = interval.map_or(f64::INFINITY, |it| it.estimate * NEAR);
    for trial in trials.iter().filter(|it| it.verdict == RateVerdict::Unmet && it.rate_rps <= near) {
        failed_near += 1;
        waited_near += u64::from(trial.waited);
        for condition in &trial.broke {
            *broke.entry(condition.clone()).or_default() += 1;
        }
    }
    FoundRate {
        schema: SCHEMA,
        command: rules.command.clone(),
        url: rules.url.clone(),
        slo: slo.to_string(),
        of_sessions: is_of_sessions(load),
        connections: load.connections as u64,
        trial_s: rules.trial.as_secs_f64(),
        seconds: took.as_secs_f64(),
        budget_s: rules.budget.as_secs_f64(),
        seed: rules.seed,
        ended,
        rate_rps: interval.map(|it| RateEstimate {
            estimate: it.estimate,
            low: it.low,
            high: it.high,
            n: it.n as u64,
        }),
        answers_rps: known.answers.clone(),
        met_rps: known.met,
        unmet_rps: known.unmet,
        broke,
        failed_near,
        waited_near,
        trials,
    }
}

/// The factor up to which a rate is near the answer. Trials up to there show what breaks first; far above it,
/// everything does.
const NEAR: f64 = 1.25;

#[cfg(test)]
mod tests;
