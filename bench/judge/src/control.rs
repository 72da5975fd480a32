//! Whether a control is called off where it is, and only there: runs by a scripted clock, with 3 % planted.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use kumite_judge::control;
use kumite_lab::{Drawn, Executor, Halt, Measured, Ready, Session, TrialOrder, execute, plan};
use kumite_record::{Control, Machine, Metric, Point, Run, Store, Trial, standing};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::scripted::{FakeClock, contended, ready};

/// Blocks of a run.
const BLOCKS: u32 = 20;
/// How much longer a trial takes that what was planted hits.
const PLANTED: f64 = 1.03;
/// The standard deviation of a round's log ratio: of two trials.
const SPREAD: f64 = 0.01;
const BASE_MS: f64 = 10.0;
/// As many as a task has, about; what is planted is in the first.
const METRICS: usize = 12;

/// Where a difference of 3 % is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Planted {
    /// Nowhere.
    Nowhere,
    /// On what is drawn anew for each trial: every other run on a large environment or on a long name of a folder.
    Drawn,
    /// On what is the same in all trials: the second build is slower.
    Fixed,
}

impl fmt::Display for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Planted::Nowhere => "nowhere",
            Planted::Drawn => "on what is drawn anew",
            Planted::Fixed => "on what stays the same",
        })
    }
}

impl Planted {
    /// The runs of so many that may be off, and have to be.
    pub fn asked(self, runs: u64) -> (u64, u64) {
        match self {
            Planted::Nowhere | Planted::Drawn => (0, runs * 3 / 100),
            Planted::Fixed => (runs * 95 / 100, runs),
        }
    }

    fn hits(self, nth: u64, order: &TrialOrder) -> bool {
        let [padding, folder] = Drawn::MOST;
        match self {
            Planted::Nowhere => false,
            Planted::Drawn => order.contender.drawn.is_some_and(|drawn| match nth % 2 {
                0 => drawn.padding >= padding / 2,
                _ => drawn.folder > folder / 2,
            }),
            Planted::Fixed => order.contender.twin.is_some(),
        }
    }
}

/// What a run says of its control.
pub struct Found {
    /// It is called off.
    pub is_off: bool,
    /// What it is times itself, in the metric in which something may be planted.
    pub itself: f64,
}

struct Scripted<'a> {
    clock: &'a FakeClock,
    random: ChaCha8Rng,
    planted: Planted,
    nth: u64,
}

impl Executor for Scripted<'_> {
    fn trial(&mut self, order: &TrialOrder, _: &AtomicBool) -> Result<Measured, Halt> {
        self.clock.0.set(self.clock.0.get() + Duration::from_secs(1));
        let mut measured = Measured::answered(None);
        for metric in metrics() {
            let noise = SPREAD / 2_f64.sqrt() * normal(&mut self.random);
            measured.sample.metrics.insert(metric.name, BASE_MS * noise.exp());
        }
        if self.planted.hits(self.nth, order) {
            *measured.sample.metrics.get_mut(&name(0)).expect("it was just measured") *= PLANTED;
        }
        Ok(measured)
    }
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    Normal::standard().inverse_cdf(random.random_range(1e-12..1.0))
}

fn name(nth: usize) -> String {
    format!("part_{nth}_ms")
}

fn metrics() -> impl Iterator<Item = Metric> {
    (0..METRICS).map(|nth| Metric::named(&name(nth)))
}

/// The run with this number.
pub fn scripted(planted: Planted, nth: u64, seed: u64) -> Result<Found> {
    let run = Run {
        id: "scripted".to_owned(),
        points: vec![Point::default()],
        metrics: metrics().collect(),
        blocks: BLOCKS,
        min_blocks: BLOCKS,
        seed,
        control: Some(Control::of("base")),
        ..Run::default()
    };
    let twin = Ready { twin: run.control.as_ref().map(|of| of.twin.clone()), ..ready("base") };
    let contenders = [ready("base"), twin, ready("other")];
    let known = ["base", "other"].map(contended);
    let mut store = Store::in_memory()?;
    store.begin(&run, &Machine::default(), &known)?;
    let session = Session {
        run: &run,
        contenders: &contenders,
        plan: &plan(&[vec![0, 1, 2]], &BTreeSet::new(), run.blocks, seed),
        times: &[Some(Duration::from_secs(1))],
        kept: &[],
        limit: None,
        undecided: &|_| BTreeSet::new(),
    };
    let clock = FakeClock(Cell::default());
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(1);
    let mut executor = Scripted { clock: &clock, random, planted, nth };
    execute(&session, &mut executor, &clock, &mut store, &AtomicBool::new(false), &mut |_| {})?;
    let trials = store.trials(&run.id)?;
    let of_all: Vec<&Trial> = standing(&trials).collect();
    found(&control(&run, &of_all, &known, &[]).context("the run has a control")?)
}

/// What the record of a real run says of it.
pub fn recorded(export: &Value) -> Result<Found> {
    found(&serde_json::from_value(export["run"]["control"].clone()).context("run.control")?)
}

fn found(control: &Control) -> Result<Found> {
    let itself = control.itself.as_ref().context("too few blocks for a control")?;
    Ok(Found { is_off: !control.off.is_empty(), itself: itself.ratio.estimate })
}

/// Prints how many of so many runs are off; what is worse than promised.
pub fn counted(planted: Planted, runs: u64, found: impl Fn(u64) -> Result<Found>) -> Result<Option<String>> {
    let all: Vec<Found> = (0..runs).map(found).collect::<Result<_>>()?;
    let off = all.iter().filter(|found| found.is_off).count() as u64;
    let mut ratios: Vec<f64> = all.iter().map(|found| found.itself).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let (least, most) = planted.asked(runs);
    let [low, middle, high] = [0, ratios.len() / 2, ratios.len() - 1].map(|nth| ratios[nth]);
    println!("| {planted} | {runs} | {off} | {least} to {most} | {middle:.4} ({low:.4} to {high:.4}) |");
    let problem = || format!("3 % {planted}: {off} of {runs} runs are off, not {least} to {most}");
    Ok((!(least..=most).contains(&off)).then(problem))
}

/// The heads of what `counted` prints.
pub fn heads() {
    println!("| 3 % planted | runs | off | asked | its ratio to itself: median, and range |");
    println!("| --- | ---: | ---: | ---: | ---: |");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_the_same_is_seen_and_what_is_drawn_anew_is_not() {
        for planted in Planted::value_variants() {
            let problem = counted(*planted, 40, |nth| scripted(*planted, nth, 1 + nth)).unwrap();
            assert_eq!(problem, None);
        }
    }
}
