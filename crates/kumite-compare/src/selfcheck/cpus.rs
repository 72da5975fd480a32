//! The self-check of the clock and of the CPUs: how much of a CPU's time a pinned thread gets.

use std::thread;
use std::time::{Duration, Instant};

use kumite_host::Clocks;
use kumite_process::{available_cores, pin_thread};
use kumite_record::{ClockCheck, CpuCheck, Ratio};
use kumite_stats::{median, sequential_ratio};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rustix::thread::sched_getcpu;

use super::spin::timed;
use super::{ALPHA, Check};
use crate::compare::CompareError;

const MOST_CPUS: usize = 16;
/// The longest time for which the clock is read on each CPU.
const READING: Duration = Duration::from_millis(100);
/// The least step between two readings that is a gap. Nothing but the clock is read, so something else had the CPU.
const GAP: Duration = Duration::from_micros(5);
/// The steps of a piece of work, which takes about half a millisecond.
const STEPS: u64 = 300_000;
const MOST_ROUNDS: usize = 300;
/// The number of readings after which the thread looks which CPU it is on.
const LOOK_EVERY: u64 = 64;

/// Statistics of a clock that is read over and over on one CPU.
#[derive(Default)]
struct Readings {
    count: u64,
    looked: Duration,
    smallest_step: Option<Duration>,
    worst_gap: Duration,
    gaps: Duration,
    looks: u64,
    elsewhere: u64,
}

impl Readings {
    fn step(&mut self, step: Duration) {
        self.count += 1;
        self.looked += step;
        if !step.is_zero() {
            self.smallest_step = Some(self.smallest_step.map_or(step, |least| least.min(step)));
        }
        self.worst_gap = self.worst_gap.max(step);
        if step >= GAP {
            self.gaps += step;
        }
    }

    fn look(&mut self, wanted: usize, found: usize) {
        self.looks += 1;
        self.elsewhere += u64::from(wanted != found);
    }

    fn check(&self, cpu: usize) -> CpuCheck {
        CpuCheck {
            cpu,
            looks: self.looks,
            elsewhere: self.elsewhere,
            worst_gap_us: self.worst_gap.as_secs_f64() * 1e6,
            held_up_percent: 100.0 * self.gaps.as_secs_f64()
                / self.looked.as_secs_f64().max(f64::MIN_POSITIVE),
            looked_ms: self.looked.as_secs_f64() * 1e3,
            ..CpuCheck::default()
        }
    }
}

impl Check<'_> {
    /// Checks the clock and the CPUs. At most half of `time` goes on reading the clock, half on work.
    pub(super) fn cpus(
        &mut self,
        time: Duration,
    ) -> Result<(Option<ClockCheck>, Vec<CpuCheck>), CompareError> {
        (self.watch)("clock and CPUs");
        let cpus: Vec<usize> = available_cores().into_iter().take(MOST_CPUS).collect();
        let before = Clocks::read();
        let reading = READING.min(time / 2 / cpus.len().max(1) as u32);
        let mut readings = Vec::new();
        for &cpu in &cpus {
            self.go_on()?;
            readings.push(on(cpu, || read(cpu, reading))?);
        }
        let mut checks: Vec<CpuCheck> =
            cpus.iter().zip(&readings).map(|(&cpu, readings)| readings.check(cpu)).collect();
        let rounds = self.work(&cpus, time / 2)?;
        for (nth, check) in checks.iter_mut().enumerate() {
            let times: Vec<f64> = rounds.iter().map(|round| round[nth]).collect();
            let pairs: Vec<(f64, f64)> = rounds.iter().map(|round| (round[nth], round[0])).collect();
            check.rounds = rounds.len();
            check.scatter_percent = scatter_percent(&times);
            check.slower = sequential_ratio(&pairs, ALPHA).ok().filter(|_| nth > 0).map(|ratio| Ratio {
                estimate: ratio.estimate,
                low: Some(ratio.low),
                high: Some(ratio.high),
            });
        }
        let after = Clocks::read();
        let count: u64 = readings.iter().map(|of| of.count).sum();
        let looked: Duration = readings.iter().map(|of| of.looked).sum();
        let smallest = readings.iter().filter_map(|of| of.smallest_step).min();
        let clock = smallest.map(|smallest| ClockCheck {
            cost_ns: looked.as_nanos() as f64 / count.max(1) as f64,
            resolution_ns: smallest.as_nanos() as f64,
            realtime_ahead_us: (after.wall_ahead - before.wall_ahead) * 1e6,
            over_s: after.monotonic.saturating_sub(before.monotonic).as_secs_f64(),
        });
        Ok((clock, checks))
    }

    /// Does the same work on each CPU, in random order, round after round. Returns the seconds by round and then by
    /// CPU.
    fn work(&self, cpus: &[usize], time: Duration) -> Result<Vec<Vec<f64>>, CompareError> {
        let until = self.clock.now() + time;
        let mut random = ChaCha8Rng::seed_from_u64(self.asked.seed);
        let mut order: Vec<usize> = (0..cpus.len()).collect();
        let mut rounds = Vec::new();
        while rounds.len() < MOST_ROUNDS && (rounds.is_empty() || self.clock.now() < until) {
            self.go_on()?;
            order.shuffle(&mut random);
            let mut round = vec![0.0; cpus.len()];
            for &nth in &order {
                round[nth] = on(cpus[nth], || timed(STEPS))?.as_secs_f64();
            }
            rounds.push(round);
        }
        Ok(rounds)
    }
}

