//! Noise from outside while something is measured: how much there was, and which of it casts doubt on the figures.
//!
//! A [`Watch`] reads the kernel's counters twice. What a machine does not tell is in no figure, and marks nothing.

mod clocks;
mod reading;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use kumite_record::Mark;

use crate::doctor::System;
use reading::{Reading, Sources, TICK};

/// Of the measured CPU time.
const STOLEN_LIMIT: f64 = 0.01;
/// Of one CPU.
const OTHERS_LIMIT: f64 = 0.02;
/// A step or a sleep of the clock. Reading two clocks after each other makes a difference of less than 0.1 ms.
const JUMP_LIMIT: Duration = Duration::from_millis(1);
/// Time servers correct a clock by up to this in normal operation.
const RATE_LIMIT_PPM: f64 = 500.0;
/// In a shorter time the reading of the clocks alone could make that difference.
const SHORTEST_FOR_RATE: Duration = Duration::from_secs(1);
const FREQUENCY_LIMIT_PERCENT: f64 = 5.0;
/// A CPU that has less to do than this share of the time is slowed down on purpose.
const BUSY_SHARE: f64 = 0.5;

/// Looks at the machine while something is measured on it.
#[derive(Debug)]
pub struct Watch {
    sources: Sources,
    before: Reading,
}

/// What the measured ones used meanwhile. kumite's own time is known to the watch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ours {
    /// CPU time of the contenders, on the CPUs that are watched; none if it is not known.
    pub cpu: Option<Duration>,
}

/// What came from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    /// By name; the unit is the end of the name.
    pub figures: BTreeMap<String, f64>,
    /// What casts doubt.
    pub marks: Vec<Mark>,
}

impl Watch {
    /// Begins now, on these CPUs: those of all that is measured, and of what measures.
    pub fn begin(cpus: &[usize]) -> Watch {
        let sources = Sources::of(System::at(Path::new("/")), cpus);
        let before = sources.read();
        Watch { sources, before }
    }

    /// What came from outside between the beginning and now.
    pub fn end(&self, ours: &Ours) -> Noise {
        noise(&self.before, &self.sources.read(), ours)
    }
}

fn noise(before: &Reading, after: &Reading, ours: &Ours) -> Noise {
    let mut noise = Noise::default();
    let elapsed = after.clocks.monotonic.saturating_sub(before.clocks.monotonic);
    if elapsed.is_zero() {
        return noise;
    }
    noise.stolen_and_others(before, after, ours, elapsed.as_secs_f64());
    noise.clocks(before, after, elapsed);
    noise.throttled(before, after);
    noise.frequency(before, after, elapsed.as_secs_f64());
    noise
}

impl Noise {
    fn figure(&mut self, name: &str, value: f64) {
        self.figures.insert(name.to_owned(), value);
    }

    fn mark(&mut self, mark: Mark, found: bool) {
        if found && !self.marks.contains(&mark) {
            self.marks.push(mark);
        }
    }

    fn stolen_and_others(&mut self, before: &Reading, after: &Reading, ours: &Ours, seconds: f64) {
        let cpus = before.cpus.len();
        if cpus == 0 || after.cpus.len() != cpus {
            return;
        }
        let sum = |of: fn(&reading::CpuTime) -> Option<Duration>| {
            let total = |reading: &Reading| reading.cpus.values().map(of).sum::<Option<Duration>>();
            Some(total(after)?.saturating_sub(total(before)?).as_secs_f64())
        };
        // Each counter of each CPU is cut to whole ticks.
        let grain = TICK.as_secs_f64() * cpus as f64;
        if let Some(stolen) = sum(|cpu| cpu.stolen) {
            self.figure("stolen_cores", stolen / seconds);
            self.mark(Mark::Stolen, stolen - grain > STOLEN_LIMIT * seconds * cpus as f64);
        }
        if let (Some(busy), Some(contenders)) = (sum(|cpu| Some(cpu.busy)), ours.cpu) {
            let own = after.own_cpu.saturating_sub(before.own_cpu);
            let others = busy - own.as_secs_f64() - contenders.as_secs_f64();
            self.figure("others_cpu_cores", others.max(0.0) / seconds);
            self.mark(Mark::OtherProcesses, others - grain > OTHERS_LIMIT * seconds);
        }
    }

    fn clocks(&mut self, before: &Reading, after: &Reading, elapsed: Duration) {
        let (before, after) = (&before.clocks, &after.clocks);
        let step = after.wall_ahead - before.wall_ahead;
        let asleep = after.asleep - before.asleep;
        let slewed = after.slewed - before.slewed;
        let ppm = slewed / elapsed.as_secs_f64() * 1e6;
        self.figure("clock_step_ms", step * 1e3);
        self.figure("suspended_ms", asleep * 1e3);
        self.figure("clock_rate_ppm", ppm);
        let limit = JUMP_LIMIT.as_secs_f64();
        let runs_wrong = ppm.abs() > RATE_LIMIT_PPM && elapsed >= SHORTEST_FOR_RATE;
        self.mark(Mark::ClockJumped, step.abs() > limit || asleep.abs() > limit || runs_wrong);
    }

    fn throttled(&mut self, before: &Reading, after: &Reading) {
        let counts = [
            ("thermal_throttles", before.thermal_throttles, after.thermal_throttles),
            ("quota_throttles", before.quota_throttles, after.quota_throttles),
        ];
        for (name, before, after) in counts {
            if let (Some(before), Some(after)) = (before, after) {
                let count = after.saturating_sub(before);
                self.figure(name, count as f64);
                self.mark(Mark::Throttled, count > 0);
            }
        }
    }

    fn frequency(&mut self, before: &Reading, after: &Reading, seconds: f64) {
        let changed = after.cpus.iter().filter_map(|(cpu, now)| {
            let then = before.cpus.get(cpu)?;
            let busy = now.busy.saturating_sub(then.busy).as_secs_f64() / seconds;
            let (now, then) = (now.khz?, then.khz?);
            (busy >= BUSY_SHARE).then_some((now / then - 1.0) * 100.0)
        });
        if let Some(most) = changed.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
            self.figure("frequency_change_percent", most);
            self.mark(Mark::FrequencyChanged, most.abs() > FREQUENCY_LIMIT_PERCENT);
        }
    }
}
