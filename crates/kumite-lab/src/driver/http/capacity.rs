//! The capacity of a server: the rate up to which it meets an objective, drawn once in each trial.
//!
//! It is drawn after the window, from the server that the window has warmed up, in loads of an open loop of their own.
//! Each block repeats the draw, and the median of the draws is the rate at which half of such loads meet the objective.
//! The window's figures are of the window alone.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use kumite_load::{Arrivals, Load, Outcome, Pace};
use kumite_rate::{Capacity, CapacityRules, Offers, RateError, Slo, capacity};
use kumite_record::Outcome as Ended;

use super::objective::LONGEST;
use super::server::Server;
use super::workload::HttpWorkload;
use crate::driver::Measured;
use crate::error::chain;
use crate::halt::Halt;

/// The length of a load, if the objective does not need more requests than come in it.
const LOAD: Duration = Duration::from_secs(1);

/// The load engine on CPUs of its own, with the machine's clock.
struct Engine {
    began: Instant,
}

impl Offers for Engine {
    fn offer(&self, load: &Load, stop: &AtomicBool) -> Result<Outcome, kumite_load::Error> {
        load.run(stop, &mut |_| ())
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// The outcome of a draw: the capacity, or the end of the server.
pub(super) enum Drawn {
    Capacity(Capacity),
    /// The server ended or could not be looked at, for this reason.
    Gone(String),
}

/// Draws the capacity of a server that has just served a window with this outcome. `cores` are the engine's; empty if
/// the server may use them, too. An error if the engine fails, or if `stop` is set.
pub(super) fn draw(
    server: &mut Server,
    workload: &HttpWorkload,
    slo: &Slo,
    window: &Outcome,
    cores: &[usize],
    seed: u64,
    stop: &AtomicBool,
) -> Result<Drawn, Halt> {
    let pace = if cores.is_empty() { Pace::Sleeping } else { Pace::Precise };
    let load = Load { cores: cores.to_vec(), pace, ..server.load(workload) };
    let rules = CapacityRules { load: LOAD, budget: LONGEST, guess: guess(&load, window), seed };
    let drawn = capacity(&Engine { began: Instant::now() }, &load, slo, rules, stop);
    Halt::if_set(stop)?;
    // A server that has ended gives no answer, and that is why.
    match server.process.look() {
        Ok(looked) => {
            if let Some(gone) = looked.exited.map(|how| format!("it {how}")).or(looked.too_much) {
                let log = server.process.last_lines();
                return Ok(Drawn::Gone(format!("{gone} while its capacity was measured; its log: {log}")));
            }
        }
        Err(why) => return Ok(Drawn::Gone(chain(&why))),
    }
    match drawn {
        Ok((Capacity::Interrupted, _)) => Err(Halt::Interrupted),
        Ok((capacity, _)) => Ok(Drawn::Capacity(capacity)),
        Err(RateError::Load(error)) => Err(error.into()),
        Err(error) => Err(Halt::fault(format!("its capacity could not be measured: {error}"))),
    }
}

/// The rate that is tried first: that of an open loop, or as many as a closed loop brought.
fn guess(load: &Load, window: &Outcome) -> f64 {
    match &load.arrivals {
        Some(Arrivals::Rate { pieces, .. }) => pieces.first().map_or(1.0, |piece| piece.from),
        _ => (window.ok as f64 / window.elapsed.as_secs_f64().max(0.001)).max(1.0),
    }
}

/// Adds the capacity that was drawn to the trial's metrics. If the server ended, or met the objective at no rate, a
/// trial whose outcome is `Ok` becomes a failed one.
pub(super) fn tell(drawn: Drawn, slo: &Slo, measured: &mut Measured) {
    let sample = &mut measured.sample;
    let failed = match drawn {
        Drawn::Capacity(Capacity::Found(rate)) => {
            sample.metrics.insert("capacity_rps".to_owned(), rate);
            return;
        }
        Drawn::Capacity(Capacity::AtLeast(rate)) => {
            sample.metrics.insert("capacity_rps".to_owned(), rate);
            sample.lower_bounds.insert("capacity_rps".to_owned());
            return;
        }
        Drawn::Capacity(Capacity::Never(rate)) => format!(
            "it does not meet {slo} even at {rate:.0}/s, the lowest rate that {} s allow; one with a lower percentile, or \
             more time in it, may be met",
            LONGEST.as_secs()
        ),
        Drawn::Capacity(Capacity::Untried) => {
            format!("{} s have no room for a load by which its capacity could be drawn", LONGEST.as_secs())
        }
        Drawn::Capacity(Capacity::Interrupted) => "its capacity was not measured to the end".to_owned(),
        Drawn::Gone(why) => why,
    };
    if measured.outcome == Ended::Ok {
        (measured.outcome, measured.reason) = (Ended::Failed, Some(failed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(capacity: Capacity) -> Measured {
        let mut measured = Measured::answered(None);
        tell(Drawn::Capacity(capacity), &Slo::parse("p99 < 20ms").unwrap(), &mut measured);
        measured
    }

    #[test]
    fn what_is_beyond_the_engine_is_a_lower_bound_and_what_is_never_met_a_failure() {
        let found = told(Capacity::Found(1_234.5));
        assert_eq!((found.sample.metrics["capacity_rps"], found.sample.lower_bounds.len()), (1_234.5, 0));
        let bound = told(Capacity::AtLeast(9_000.0));
        assert_eq!(bound.sample.metrics["capacity_rps"], 9_000.0);
        assert!(bound.sample.lower_bounds.contains("capacity_rps") && bound.outcome == Ended::Ok);
        let untried = told(Capacity::Untried);
        assert_eq!(
            (untried.outcome, untried.reason.as_deref()),
            (Ended::Failed, Some("20 s have no room for a load by which its capacity could be drawn"))
        );
        let never = told(Capacity::Never(250.0));
        assert_eq!((never.outcome, never.sample.metrics.len()), (Ended::Failed, 0));
        assert_eq!(
            never.reason.as_deref(),
            Some(
                "it does not meet p99 < 20ms and errors = 0 even at 250/s, the lowest rate that 20 s allow; one with a lower \
                 percentile, or more time in it, may be met"
            )
        );
    }

    #[test]
    fn the_first_rate_is_that_of_the_window() {
        let load = |arrivals| {
            let target = kumite_load::Target::parse("http://127.0.0.1:1/").unwrap();
            Load { arrivals, ..Load::new(target, kumite_load::Limit::default()) }
        };
        let window = Outcome { ok: 900, elapsed: Duration::from_millis(500), ..Outcome::default() };
        assert_eq!(guess(&load(None), &window), 1_800.0);
        assert_eq!(guess(&load(Some(Arrivals::constant(40.0))), &window), 40.0);
        assert_eq!(guess(&load(None), &Outcome::default()), 1.0);
    }
}