/// Does `work` in a thread that is pinned to this CPU. If it cannot be pinned it works all the same, and its looks
/// show that it is elsewhere.
fn on<T: Send>(cpu: usize, work: impl FnOnce() -> T + Send) -> Result<T, CompareError> {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _ = pin_thread(&[cpu]);
            work()
        });
        thread.join().map_err(|_| CompareError::Thread { cpu })
    })
}

fn read(cpu: usize, time: Duration) -> Readings {
    let mut readings = Readings::default();
    let mut last = Instant::now();
    while readings.looked < time {
        let now = Instant::now();
        readings.step(now.saturating_duration_since(last));
        last = now;
        if readings.count.is_multiple_of(LOOK_EVERY) {
            readings.look(cpu, sched_getcpu());
            last = Instant::now();
        }
    }
    readings
}

/// The median absolute difference between neighbouring times, in percent; `None` if there are fewer than two.
fn scatter_percent(times: &[f64]) -> Option<f64> {
    let differences: Vec<f64> =
        times.windows(2).map(|two| (two[1].ln() - two[0].ln()).abs() * 100.0).collect();
    median(&differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_takes_longer_than_reading() {
        let mut readings = Readings::default();
        for us in [0, 1, 2, 97] {
            readings.step(Duration::from_micros(us));
        }
        assert_eq!(readings.smallest_step, Some(Duration::from_micros(1)));
        let check = readings.check(3);
        assert_eq!((check.cpu, check.worst_gap_us, check.held_up_percent), (3, 97.0, 97.0));
    }

    #[test]
    fn a_thread_that_is_not_kept_is_seen_elsewhere() {
        let cpu = available_cores()[0];
        // A machine that stands still leaves no time to look.
        let looks = |wanted| {
            let mut tries = (0..1000).map(|_| on(cpu, || read(wanted, Duration::from_millis(5))).unwrap());
            tries.find(|readings| readings.looks > 10).unwrap()
        };
        let kept = looks(cpu);
        assert_eq!(kept.elsewhere, 0, "of {}", kept.looks);
        let strayed = looks(cpu + 1);
        assert_eq!(strayed.elsewhere, strayed.looks);
    }

    #[test]
    fn scatter_is_between_neighbours() {
        assert_eq!(scatter_percent(&[1.0, 1.0, 1.0]), Some(0.0));
        let scatter = scatter_percent(&[1.0, 1.01, 1.0, 1.01]).unwrap();
        assert!((scatter - 0.995).abs() < 1e-3, "{scatter}");
        assert_eq!(scatter_percent(&[1.0]), None);
    }
}
