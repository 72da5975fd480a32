//! Findings on the clock: the kernel's source of time, the cost and the grain of a reading, and how late a sleep
//! ends. All but the source are measured now.

use std::time::{Duration, Instant};

use kumite_record::{Finding, Fitness};

use crate::system::System;

const GROUP: &str = "clock";
const READING: Duration = Duration::from_millis(50);
const NAP: Duration = Duration::from_millis(1);
const NAPS: usize = 50;
/// The most that a reading of the clock may cost, in nanoseconds. Each request is stamped twice, and takes tens of
/// microseconds.
const COST_LIMIT_NS: f64 = 200.0;
const JUMP_LIMIT_US: f64 = 1000.0;
const OVERSHOOT_LIMIT_US: f64 = 1000.0;

/// The finding on the kernel's source of time.
pub(super) fn source(system: &System) -> Finding {
    let source: Option<String> =
        system.value("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    match source.as_deref() {
        None => Finding::unknown(GROUP, "source", "the kernel does not say where it has its time from"),
        Some(slow @ ("hpet" | "acpi_pm" | "jiffies" | "xen" | "pit")) => Finding::ok(GROUP, "source", slow)
            .but(
                Fitness::Limited,
                "each reading of the clock goes through the kernel and takes a microsecond or so",
                "boot with clocksource=tsc if the kernel log does not call it unstable",
            ),
        Some(source) => Finding::ok(GROUP, "source", source),
    }
}

/// The findings that need measuring: reads the clock for 50 ms, and sleeps 50 times for 1 ms.
pub(super) fn measured() -> Vec<Finding> {
    let began = Instant::now();
    let mut readings = Readings::default();
    while readings.last < READING.as_nanos() as u64 {
        readings.add(began.elapsed().as_nanos() as u64);
    }
    let naps = (0..NAPS).map(|_| {
        let began = Instant::now();
        std::thread::sleep(NAP);
        began.elapsed().saturating_sub(NAP).as_secs_f64() * 1e6
    });
    let naps = naps.collect();
    [readings.findings(), vec![sleep(naps)]].concat()
}

/// Statistics of a clock that is read over and over; all times are in nanoseconds.
#[derive(Default)]
struct Readings {
    count: u64,
    last: u64,
    smallest_step: Option<u64>,
    largest_step: u64,
}

impl Readings {
    fn add(&mut self, now: u64) {
        let step = now.saturating_sub(self.last);
        if self.count > 0 && step > 0 {
            self.smallest_step = Some(self.smallest_step.map_or(step, |smallest| smallest.min(step)));
            self.largest_step = self.largest_step.max(step);
        }
        self.last = self.last.max(now);
        self.count += 1;
    }

    fn findings(&self) -> Vec<Finding> {
        let cost = self.last as f64 / self.count.max(1) as f64;
        let smallest = self.smallest_step.unwrap_or_default();
        let found =
            format!("{cost:.0} ns each, measured now; the smallest step between two was {smallest} ns");
        let mut reading = Finding::ok(GROUP, "reading", found)
            .figure("cost_ns", cost)
            .figure("smallest_step_ns", smallest as f64);
        if cost > COST_LIMIT_NS {
            reading = reading.but(
                Fitness::Limited,
                "stamping requests takes a part of the load engine's time: it reaches its limit earlier",
                "see the clock's source; or end what else runs, if that took the time",
            );
        }
        let largest = self.largest_step as f64 / 1e3;
        let found =
            format!("{largest:.0} µs between two readings at most, in {} ms now", self.last / 1_000_000);
        let mut jumps = Finding::ok(GROUP, "jumps", found).figure("largest_us", largest);
        if largest > JUMP_LIMIT_US {
            jumps = jumps.but(
                Fitness::Limited,
                "a process or the hypervisor had the CPU for so long: single response times are that much too long",
                "end what else runs; see steal and load",
            );
        }
        vec![reading, jumps]
    }
}

/// The finding on sleeps of 1 ms, from how much longer each took, in microseconds.
fn sleep(mut overshoots: Vec<f64>) -> Finding {
    overshoots.sort_by(f64::total_cmp);
    let nearest = |quantile: f64| {
        let rank = (quantile * overshoots.len() as f64).ceil() as usize;
        overshoots.get(rank.saturating_sub(1)).copied()
    };
    let (Some(p50), Some(p99)) = (nearest(0.5), nearest(0.99)) else {
        return Finding::unknown(GROUP, "sleep", "not tried");
    };
    let count = overshoots.len();
    let found =
        format!("{count} sleeps of 1 ms overshot by {p50:.0} µs (p50) and {p99:.0} µs (p99), measured now");
    let found =
        Finding::ok(GROUP, "sleep", found).figure("overshoot_p50_us", p50).figure("overshoot_p99_us", p99);
    if p99 <= OVERSHOOT_LIMIT_US {
        return found;
    }
    found.but(
        Fitness::Limited,
        "what is to happen at a given instant happens late: waits in contenders are longer than they say",
        "end what else runs; see steal and load",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings_of(nanoseconds: &[u64]) -> Vec<Finding> {
        let mut readings = Readings::default();
        nanoseconds.iter().for_each(|now| readings.add(*now));
        readings.findings()
    }

    #[test]
    fn clock_readings_have_cost_and_steps_and_a_jump_is_limited() {
        let found = findings_of(&[100, 100, 150, 250, 400]);
        assert_eq!(found[0].figures["cost_ns"], 80.0);
        assert_eq!(found[0].figures["smallest_step_ns"], 50.0);
        assert_eq!(found[1].figures["largest_us"], 0.15);
        assert!(found.iter().all(|finding| finding.state == Fitness::Ok));
        let jumped = findings_of(&[100, 2_000_100]);
        assert_eq!(jumped[1].state, Fitness::Limited);
        assert_eq!(jumped[0].state, Fitness::Limited, "two readings in 2 ms are slow");
        assert_eq!(findings_of(&[]).len(), 2);
        assert_eq!(findings_of(&[5, 3])[1].figures["largest_us"], 0.0, "a clock that goes back");
    }

    #[test]
    fn sleeps_have_percentiles_and_a_late_one_is_limited() {
        let mut overshoots: Vec<f64> = (1..=100).map(f64::from).collect();
        overshoots.reverse();
        let found = sleep(overshoots);
        assert_eq!((found.figures["overshoot_p50_us"], found.figures["overshoot_p99_us"]), (50.0, 99.0));
        assert_eq!(sleep(vec![10.0, 1001.0]).state, Fitness::Limited);
        assert_eq!(sleep(Vec::new()).state, Fitness::Unknown);
    }

    #[test]
    fn a_slow_source_is_named() {
        let with = |source| {
            source_of(&[("sys/devices/system/clocksource/clocksource0/current_clocksource", source)])
        };
        assert_eq!(
            [with("tsc\n"), with("kvm-clock\n"), with("hpet\n")],
            [Fitness::Ok, Fitness::Ok, Fitness::Limited]
        );
    }

    fn source_of(files: &[(&str, &str)]) -> Fitness {
        source(&System::with(files)).state
    }
}
