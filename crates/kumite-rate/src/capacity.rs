//! One draw of the highest rate at which a server meets an objective, within a short time.
//!
//! A draw is one repetition of the search for a rate, after a search of its own for the range. Near the capacity it is
//! chance whether a load meets an objective, so one draw is no answer. A caller that makes many draws, as an experiment
//! does in its blocks, takes their median: the rate at which half of the loads meet the objective.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_load::Load;
use kumite_record::RateTrial;

use crate::error::RateError;
use crate::search::{Capacity, NoTrial, draw};
use crate::slo::Slo;
use crate::trial::{NoVerdict, Offers, Trials};

/// The limits of a draw, the rate that it begins with, and its seed.
#[derive(Clone, Copy, Debug)]
pub struct CapacityRules {
    /// The shortest length of a load. A load is longer if the objective needs more requests.
    pub load: Duration,
    /// The longest time for the whole draw, with the pauses between loads. A load that would likely end later is not
    /// begun.
    pub budget: Duration,
    /// The rate that is tried first, in requests a second. If it is so low that a load would take too much of the
    /// budget, a higher one is tried first.
    pub guess: f64,
    /// The seed of the random place of the bracket. The same seed and the same outcomes give the same rates.
    pub seed: u64,
}

/// The least number of loads that the time must allow at the lowest rate.
const LEAST_LOADS: u32 = 5;

/// Draws the capacity of a server once. Each load is `load` at another rate and of another length, without its warm-up,
/// its disturbance and its log. Returns the draw, and all loads in the order in which they were made. If `stop` is set
/// before the draw is done, the draw is [`Capacity::Interrupted`].
///
/// # Errors
///
/// [`RateError`] if the load cannot be judged by the objective, if the server gives no right answer even to single
/// requests, or if the load engine fails.
pub fn capacity(
    offers: &dyn Offers,
    load: &Load,
    slo: &Slo,
    rules: CapacityRules,
    stop: &AtomicBool,
) -> Result<(Capacity, Vec<RateTrial>), RateError> {
    let load = Load { warm_up: Duration::ZERO, opener: None, log: false, ..load.clone() };
    let mut trials = Trials::new(offers, &load, slo, rules.load, stop)?;
    trials.until = offers.now() + rules.budget;
    trials.learn_rest()?;
    let needed = trials.objective.requests_needed() as f64;
    let lowest = (needed / (rules.budget / LEAST_LOADS).max(rules.load).as_secs_f64()).max(1.0);
    let mut failure = None;
    let mut attempt = |rate| match trials.at(rate, &mut |_| {}) {
        Ok(verdict) => Ok(verdict),
        Err(NoVerdict::NoTrial(halt)) => Err(halt),
        Err(NoVerdict::Failed(error)) => {
            failure = Some(error);
            Err(NoTrial::Interrupted)
        }
    };
    let drawn = draw(&mut attempt, rules.guess, lowest, rules.seed);
    if let Some(error) = failure {
        return Err(error.into());
    }
    Ok((drawn, trials.made))
}

#[cfg(test)]
mod tests {
    use kumite_load::{Limit, Target};
    use kumite_record::RateVerdict;

    use super::*;
    use crate::simulated::{Server, never, server};

    fn drawn(server: &Server, slo: &str, guess: f64) -> (Capacity, Vec<RateTrial>) {
        let load = Load::new(Target::parse("http://127.0.0.1:1/").unwrap(), Limit::default());
        let rules = CapacityRules {
            load: Duration::from_secs(1),
            budget: Duration::from_secs(20),
            guess,
            seed: guess as u64,
        };
        capacity(server, &load, &Slo::parse(slo).unwrap(), rules, &never()).unwrap()
    }

    /// At 2,012/s the slowest of a second is 5 ms late, and 6 ms are allowed for 1 ms of work.
    #[test]
    fn the_knee_of_a_server_is_found_within_2_percent_and_20_s_wherever_it_begins() {
        for guess in [1.0, 130.0, 900.0, 1_999.0, 2_100.0, 5_000.0, 16_000.0] {
            let server = server(2_000.0, 1);
            let (found, loads) = drawn(&server, "max < 6ms", guess);
            let Capacity::Found(rate) = found else { panic!("{guess}: {found:?}") };
            assert!((rate / 2_010.0 - 1.0).abs() < 0.02, "{guess}: {rate}");
            assert!(server.now.get() <= Duration::from_secs(20) && loads.len() >= 6, "{guess}: {loads:?}");
        }
    }

    #[test]
    fn a_server_that_never_meets_it_has_none_and_says_how_low_it_was_tried() {
        let (found, loads) = drawn(&server(2_000.0, 50), "p99 < 1ms", 800.0);
        assert_eq!(found, Capacity::Never(250.0), "1,000 requests in 4 s");
        assert!(loads.iter().all(|load| load.verdict == RateVerdict::Unmet));
    }

    #[test]
    fn who_stops_it_has_no_figure() {
        let stop = never();
        let server = Server { stops: Some((2, &stop)), ..server(2_000.0, 1) };
        let load = Load::new(Target::parse("http://127.0.0.1:1/").unwrap(), Limit::default());
        let rules = CapacityRules {
            load: Duration::from_secs(1),
            budget: Duration::from_secs(20),
            guess: 500.0,
            seed: 1,
        };
        let slo = Slo::parse("max < 6ms").unwrap();
        assert_eq!(capacity(&server, &load, &slo, rules, &stop).unwrap().0, Capacity::Interrupted);
    }
}
