//! The verdict on a server at one rate: it meets an objective or it does not, judged over whole loads.
//!
//! The claim is *more than half of such loads meet the objective*. A load meets it or does not, and is one observation:
//! the seconds of one load share its slow moments, and a thousand requests behind one pause are one event. Two gamblers
//! bet on the loads ([`kumite_stats::wealth`]): one that more than half meet the objective, the other that more than
//! half do not. The first whose wealth reaches 20 decides. Exactly one of the two verdicts is true. The false one is
//! given in at most 5 % of all judgements, although the wealth is looked at after each load.
//!
//! - A void load, for which the load engine may be the reason, counts against both gamblers. Most void loads did not
//!   meet the objective, so that leaving them out would favour *holds*.
//! - No further load is made once the verdict is shown, and none once those that are left could not show one.
//! - Before each load the server has 5 s to come to rest, so that one load's backlog is no part of the next.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_load::{Arrivals, Load};
use kumite_record::{RateTrial, RateVerdict, SCHEMA, SloEnd, SloResult, SloVerdict, VoidReason};
use kumite_stats::wealth;

use crate::error::RateError;
use crate::search::NoTrial;
use crate::slo::Slo;
use crate::trial::{NoVerdict, Offers, Trials, is_of_sessions};

/// The probability of a false verdict.
const ALPHA: f64 = 0.05;

/// The number and the length of the loads that an objective is judged by, and their description for the record.
#[derive(Clone, Debug)]
pub struct SloRules {
    /// The length of each load.
    pub load: Duration,
    /// The largest number of loads that are made, at least [`fewest_loads`].
    pub most: usize,
    /// The command that repeats the judgement, for the record.
    pub command: String,
    /// The address of the server, for the record.
    pub url: String,
}

/// The smallest number of loads that can decide whether an objective is met. So few decide only if all of them meet it,
/// or all of them fail to.
pub fn fewest_loads() -> usize {
    (1..).find(|loads| wealth(*loads, *loads) >= 1.0 / ALPHA).expect("the wealth doubles with each load")
}

/// Offers the load at its rate again and again, until it is decided whether more than half of such loads meet the
/// objective, or until the loads that are left could not decide it. `watch` is called after each load. If `stop` is
/// set, no further load is made, and the verdict is that of the loads until then.
///
/// # Errors
///
/// [`RateError`] if the load cannot be judged by the objective, which is found before anything is sent; if the server
/// gives no right answer even to single requests; or if the load engine fails. An undecided verdict is no error.
pub fn meets(
    offers: &dyn Offers,
    load: &Load,
    slo: &Slo,
    rules: &SloRules,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(&RateTrial),
) -> Result<SloResult, RateError> {
    let began = offers.now();
    let mut trials = Trials::new(offers, load, slo, rules.load, stop)?;
    let rate = constant_rate(load)?;
    let enough = trials.length(rate);
    if enough > rules.load {
        return Err(RateError::TooShort {
            load: rules.load,
            rate,
            of_sessions: is_of_sessions(load),
            slo: slo.to_string(),
            needed: trials.objective.requests_needed(),
            enough: Duration::from_secs(enough.as_secs() + u64::from(enough.subsec_nanos() > 0)),
        });
    }
    if rules.most < fewest_loads() {
        return Err(RateError::TooFewLoads { most: rules.most, fewest: fewest_loads() });
    }
    trials.learn_rest()?;

    let mut signs = Signs::default();
    let ended = loop {
        if signs.verdict() != SloVerdict::Undecided {
            break SloEnd::Decided;
        }
        if !signs.can_be_decided_by(rules.most - signs.loads()) {
            break SloEnd::OutOfLoads;
        }
        let made = trials.settle().and_then(|settled| trials.once(rate, rules.load, settled));
        match made {
            Ok((mut trial, too_few)) => {
                if too_few && trial.verdict == RateVerdict::Met {
                    (trial.verdict, trial.void) = (RateVerdict::Void, Some(VoidReason::TooFew));
                }
                signs.add(trial.verdict);
                watch(&trial);
                trials.made.push(trial);
            }
            Err(NoVerdict::NoTrial(NoTrial::Interrupted)) => break SloEnd::Interrupted,
            Err(NoVerdict::NoTrial(_)) => break SloEnd::OutOfLoads,
            Err(NoVerdict::Failed(error)) => return Err(error.into()),
        }
    };
    Ok(SloResult {
        schema: SCHEMA,
        command: rules.command.clone(),
        url: rules.url.clone(),
        slo: slo.to_string(),
        rate_rps: rate,
        of_sessions: is_of_sessions(load),
        connections: load.connections as u64,
        load_s: rules.load.as_secs_f64(),
        seconds: offers.now().saturating_sub(began).as_secs_f64(),
        repeat: rules.most as u64,
        alpha: ALPHA,
        verdict: signs.verdict(),
        ended,
        met: signs.met as u64,
        unmet: signs.unmet as u64,
        void: signs.void as u64,
        wealth_holds: wealth(signs.met, signs.loads()),
        wealth_fails: wealth(signs.unmet, signs.loads()),
        gate: None,
        loads: trials.made,
    })
}

fn constant_rate(load: &Load) -> Result<f64, RateError> {
    match &load.arrivals {
        Some(Arrivals::Rate { pieces, .. }) => match pieces.as_slice() {
            [piece] if piece.from == piece.to && piece.lasts.is_none() => Ok(piece.from),
            _ => Err(RateError::NoRate),
        },
        _ => Err(RateError::NoRate),
    }
}

/// The loads so far, by their verdicts.
#[derive(Clone, Copy, Default)]
struct Signs {
    met: usize,
    unmet: usize,
    void: usize,
}

impl Signs {
    fn add(&mut self, verdict: RateVerdict) {
        match verdict {
            RateVerdict::Met => self.met += 1,
            RateVerdict::Unmet => self.unmet += 1,
            RateVerdict::Void => self.void += 1,
        }
    }

    fn loads(self) -> usize {
        self.met + self.unmet + self.void
    }

    fn verdict(self) -> SloVerdict {
        let shows = |so| wealth(so, self.loads()) >= 1.0 / ALPHA;
        match () {
            () if shows(self.met) => SloVerdict::Holds,
            () if shows(self.unmet) => SloVerdict::Fails,
            () => SloVerdict::Undecided,
        }
    }

    /// True if so many further loads could decide it, if all of them went alike.
    fn can_be_decided_by(self, more: usize) -> bool {
        let most = self.met.max(self.unmet);
        (1..=more).any(|more| wealth(most + more, self.loads() + more) >= 1.0 / ALPHA)
    }
}

#[cfg(test)]
mod tests;
