//! `kumite selfcheck`: measurements of how far kumite can be trusted on this machine, now.

mod commands;
mod cpus;
mod duet;
mod engine;
mod probes;
mod problems;
mod server;
mod servers;
mod smallest;
mod spin;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_host::{Clock, cores, machine};
use kumite_record::{FalseVerdicts, SCHEMA, SameTwice, SelfCheck};
use kumite_stats::proportion;

use crate::compare::CompareError;

pub use spin::spin;

/// The promised share of false verdicts: two that are alike are said to differ no more often than this.
const ALPHA: f64 = 0.05;
/// The margin of the comparisons: the share that `kumite compare` takes for no difference.
const MARGIN: f64 = 0.0025;
/// The confidence of the intervals of shares.
const CONFIDENCE: f64 = 0.95;

/// The share of the budget for clock and CPUs. The check of the engine takes what it needs.
const CPUS: f64 = 0.1;
/// The share of the budget for the probes, which take six seconds. If that is more than the share, they are left out.
const PROBES: f64 = 0.1;
/// The share of the commands in the time that is left after clock, CPUs, probes and engine. [`SERVER`] and [`DUET`]
/// are the others.
const COMMANDS: f64 = 0.46;
const SERVER: f64 = 0.4;
const DUET: f64 = 0.14;

/// The programs, the time and the seed of a self-check.
#[derive(Clone, Debug)]
pub struct SelfChecking {
    /// The path of kumite itself, and the argument by which it becomes the runner's helper.
    pub helper: (PathBuf, String),
    /// The argument with which kumite calls [`spin()`]; the number of steps follows it.
    pub worker: String,
    /// The approximate time of the whole check. The check of the load engine, and the first comparison of each kind,
    /// are made even if they take longer.
    pub budget: Duration,
    /// The seed of all orders and of resampling. The same seed gives the same orders and resamples.
    pub seed: u64,
}

/// A self-check that is being made, as its parts share it.
struct Check<'a> {
    asked: &'a SelfChecking,
    clock: &'a dyn Clock,
    stop: &'a AtomicBool,
    watch: &'a mut dyn FnMut(&str),
}

/// Makes a self-check, part after part. `watch` is told of each step. If `stop` is set, the check ends early, is marked
/// as cut short, and has what was found until then. An error if a part cannot be made.
pub fn selfcheck(
    asked: &SelfChecking,
    clock: &dyn Clock,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(&str),
) -> Result<SelfCheck, CompareError> {
    let began = clock.now();
    let mut found = SelfCheck {
        schema: SCHEMA,
        kumite: env!("CARGO_PKG_VERSION").to_owned(),
        started: clock.timestamp(),
        seed: asked.seed,
        machine: machine(cores()),
        ..SelfCheck::default()
    };
    let mut check = Check { asked, clock, stop, watch };
    match check.parts(&mut found) {
        Err(CompareError::Interrupted) => {}
        done => done?,
    }
    found.cut_short = stop.load(Ordering::Relaxed);
    found.seconds = clock.now().saturating_sub(began).as_secs_f64();
    found.problems = problems::problems(&found);
    Ok(found)
}

impl Check<'_> {
    fn parts(&mut self, found: &mut SelfCheck) -> Result<(), CompareError> {
        let budget = self.asked.budget;
        let began = self.clock.now();
        (found.clock, found.cpus) = self.cpus(budget.mul_f64(CPUS))?;
        found.probes = self.probes(budget.mul_f64(PROBES), &found.machine.cores)?;
        self.engine(&mut found.engine)?;
        let left = budget.saturating_sub(self.clock.now().saturating_sub(began));
        let work = spin::calibrated();
        self.commands(left.mul_f64(COMMANDS), work, &mut found.commands)?;
        self.servers(left.mul_f64(SERVER), &mut found.server)?;
        found.duet = self.duet(left.mul_f64(DUET), work)?;
        Ok(())
    }

    /// `true` if there is time for one more, if that takes as long as those `done` took on average. It is always
    /// `true` for the first.
    fn time_for_more(&self, began: Duration, time: Duration, done: u64) -> bool {
        let spent = self.clock.now().saturating_sub(began);
        done == 0 || spent + spent.div_f64(done as f64) <= time
    }

    fn go_on(&self) -> Result<(), CompareError> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(CompareError::Interrupted),
            false => Ok(()),
        }
    }
}

/// The counts and ratios of comparisons of something with itself.
struct Tally {
    found: SameTwice,
    seconds: f64,
    /// The logarithms of the ratios of all pairs.
    logs: Vec<f64>,
}

impl Tally {
    fn new(what: String, metrics: &[&str], most_pairs: usize) -> Tally {
        let of = |metric: &&str| FalseVerdicts {
            metric: (*metric).to_owned(),
            promised: ALPHA,
            ..FalseVerdicts::default()
        };
        let false_verdicts = metrics.iter().map(of).collect();
        let found = SameTwice { what, most_pairs, false_verdicts, ..SameTwice::default() };
        Tally { found, seconds: 0.0, logs: Vec::new() }
    }

    /// Adds a comparison. `differ` has, for each metric, `true` if the two were said to differ; `None` if there was
    /// no verdict.
    fn add(&mut self, differ: &[Option<bool>], logs: &[f64], seconds: f64) {
        self.found.comparisons += 1;
        self.seconds += seconds;
        self.logs.extend(logs);
        for (of, differ) in self.found.false_verdicts.iter_mut().zip(differ) {
            of.comparisons += usize::from(differ.is_some());
            of.false_verdicts += usize::from(*differ == Some(true));
        }
    }

    /// The summary of all comparisons; `None` if there was none.
    fn done(&self, seed: u64) -> Option<SameTwice> {
        if self.logs.is_empty() {
            return None;
        }
        let mut found = self.found.clone();
        found.pairs = self.logs.len();
        found.seconds_per_pair = self.seconds / found.pairs as f64;
        found.false_verdicts.retain_mut(|of| {
            let Ok(interval) = proportion(of.false_verdicts, of.comparisons, CONFIDENCE) else {
                return false;
            };
            (of.share, of.low, of.high) = (interval.estimate, interval.low, interval.high);
            true
        });
        found.smallest = smallest::smallest(&self.logs, found.seconds_per_pair, seed);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_verdicts_are_counted_by_metric() {
        let mut tally = Tally::new("x".into(), &["wall time", "memory"], 10);
        assert_eq!(tally.done(1), None);
        tally.add(&[Some(true), None], &[0.1, 0.2], 1.0);
        tally.add(&[Some(false), None], &[0.1, 0.2], 3.0);
        let found = tally.done(1).unwrap();
        assert_eq!((found.comparisons, found.pairs, found.seconds_per_pair), (2, 4, 1.0));
        assert_eq!(found.false_verdicts.len(), 1, "nothing is known of memory");
        let wall = &found.false_verdicts[0];
        assert_eq!((wall.false_verdicts, wall.comparisons, wall.share), (1, 2, 0.5));
        assert!(wall.low < 0.05 && wall.high > 0.95);
    }
}
